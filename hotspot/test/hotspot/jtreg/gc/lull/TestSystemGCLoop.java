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
 * @summary Several threads call System.gc() all the time, and others find their objects as they left them.
 * @library /
 * @run main/othervm -Xmx48m -XX:+UseLullGC gc.lull.TestSystemGCLoop 30
 */

/*
 * @test id=disabled
 * @requires vm.gc.Lull
 * @summary With -XX:+DisableExplicitGC System.gc() does nothing.
 * @library /
 * @run main/othervm -Xmx256m -XX:+UseLullGC -XX:+DisableExplicitGC gc.lull.TestSystemGCLoop 0
 */

public class TestSystemGCLoop {
    private static final int COLLECTORS = 2;
    private static final int MUTATORS = 2;

    private static volatile boolean stop;
    private static volatile Throwable failure;

    private static void mutate(long seed) {
        Random random = new Random(seed);
        byte[][] arrays = new byte[1000][];
        try {
            while (!stop) {
                int which = random.nextInt(arrays.length);
                if (arrays[which] != null) {
                    Data.check(arrays[which], which);
                }
                arrays[which] = Data.bytes(random.nextInt(5000), which);
            }
            for (int i = 0; i < arrays.length; i++) {
                if (arrays[i] != null) {
                    Data.check(arrays[i], i);
                }
            }
        } catch (Throwable t) {
            failure = t;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int loops = Integer.parseInt(args[0]);      // 0: System.gc() is disabled
        if (loops == 0) {
            long before = GCBean.collections();
            for (int i = 0; i < 5; i++) {
                System.gc();
            }
            if (GCBean.collections() != before) {
                throw new AssertionError("System.gc() has collected");
            }
            return;
        }

        Random random = Data.random();
        Thread[] mutators = new Thread[MUTATORS];
        for (int i = 0; i < MUTATORS; i++) {
            long seed = random.nextLong();
            mutators[i] = new Thread(() -> mutate(seed));
            mutators[i].start();
        }
        Thread[] collectors = new Thread[COLLECTORS];
        for (int i = 0; i < COLLECTORS; i++) {
            collectors[i] = new Thread(() -> {
                for (int k = 0; k < loops && failure == null; k++) {
                    long before = GCBean.collections();
                    System.gc();
                    if (GCBean.collections() == before) {
                        failure = new AssertionError("System.gc() has returned without a collection");
                    }
                }
            });
            collectors[i].start();
        }
        for (Thread collector : collectors) {
            collector.join();
        }
        stop = true;
        for (Thread mutator : mutators) {
            mutator.join();
        }
        if (failure != null) {
            throw new AssertionError("a thread has failed", failure);
        }
    }
}
