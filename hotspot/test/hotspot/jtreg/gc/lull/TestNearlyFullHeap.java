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
 * @test
 * @requires vm.gc.Lull
 * @summary Of what the heap has beside the VM's own 90 percent are alive all the time, in small objects that die at random and whose holes are all
 *          smaller than a line. Evacuation finds no room for what it would move; when all slides together, there is room for what is asked for.
 * @library /
 * @run main/othervm -Xms8m -Xmx8m -XX:+UseLullGC gc.lull.TestNearlyFullHeap
 * @run main/othervm -Xms8m -Xmx8m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullYoungCollections -XX:-LullTracking
 *                   gc.lull.TestNearlyFullHeap
 * @run main/othervm -Xms8m -Xmx8m -XX:+UseLullGC -XX:-UseCompressedOops -XX:+UseCompactObjectHeaders -XX:ParallelGCThreads=4
 *                   -XX:-UseDynamicNumberOfGCThreads gc.lull.TestNearlyFullHeap
 */

public class TestNearlyFullHeap {
    private static final int MAX_LENGTH = 200;
    private static final int REPLACED = 150_000;
    private static final int ENTRY = 12;     // of the two arrays, at most

    static volatile Object sink;

    // What an array of so many bytes takes at most.
    private static int size(int length) {
        return (16 + length + 7) / 8 * 8;
    }

    public static void main(String[] args) {
        Random random = Data.random();
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        long room = (runtime.maxMemory() - (runtime.totalMemory() - runtime.freeMemory())) * 90 / 100;
        int count = (int) (room / (size(MAX_LENGTH / 2) + ENTRY));
        System.out.println(count + " objects, " + room / 1024 + "K");
        Object[] objects = new Object[count];
        int[] seeds = new int[count];
        for (int i = 0; i < count + REPLACED; i++) {
            int index = i < count ? i : random.nextInt(count);
            if (objects[index] != null) {
                Data.check(objects[index], seeds[index]);
            }
            objects[index] = null;
            seeds[index] = i;
            objects[index] = Data.bytes(random.nextInt(MAX_LENGTH), i);
            if (i % 1000 == 0) {
                sink = null;
                sink = Data.bytes(random.nextInt(100_000), i);
            }
        }
        for (int i = 0; i < count; i++) {
            Data.check(objects[i], seeds[i]);
        }
    }
}
