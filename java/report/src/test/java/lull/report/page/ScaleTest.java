// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class ScaleTest {
    @Test
    void linear() {
        Scale scale = Scale.linear(0, 60, 100, 400);
        assertEquals(100, scale.at(0));
        assertEquals(250, scale.at(30));
        assertEquals(400, scale.at(1000));
        assertEquals(List.of(0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0), scale.marks(6));
        assertEquals(1, Scale.linear(5, 5, 0, 1).at(6));
    }

    @Test
    void logarithmic() {
        Scale scale = Scale.log(3, 700, 0, 100);
        assertEquals(List.of(2.0, 5.0, 10.0, 20.0, 50.0, 100.0), Scale.log(3, 100, 0, 1).marks(4));
        assertEquals(0, scale.at(2));
        assertEquals(100, scale.at(1000), 1e-9);
        assertEquals(List.of(10.0, 100.0, 1000.0, 10_000.0), Scale.log(3, 10_000, 0, 1).marks(4));
        assertEquals(List.of(0.2, 0.5, 1.0), Scale.log(0.25, 0.9, 0, 1).marks(4));
        assertThrows(IllegalArgumentException.class, () -> Scale.log(0, 1, 0, 1));
    }

    @Test
    void labels() {
        assertEquals("0.05", Scale.label(0.05));
        assertEquals("10 000", Scale.label(10_000));
        assertEquals("99.9", Scale.label(99.9));
    }
}
