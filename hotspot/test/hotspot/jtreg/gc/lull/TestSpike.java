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
 * @test id=spike
 * @requires vm.gc.Lull
 * @summary A heap that has just become empty does not grow, and shrinks while little is allocated in it; twice.
 * @library /
 * @run main/othervm -Xms16m -Xmx400m -XX:MaxHeapFreeRatio=40 -XX:GCTimeRatio=4 -XX:+UseLullGC gc.lull.TestSpike 0
 */

/*
 * @test id=oldGarbage
 * @requires vm.gc.Lull
 * @summary The same where young collections pay, during the spike and after it: these do not find that it is dead.
 * @library /
 * @run main/othervm -Xms16m -Xmx400m -XX:GCTimeRatio=4 -XX:+UseLullGC gc.lull.TestSpike 4
 */

public class TestSpike {
    static final int M = 1 << 20;
    static final int SPIKE = 150 * M;
    static final long PATIENCE = 60_000_000_000L;   // nanoseconds; what is collected for it is a share of the time
    static final long SMALL = 64 * M;

    // A cycle that has marked the spike before it was dropped finds it alive once more: MinHeapFreeRatio, 40, asks for so
    // much then, with what is young and what nobody can use.
    static final long MOST = SPIKE / 60 * 100 + SPIKE / 5;

    static volatile Object last;

    private static long committed() {
        return Runtime.getRuntime().totalMemory();
    }

    /** Published garbage; sixteen objects are alive at a time. */
    private static void garbage(Object[] latest, int bytes) {
        for (int i = 0; i < bytes / 1000; i++) {
            latest[i & 15] = last = new byte[1000 - 16];
        }
    }

    private static void spike(int garbagePerByte) {
        byte[][] spike = new byte[SPIKE / 10_000][];
        Object[] latest = new Object[16];
        last = spike;
        for (int i = 0; i < spike.length; i++) {
            spike[i] = new byte[10_000];
            garbage(latest, garbagePerByte * 10_000);
        }
        last = null;
    }

    /** Some hundred megabytes a second, until the heap is small again. */
    private static void trickle(long most) throws InterruptedException {
        Object[] latest = new Object[16];
        int megabytes = 0;
        long start = System.nanoTime();
        while (System.nanoTime() - start < PATIENCE && committed() > SMALL) {
            garbage(latest, M);
            megabytes++;
            if (committed() > most) {
                throw new AssertionError("the heap grew from " + most / M + "M to " + committed() / M
                                         + "M although next to nothing was alive");
            }
            Thread.sleep(5);
        }
        System.out.println("From " + most / M + "M to " + committed() / M + "M, " + megabytes + "M later");
        if (committed() > SMALL) {
            throw new AssertionError("The heap stays at " + committed() / M + "M");
        }
    }

    public static void main(String[] args) throws Exception {
        int garbagePerByte = Integer.parseInt(args[0]);
        for (int round = 0; round < 2; round++) {
            spike(garbagePerByte);
            if (committed() < SPIKE) {
                throw new AssertionError("the heap does not have the size for what was alive");
            }
            trickle(Math.max(committed(), MOST));
        }
    }
}
