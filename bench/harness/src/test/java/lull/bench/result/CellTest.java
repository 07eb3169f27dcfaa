// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class CellTest {
    private static final Setup G1 = setup("g1", "abc");
    private static final Setup LULL = setup("lull", "abc");

    private static Setup setup(String collector, String libjvm) {
        return new Setup("h2", "", collector, "25", libjvm, "", 64, 2, "", "", "");
    }

    private static Invocation invocation(Setup setup, int number, double wall, String failure) {
        return new Invocation(setup, number, number, "", 1, new FixedWork(wall, 1, 2 * wall, 3).metrics(), failure);
    }

    @Test
    void buildsAreNotMixed() {
        List<Cell> cells = Cell.of(List.of(LULL, G1), List.of(invocation(LULL, 1, 10, null), invocation(setup("lull", "def"), 1, 99, null),
                invocation(LULL, 2, 12, null)));
        assertEquals(List.of(LULL, G1), cells.stream().map(Cell::setup).toList());
        assertEquals(11, cells.getFirst().mean("work_wall_s").value());
        assertEquals("not run yet", cells.getLast().missing());
    }

    @Test
    void oneFailureMakesTheCellMissing() {
        Cell cell = new Cell(LULL, List.of(invocation(LULL, 1, 10, null), invocation(LULL, 2, 12, "OutOfMemoryError")));
        assertEquals("OutOfMemoryError", cell.missing());
        assertTrue(Double.isNaN(cell.mean("work_wall_s").value()));
        assertEquals(List.of(), cell.values("work_wall_s"));
    }

    @Test
    void overheadLeavesOutMissingCells() {
        Cell lull = new Cell(LULL, List.of(invocation(LULL, 1, 10, null)));
        Cell g1 = new Cell(G1, List.of(invocation(G1, 1, 5, null), invocation(G1, 2, 5, "crashed")));
        assertNull(lull.missing());
        LowerBoundOverhead wall = Cell.overhead(List.of(lull, g1), FixedWork::wallCost);
        assertEquals(9, wall.denominator());
        assertEquals(10 / 9.0, wall.of(lull.point()).value(), 1e-12);
        assertTrue(Double.isNaN(wall.of(g1.point()).value()));
        assertEquals(20 / 17.0, Cell.overhead(List.of(lull, g1), FixedWork::cpuCost).of(lull.point()).value(), 1e-12);
    }
}
