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

/*
 * @test id=sparse
 * @requires vm.gc.Lull
 * @summary An array of half of the free memory is allocated although nearly every block holds a small object.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC gc.lull.TestLargeObjectInFragmentedHeap 200 150
 */

/*
 * @test id=even
 * @requires vm.gc.Lull
 * @summary The same when a quarter of every block is in use.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC gc.lull.TestLargeObjectInFragmentedHeap 1000 4
 */

/*
 * @test id=medium
 * @requires vm.gc.Lull
 * @summary The same when nearly every block holds one or two objects of 7 KB.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC gc.lull.TestLargeObjectInFragmentedHeap 7000 3
 */

/*
 * @test id=half
 * @requires vm.gc.Lull
 * @summary The same when half of every block is in use, by objects of half a block.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC gc.lull.TestLargeObjectInFragmentedHeap 16200 2
 */

public class TestLargeObjectInFragmentedHeap {
    private static final int LINE = 256;

    public static void main(String[] args) {
        int size = Integer.parseInt(args[0]);      // of a small object
        int kept = Integer.parseInt(args[1]);      // one of so many is kept
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        long used = runtime.totalMemory() - runtime.freeMemory();
        long room = runtime.maxMemory() - used;

        // Objects that follow each other in memory, nearly as many as fit.
        byte[][] objects = new byte[(int) (room * 85 / 100 / (size + 16))][];
        for (int i = 0; i < objects.length; i++) {
            objects[i] = Data.bytes(size, i);
        }
        int survivors = 0;
        for (int i = 0; i < objects.length; i++) {
            if (i % kept == 0) {
                survivors++;
            } else {
                objects[i] = null;
            }
        }
        // An object may use one line more than its size.
        long live = (long) survivors * (size + 16 + LINE) + 8L * objects.length;
        int half = (int) ((room - live) / 2);
        System.out.println("Maximum " + runtime.maxMemory() / 1024 + "K, used at first " + used / 1024 + "K, " +
                           survivors + " survivors of " + size + " bytes; now to allocate " + half / 1024 + "K");
        byte[] large = Data.bytes(half, -1);

        Data.check(large, -1);
        for (int i = 0; i < objects.length; i += kept) {
            Data.check(objects[i], i);
        }
    }
}
