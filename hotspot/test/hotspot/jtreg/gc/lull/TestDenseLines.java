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
 * @summary Blocks are three quarters full, in too many small pieces for what is allocated: while collections are costly they are packed all the
 *          same, by and by, as far as the reserve goes.
 * @library /
 * @modules java.management
 * @run main/othervm -Xms28m -Xmx28m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullYoungCollections -XX:GCTimeRatio=99 gc.lull.TestDenseLines
 */

public class TestDenseLines {
    private static final int OBJECTS = 100_000;             // of 200 bytes
    // Of that 15 MB stay alive, with what the JDK has 16; without packing they stay in lines of 20.
    private static final long MOST = 19_000_000;
    private static final int ALLOCATIONS = 1_000_000;

    static Object[] live = new Object[OBJECTS];
    static volatile Object sink;

    public static void main(String[] args) {
        Random random = Data.random();
        for (int i = 0; i < OBJECTS; i++) {
            live[i] = new byte[184];
        }
        for (int i = 0; i < OBJECTS; i++) {
            if (random.nextInt(4) == 0) {
                live[i] = null;
            }
        }
        long used = Long.MAX_VALUE;
        int allocated = 0;
        while (allocated < ALLOCATIONS && (used > MOST || GCBean.collections() == 0)) {
            for (int i = 0; i < 10_000; i++) {
                sink = new byte[1500];
            }
            allocated += 10_000;
            used = GCBean.usedAfterCollection();
        }
        System.out.println((used >> 10) + " KB in use after " + GCBean.collections() + " collections, " + allocated + " allocations");
        if (used > MOST) {
            throw new AssertionError(used + " bytes of the heap are in use, at most " + MOST + " are expected");
        }
    }
}
