// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import static org.junit.jupiter.api.Assertions.assertEquals;

import lull.bench.result.LowerBoundOverhead.Cost;
import org.junit.jupiter.api.Test;

class FixedWorkTest {
    @Test
    void costsAreKeptByName() {
        FixedWork work = new FixedWork(10, 1, 15, 4);
        Setup setup = new Setup("s", "", "g1", "25", "abc", "", 64, 2, "", "", "");
        FixedWork read = FixedWork.of(new Invocation(setup, 1, 1, "", 20, work.metrics(), null));
        assertEquals(work, read);
        assertEquals(new Cost(10, 1), read.wallCost());
        assertEquals(new Cost(15, 4), read.cpuCost());
    }
}
