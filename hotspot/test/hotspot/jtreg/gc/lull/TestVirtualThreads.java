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

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.continuations
 * @summary Virtual threads that are parked during collections find their stacks as they left them.
 * @library /
 * @run main/othervm -Xmx32m -XX:+UseLullGC gc.lull.TestVirtualThreads 10000 1000
 */

/*
 * @test id=noCompressedOops
 * @requires vm.gc.Lull & vm.continuations & vm.bits == "64"
 * @summary Virtual threads, with references of 64 bits.
 * @library /
 * @run main/othervm -Xmx48m -XX:+UseLullGC -XX:-UseCompressedOops gc.lull.TestVirtualThreads 4000 1000
 */

/*
 * @test id=compactHeaders
 * @requires vm.gc.Lull & vm.continuations & vm.bits == "64"
 * @summary Virtual threads, with headers of one word.
 * @library /
 * @run main/othervm -Xmx32m -XX:+UseLullGC -XX:+UseCompactObjectHeaders gc.lull.TestVirtualThreads 4000 1000
 */

/*
 * @test id=evacuationFailureALot
 * @requires vm.gc.Lull & vm.debug & vm.continuations
 * @summary Virtual threads whose stacks are moved, or not, by each collection.
 * @library /
 * @run main/othervm -Xmx48m -XX:+UseLullGC -XX:LullEvacuateALot=1 -XX:LullEvacuationFailureALot=3 gc.lull.TestVirtualThreads 4000 500
 */

/*
 * @test id=slideALot
 * @requires vm.gc.Lull & vm.debug & vm.continuations
 * @summary Virtual threads whose stacks slide with their blocks at each collection.
 * @library /
 * @run main/othervm -Xmx48m -XX:+UseLullGC -XX:LullSlideALot=1 gc.lull.TestVirtualThreads 4000 500
 */

public class TestVirtualThreads {
    private static final int PARKS = 3;

    private static final AtomicInteger parked = new AtomicInteger();
    private static final AtomicInteger done = new AtomicInteger();
    private static volatile int round;
    private static volatile Throwable failure;

    private static volatile Object sink;

    /** Leaves references in a number of frames, and looks after them when it has slept. */
    private static int descend(int depth, int number) {
        int[] mine = { number, depth };
        String name = depth % 2 == 0 ? "frame " + depth : null;
        int below;
        if (depth == 0) {
            for (int i = 1; i <= PARKS; i++) {
                parked.incrementAndGet();
                while (round < i) {
                    LockSupport.park();
                }
                sink = new byte[3000 + number % 1000];
            }
            below = 0;
        } else {
            below = descend(depth - 1, number + 1);
        }
        if (mine[0] != number || mine[1] != depth || (name != null && !name.equals("frame " + depth))) {
            throw new AssertionError("frame " + depth + " of virtual thread " + number + " holds " + mine[0] + ", " + mine[1] + ", " + name);
        }
        return below + 1;
    }

    private static void run(int number) {
        try {
            int depth = 1 + number % 12;
            int frames = descend(depth, number);
            if (frames != depth + 1) {
                throw new AssertionError(frames + " frames instead of " + (depth + 1));
            }
            done.incrementAndGet();
        } catch (Throwable t) {
            failure = t;
        }
    }

    private static void wave(Thread[] threads, int first) throws InterruptedException {
        round = 0;
        parked.set(0);
        done.set(0);
        for (int i = 0; i < threads.length; i++) {
            int number = first + i;
            threads[i] = Thread.ofVirtual().start(() -> run(number));
        }
        for (int i = 1; i <= PARKS; i++) {
            while (parked.get() < i * threads.length && failure == null) {
                Thread.sleep(1);
            }
            if (i == 1) {
                System.gc();
            }
            round = i;
            for (Thread thread : threads) {
                LockSupport.unpark(thread);
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure != null) {
            throw new AssertionError("a virtual thread has failed", failure);
        }
        if (done.get() != threads.length) {
            throw new AssertionError(done.get() + " virtual threads have done their work, of " + threads.length);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int count = Integer.parseInt(args[0]);
        Thread[] threads = new Thread[Integer.parseInt(args[1])];    // at a time
        for (int i = 0; i < count; i += threads.length) {
            wave(threads, i);
        }
        System.out.println(count + " virtual threads, " + GCBean.collections() + " collections");
    }
}
