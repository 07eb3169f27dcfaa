// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.BitSet;
import org.junit.jupiter.api.Test;

class OrderTest {
    @Test
    void everyRoundHasEveryInputOnce() {
        for (int size : new int[] {1, 2, 3, 7, 150, 288}) {
            Order order = new Order(size, 42);
            for (int round = 0; round < 20; round++) {
                BitSet seen = new BitSet();
                for (int i = 0; i < size; i++) {
                    int input = order.input((long) round * size + i);
                    assertFalse(seen.get(input));
                    seen.set(input);
                }
                assertEquals(size, seen.cardinality());
            }
        }
    }

    @Test
    void roundsAndSeedsDiffer() {
        Order order = new Order(288, 1);
        assertNotEquals(order.input(0) + " " + order.input(1), order.input(288) + " " + order.input(289));
        Order other = new Order(288, 2);
        assertNotEquals(order.input(0) + " " + order.input(1), other.input(0) + " " + other.input(1));
        assertThrows(IllegalArgumentException.class, () -> new Order(0, 1));
    }
}
