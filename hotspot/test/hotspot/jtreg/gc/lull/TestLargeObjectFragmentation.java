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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/*
 * @test id=sliding
 * @requires vm.gc.Lull
 * @summary A large array is allocated although large arrays that live are spread all over the heap.
 * @library /
 * @run main/othervm -Xmx96m -XX:+UseLullGC gc.lull.TestLargeObjectFragmentation
 */

/*
 * @test id=workers
 * @requires vm.gc.Lull
 * @summary The same with more workers than processors and references of 64 bits.
 * @library /
 * @run main/othervm -Xmx96m -XX:+UseLullGC -XX:ParallelGCThreads=4 -XX:-UseDynamicNumberOfGCThreads -XX:-UseCompressedOops
 *                   gc.lull.TestLargeObjectFragmentation
 */

/*
 * @test id=growing
 * @requires vm.gc.Lull
 * @summary The same when the heap grows to its full size on the way.
 * @library /
 * @run main/othervm -Xms8m -Xmx96m -XX:+UseLullGC gc.lull.TestLargeObjectFragmentation
 */

public class TestLargeObjectFragmentation {
    private static final int LARGE = 120_000;   // four blocks
    private static final int ROUNDS = 3;

    private static Object make(int kind, int number) {
        return switch (kind) {
            case 0 -> Data.bytes(LARGE, number);
            case 1 -> Data.longs(LARGE / 8, number);
            default -> Data.references(LARGE / 8, number);
        };
    }

    // Fills the heap with large objects and some small ones, then lets three of four go.
    private static List<Object> fragment(long room, Random random) {
        List<Object> objects = new ArrayList<>();
        List<Object> kept = new ArrayList<>();
        int count = (int) (room * 80 / 100 / (LARGE + 16 * 1024));
        for (int i = 0; i < count; i++) {
            objects.add(make(i % 3, i));
            if (i % 8 == 0) {
                kept.add(Data.bytes(random.nextInt(400), i));
            }
        }
        for (int i = 0; i < count; i++) {
            if (i % 4 != 0) {
                objects.set(i, null);
            }
        }
        objects.add(kept);
        return objects;
    }

    @SuppressWarnings("unchecked")
    private static void check(List<Object> objects, int[] hashes) {
        int count = objects.size() - 1;
        for (int i = 0; i < count; i += 4) {
            Data.check(objects.get(i), i);
            if (System.identityHashCode(objects.get(i)) != hashes[i]) {
                throw new AssertionError("object " + i + " has another identity hash code");
            }
        }
        List<Object> small = (List<Object>) objects.get(count);
        for (int i = 0; i < small.size(); i++) {
            Data.check(small.get(i), 8 * i);
        }
    }

    public static void main(String[] args) {
        Random random = Data.random();
        Runtime runtime = Runtime.getRuntime();
        for (int round = 0; round < ROUNDS; round++) {
            System.gc();
            long room = runtime.maxMemory() - (runtime.totalMemory() - runtime.freeMemory());
            List<Object> objects = fragment(room, random);
            int[] hashes = new int[objects.size()];
            Arrays.setAll(hashes, i -> System.identityHashCode(objects.get(i)));

            // A quarter of four fifths of the room is in use, in pieces; half of the room is asked for in one.
            int half = (int) (room / 2);
            System.out.println("Round " + round + ": " + objects.size() + " objects, now to allocate " + half / 1024 + "K");
            byte[] large = Data.bytes(half, -1);
            Data.check(large, -1);
            check(objects, hashes);
        }
    }
}
