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

package gc.lull.publication;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.jvmti
 * @summary An agent that walks the heap makes the objects that C2's code has not made, from the frames of threads that go on in the VM.
 *          What such a thread holds neither moves nor is lost.
 * @library /
 * @run main/othervm/native -agentlib:LullHeapWalks -XX:-TieredCompilation -Xbatch -XX:CompileCommand=dontinline,*TestHeapWalks::block
 *                   -Xmx64m -XX:+UseLullGC gc.lull.publication.TestHeapWalks 150
 */

/*
 * @test id=localCollectALot
 * @requires vm.gc.Lull & vm.debug & vm.jvmti
 * @summary The same while threads collect as often as they can.
 * @library /
 * @run main/othervm/native -agentlib:LullHeapWalks -XX:-TieredCompilation -Xbatch -XX:CompileCommand=dontinline,*TestHeapWalks::block
 *                   -Xmx64m -XX:+UseLullGC -XX:LullLocalCollectALot=1
 *                   gc.lull.publication.TestHeapWalks 60
 */

/*
 * @test id=compactHeaders
 * @requires vm.gc.Lull & vm.debug & vm.jvmti
 * @summary The same with compact headers, where the size of an object that has moved is not to be had from it.
 * @library /
 * @run main/othervm/native -agentlib:LullHeapWalks -XX:-TieredCompilation -Xbatch -XX:CompileCommand=dontinline,*TestHeapWalks::block
 *                   -Xmx64m -XX:+UseLullGC -XX:LullLocalCollectALot=1 -XX:+UseCompactObjectHeaders
 *                   gc.lull.publication.TestHeapWalks 60
 */

/*
 * @test id=flipModeALot
 * @requires vm.gc.Lull & vm.debug & vm.jvmti
 * @summary The same while threads change between private and public mode at each refill.
 * @library /
 * @run main/othervm/native -agentlib:LullHeapWalks -XX:-TieredCompilation -Xbatch -XX:CompileCommand=dontinline,*TestHeapWalks::block
 *                   -Xmx64m -XX:+UseLullGC -XX:LullLocalCollectALot=1 -XX:LullFlipModeALot=1
 *                   gc.lull.publication.TestHeapWalks 60
 */

public class TestHeapWalks {
    private static final int WORKERS = 2;
    private static final int WARM_UP = 2_000;
    private static final int DEPTH = 100;

    private static volatile boolean stop;
    private static final AtomicLong rounds = new AtomicLong();
    private static volatile Throwable failure;

    /** How many objects there are; looks at each of them. */
    private static native long walk();

    private static final class Node {
        final int number;
        final int[] twice;

        Node(int number) {
            this.number = number;
            this.twice = new int[] {number, number};
        }
    }

    private static final class Pair {
        final Node first;
        final Node second;

        Pair(Node first, Node second) {
            this.first = first;
            this.second = second;
        }
    }

    private static void check(Node node, int number) {
        if (node.number != number || node.twice.length != 2 || node.twice[0] != number || node.twice[1] != number) {
            throw new AssertionError("number " + number + " has become " + node.number);
        }
    }

    // Waits for a VM operation, and then allocates in the VM.
    private static int block(boolean really) {
        return really ? Thread.getAllStackTraces().size() : 1;
    }

    // Compiled, it makes no Pair. The agent needs a while for all that many frames have not made.
    private static int round(int number, int depth, boolean really) {
        Pair pair = new Pair(new Node(number), new Node(number + 1));
        int threads = depth > 0 ? round(number + 2, depth - 1, really) : block(really);
        check(pair.first, number);
        check(pair.second, number + 1);
        return threads;
    }

    private static void work() {
        try {
            for (int i = 0; i < WARM_UP; i++) {
                round(i, DEPTH, false);
            }
            for (int i = 0; !stop; i++) {
                if (round(i, DEPTH, true) < WORKERS) {
                    throw new AssertionError("there are more threads");
                }
                rounds.incrementAndGet();
            }
        } catch (Throwable t) {
            failure = t;
            stop = true;
        }
    }

    public static void main(String[] args) throws Exception {
        System.loadLibrary("LullHeapWalks");
        int walks = Integer.parseInt(args[0]);
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            Thread worker = new Thread(TestHeapWalks::work, "worker " + i);
            worker.start();
            workers.add(worker);
        }
        long objects = 0;
        for (int done = 0; done < walks && !stop; done++) {
            long before = rounds.get();
            objects += walk();
            // Each walk meets workers somewhere else.
            while (rounds.get() < before + WORKERS && !stop) {
                Thread.onSpinWait();
            }
        }
        stop = true;
        for (Thread worker : workers) {
            worker.join();
        }
        if (failure != null) {
            throw new AssertionError("after " + rounds + " rounds", failure);
        }
        if (objects == 0) {
            throw new AssertionError("no walk has met an object");
        }
        System.out.println(walks + " walks, " + objects + " objects, " + rounds + " rounds");
    }
}
