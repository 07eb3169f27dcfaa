/*
 * Copyright (c) 2026, the Lull authors. All rights reserved.
 * DO NOT ALTER OR REMOVE COPYRIGHT NOTICES OR THIS FILE HEADER.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation.  The Lull authors designate
 * this particular file as subject to the "Classpath" exception as provided
 * in the LICENSE file that accompanied this code.
 *
 * This code is distributed in the hope that it will be useful, but WITHOUT
 * ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
 * FITNESS FOR A PARTICULAR PURPOSE.  See the GNU General Public License
 * version 2 for more details (a copy is included in the LICENSE file that
 * accompanied this code).
 *
 * You should have received a copy of the GNU General Public License version
 * 2 along with this work; if not, write to the Free Software Foundation,
 * Inc., 51 Franklin St, Fifth Floor, Boston, MA 02110-1301 USA.
 *
 */

package gc.lull.stress;

/*
 * @test
 * @key stress
 * @requires vm.gc.Lull & vm.bits == "64" & os.maxMemory > 12G
 * @summary A heap of 16 GB holds an array of 4 GB, one of 200 million references and many small objects, keeps
 *          them through collections, and gives the memory back.
 * @run main/othervm/timeout=600 -Xmx16g -Xms64m -XX:+UseLullGC gc.lull.stress.TestHugeHeap
 */

public class TestHugeHeap {
    private static final int LONGS = 1 << 29;               // 4 GB
    private static final int REFERENCES = 200_000_000;      // 800 MB
    private static final int NODES = 2_000_000;

    record Node(int number, Node next) {}

    // Touches one element in each 64 KB: the array is there, and the test ends some day.
    private static final int STEP = 8192;

    public static void main(String[] args) {
        long max = Runtime.getRuntime().maxMemory();
        if (max != 16L << 30) {
            throw new AssertionError("-Xmx16g is a heap of " + max + " bytes");
        }
        long[] longs = new long[LONGS];
        for (int i = 0; i < LONGS; i += STEP) {
            if (longs[i] != 0) {
                throw new AssertionError("a new array holds " + longs[i] + " at " + i);
            }
            longs[i] = ~(long) i;
        }
        longs[LONGS - 1] = 17;
        Object[] references = new Object[REFERENCES];
        Node nodes = null;
        for (int i = 0; i < NODES; i++) {
            nodes = new Node(i, nodes);
            if (i % 100 == 0) {
                references[REFERENCES - 1 - i * 10] = nodes;
            }
        }
        for (int round = 0; round < 3; round++) {
            System.gc();
            check(longs, references, nodes);
        }
        long with = Runtime.getRuntime().totalMemory();
        if (with < 5L << 30) {
            throw new AssertionError("5 GB of objects are alive in a heap of " + with + " bytes");
        }
        longs = null;
        references = null;
        nodes = null;
        System.gc();
        long without = Runtime.getRuntime().totalMemory();
        System.out.println("Heap: " + (with >> 20) + " MB with the arrays, " + (without >> 20) + " MB without");
        if (without > 256L << 20) {
            throw new AssertionError("nearly nothing is alive in a heap of " + without + " bytes");
        }
    }

    private static void check(long[] longs, Object[] references, Node nodes) {
        for (int i = 0; i < LONGS; i += STEP) {
            if (longs[i] != ~(long) i) {
                throw new AssertionError("longs[" + i + "] is " + longs[i]);
            }
        }
        if (longs[LONGS - 1] != 17) {
            throw new AssertionError("the last element is " + longs[LONGS - 1]);
        }
        int number = NODES;
        for (Node node = nodes; node != null; node = node.next()) {
            number--;
            if (node.number() != number) {
                throw new AssertionError("node " + node.number() + " instead of " + number);
            }
            if (number % 100 == 0 && references[REFERENCES - 1 - number * 10] != node) {
                throw new AssertionError("the reference to node " + number + " is lost");
            }
        }
        if (number != 0) {
            throw new AssertionError(number + " nodes are lost");
        }
    }
}
