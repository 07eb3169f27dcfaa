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

package gc.lull;

import java.util.Random;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary Large arrays are allocated, dropped and replaced at random, and hold their contents.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC gc.lull.TestLargeObjects
 */

/*
 * @test id=noCompressedOops
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary Large arrays with references of 64 bits.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:-UseCompressedOops -XX:ParallelGCThreads=4 gc.lull.TestLargeObjects
 */

/*
 * @test id=slideALot
 * @requires vm.gc.Lull & vm.debug
 * @summary Large objects that slide together at each second collection.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:LullSlideALot=2 gc.lull.TestLargeObjects
 */

public class TestLargeObjects {
    private static final int STEPS = 1500;
    private static final int SLOTS = 24;
    private static final int SMALLEST = 16 * 1024;          // just not large
    private static final int LIMIT = 28 << 20;              // of what is kept

    public static void main(String[] args) {
        Random random = Data.random();
        Object[] arrays = new Object[SLOTS];
        int[] numbers = new int[SLOTS];
        int[] sizes = new int[SLOTS];
        long before = GCBean.collections();
        long kept = 0;

        for (int step = 0; step < STEPS; step++) {
            int slot = random.nextInt(SLOTS);
            if (arrays[slot] != null) {
                Data.check(arrays[slot], numbers[slot]);
                arrays[slot] = null;
                kept -= sizes[slot];
            }
            // From 16 KB to 4 MB, each order of magnitude as often as the next.
            int bytes = SMALLEST << random.nextInt(8);
            bytes += random.nextInt(bytes);
            if (kept + bytes > LIMIT || random.nextInt(8) == 0) {
                continue;
            }
            numbers[slot] = random.nextInt();
            sizes[slot] = bytes;
            kept += bytes;
            if (bytes > 64 * 1024 || random.nextBoolean()) {
                arrays[slot] = Data.bytes(bytes, numbers[slot]);
            } else if (random.nextBoolean()) {
                arrays[slot] = Data.longs(bytes / 8, numbers[slot]);
            } else {
                arrays[slot] = Data.references(bytes / 8, numbers[slot]);
            }
        }
        for (int slot = 0; slot < SLOTS; slot++) {
            if (arrays[slot] != null) {
                Data.check(arrays[slot], numbers[slot]);
            }
        }
        long collections = GCBean.collections() - before;
        System.out.println(collections + " collections");
        if (collections < 5) {
            throw new AssertionError("only " + collections + " collections: the test has shown little");
        }
    }
}
