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

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryUsage;
import java.util.ArrayList;
import java.util.List;

/*
 * @test id=public
 * @requires vm.gc.Lull
 * @summary What circuit breakers look at: use, as the bean tells another thread, stays below 90 % of the largest heap where
 *          two fifths are alive.
 * @library /
 * @run main/othervm -Xms64m -Xmx64m -XX:+UseLullGC gc.lull.TestUseLimit public 40
 */

/*
 * @test id=private
 * @requires vm.gc.Lull
 * @summary The same with private garbage of several threads.
 * @library /
 * @run main/othervm -Xms64m -Xmx64m -XX:+UseLullGC gc.lull.TestUseLimit private 40
 */

/*
 * @test id=grown
 * @requires vm.gc.Lull
 * @summary The same in a heap that has to grow, with large objects.
 * @library /
 * @run main/othervm -Xms16m -Xmx64m -XX:+UseLullGC gc.lull.TestUseLimit large 60
 */

/*
 * @test id=full
 * @requires vm.gc.Lull
 * @summary Where more than that is alive nothing is different: collections have all of the heap.
 * @library /
 * @run main/othervm -Xms64m -Xmx64m -XX:+UseLullGC gc.lull.TestUseLimit full 86
 */

public class TestUseLimit {
    private static final int M = 1 << 20;
    private static final int THREADS = 3;
    private static final int GARBAGE = 500 * M;     // of each thread

    private static final MemoryMXBean BEAN = ManagementFactory.getMemoryMXBean();

    static volatile Object last;
    private static volatile boolean done;
    private static volatile double mostUsed;        // share of the largest heap

    private static double used() {
        MemoryUsage usage = BEAN.getHeapMemoryUsage();
        return (double) usage.getUsed() / usage.getMax();
    }

    private static void poll() {
        long polls = 0;
        while (!done) {
            mostUsed = Math.max(mostUsed, used());
            polls++;
        }
        if (polls < 1000) {
            throw new AssertionError("Looked " + polls + " times only");
        }
    }

    private static int sizeOf(String kind, int number) {
        return kind.equals("large") && number % 1000 == 0 ? M : 1000 - 16;
    }

    /** Of what is private a part survives each local collection, so that these come ever later. */
    private static void garbage(String kind) {
        byte[][] latest = new byte[kind.equals("private") ? 4096 : 8][];
        int number = 0;
        for (long sum = 0; sum < GARBAGE; number++) {
            byte[] object = new byte[sizeOf(kind, number)];
            latest[number % latest.length] = object;
            sum += object.length;
            if (!kind.equals("private")) {
                last = object;
            }
        }
    }

    private static Thread start(Runnable work, List<Throwable> failures) {
        Thread thread = new Thread(work);
        thread.setUncaughtExceptionHandler((t, failure) -> {
            synchronized (failures) {
                failures.add(failure);
            }
        });
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws Exception {
        String kind = args[0];
        long alive = Runtime.getRuntime().maxMemory() / 100 * Integer.parseInt(args[1]);
        List<byte[]> live = new ArrayList<>();
        while (BEAN.getHeapMemoryUsage().getUsed() < alive) {
            live.add(new byte[10_000]);
        }
        last = live;
        System.gc();
        double left = used();

        long before = GCBean.collections();
        List<Throwable> failures = new ArrayList<>();
        Thread poller = start(TestUseLimit::poll, failures);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            threads.add(start(() -> garbage(kind), failures));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        done = true;
        poller.join();
        long collections = GCBean.collections() - before;
        System.out.printf("%.1f %% alive; used at most %.1f %%; %d pauses%n", 100 * left, 100 * mostUsed, collections);
        if (!failures.isEmpty()) {
            throw new AssertionError(failures.get(0));
        }
        if (kind.equals("full")) {
            if (mostUsed < 0.91) {
                throw new AssertionError("Collections begin at " + mostUsed + " of the heap where " + left + " is alive");
            }
        } else if (mostUsed >= 0.9) {
            throw new AssertionError("Used " + mostUsed + " of the heap where " + left + " is alive");
        }
        if (live.isEmpty()) {
            throw new AssertionError();
        }
    }
}
