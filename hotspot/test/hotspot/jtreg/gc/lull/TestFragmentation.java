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
import java.util.List;
import java.util.Random;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary When nine of ten small objects are dropped all over the heap, their memory serves medium objects again.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC gc.lull.TestFragmentation 80
 */

/*
 * @test id=noCompressedOops
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary Medium objects in a fragmented heap, with references of 64 bits and without TLABs.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:-UseCompressedOops -XX:-UseTLAB gc.lull.TestFragmentation 80
 */

/*
 * @test id=evacuateALot
 * @requires vm.gc.Lull & vm.debug
 * @summary The objects of a fragmented heap keep their contents when each collection moves all it can, and has no room for it.
 * @library /
 * @run main/othervm -Xmx32m -XX:+UseLullGC -XX:LullEvacuateALot=1 gc.lull.TestFragmentation 0 88
 */

/*
 * @test id=evacuationFailureALot
 * @requires vm.gc.Lull & vm.debug
 * @summary The objects of a fragmented heap keep their contents when some can be moved and some cannot.
 * @library /
 * @run main/othervm -Xmx32m -XX:+UseLullGC -XX:LullEvacuateALot=1 -XX:LullEvacuationFailureALot=3
 *                   -XX:ParallelGCThreads=4 -XX:-UseDynamicNumberOfGCThreads gc.lull.TestFragmentation 0 88
 */

public class TestFragmentation {
    private static final int SMALL = 100;

    private static final List<byte[]> medium = new ArrayList<>(1 << 16);

    public static void main(String[] args) {
        int percent = Integer.parseInt(args[0]);     // of the heap to be used; 0: as much as there is, ...
        int least = args.length > 1 ? Integer.parseInt(args[1]) : percent;   // ... which must be so much. It was 99 %
        Random random = Data.random();
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        long used = runtime.totalMemory() - runtime.freeMemory();
        long room = runtime.maxMemory() - used;

        byte[][] small = new byte[(int) (room * 85 / 100 / (SMALL + 20))][];
        for (int i = 0; i < small.length; i++) {
            small[i] = Data.bytes(SMALL, i);
        }
        long live = used + 8L * small.length;
        for (int i = 0; i < small.length; i++) {
            if (i % 10 == 0) {
                live += SMALL + 20;
            } else {
                small[i] = null;
            }
        }

        // Now 1 to 12 KB a time.
        long limit = percent == 0 ? Long.MAX_VALUE : runtime.maxMemory() * percent / 100;
        try {
            while (live < limit) {
                int size = 1024 + random.nextInt(11 * 1024);
                medium.add(Data.bytes(size, size));
                live += size + 16;
            }
        } catch (OutOfMemoryError e) {
            long reached = live * 100 / runtime.maxMemory();
            int count = medium.size();
            check(small);
            // To print needs more room than a heap may have in which hardly anything can move.
            small = null;
            medium.clear();
            System.out.println("Full at " + reached + "% with " + count + " medium objects");
            if (percent > 0 || reached < least) {
                throw e;
            }
            return;
        }
        check(small);
        System.out.println("Filled to " + percent + "% with " + medium.size() + " medium objects");
    }

    private static void check(byte[][] small) {
        for (int i = 0; i < small.length; i += 10) {
            Data.check(small[i], i);
        }
        for (byte[] array : medium) {
            Data.check(array, array.length);
        }
    }
}
