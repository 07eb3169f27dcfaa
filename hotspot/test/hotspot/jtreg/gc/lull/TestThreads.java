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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/*
 * @test id=alive
 * @requires vm.gc.Lull
 * @summary Five hundred threads can allocate at the same time in a heap of 64 MB.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC gc.lull.TestThreads alive 500
 */

/*
 * @test id=shortLived
 * @requires vm.gc.Lull
 * @summary The memory of threads that have ended is used by others.
 * @library /
 * @run main/othervm -Xmx32m -XX:+UseLullGC gc.lull.TestThreads shortLived 3000
 */

public class TestThreads {
    private static final int M = 1 << 20;

    private static final AtomicInteger done = new AtomicInteger();
    private static volatile Throwable failure;

    private static void start(Thread[] threads, int i, Runnable task) {
        threads[i] = new Thread(() -> {
            try {
                task.run();
                done.incrementAndGet();
            } catch (Throwable t) {
                failure = t;
            }
        });
        threads[i].start();
    }

    private static void work(int number, CountDownLatch together, int rounds) {
        byte[][] mine = new byte[20][];
        if (together != null) {
            together.countDown();
            try {
                together.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        Random random = new Random(number);
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < mine.length; i++) {
                mine[i] = Data.bytes(random.nextInt(1000), number + i);
            }
            Thread.yield();
            for (int i = 0; i < mine.length; i++) {
                Data.check(mine[i], number + i);
            }
        }
    }

    private static void join(Thread[] threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void checkDone(int expected) {
        if (failure != null) {
            throw new AssertionError("a thread has failed", failure);
        }
        if (done.get() != expected) {
            throw new AssertionError(done.get() + " threads have done their work, of " + expected);
        }
    }

    private static long used() {
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private static void alive(int count) throws InterruptedException {
        Thread[] threads = new Thread[count];
        CountDownLatch together = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            int number = i * 100;
            start(threads, i, () -> work(number, together, 20));
        }
        join(threads);
        checkDone(count);
    }

    private static void shortLived(int count) throws InterruptedException {
        Thread[] threads = new Thread[10];
        System.gc();
        long before = used();
        for (int i = 0; i < count; i += threads.length) {
            for (int k = 0; k < threads.length; k++) {
                int number = i + k;
                start(threads, k, () -> work(number, null, 1));
            }
            join(threads);
        }
        checkDone(count / threads.length * threads.length);
        System.gc();
        long after = used();
        System.out.println("In use before: " + before / 1024 + "K, after: " + after / 1024 + "K");
        if (after > before + 2 * M) {
            throw new AssertionError((after - before) + " bytes were lost by threads that have ended");
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int count = Integer.parseInt(args[1]);
        switch (args[0]) {
            case "alive"      -> alive(count);
            case "shortLived" -> shortLived(count);
            default           -> throw new IllegalArgumentException(args[0]);
        }
    }
}
