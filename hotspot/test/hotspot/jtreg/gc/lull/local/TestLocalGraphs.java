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


package gc.lull.local;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import gc.lull.GCBean;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary Objects that threads build, change, publish and drop agree with a model while each thread collects its own.
 * @library /
 * @run main/othervm -Xmx64m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestLocalGraphs 8 3 1 0
 */

/*
 * @test id=interpreter
 * @requires vm.gc.Lull & vm.debug
 * @summary The same in the interpreter, with a local collection at nearly each slow allocation.
 * @library /
 * @run main/othervm -Xint -Xmx64m -XX:LullLocalCollectALot=3
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestLocalGraphs 8 2 100 0
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull & vm.debug
 * @summary The same in code of C1.
 * @library /
 * @run main/othervm -XX:TieredStopAtLevel=1 -Xmx64m -XX:LullLocalCollectALot=2
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestLocalGraphs 8 3 100 0
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull & vm.debug
 * @summary The same in code of C2, in an order of its own each time.
 * @library /
 * @run main/othervm -XX:-TieredCompilation -XX:CompileThreshold=500 -Xmx64m -XX:LullLocalCollectALot=2
 *                   -XX:+UnlockDiagnosticVMOptions -XX:+StressLCM -XX:+StressGCM -XX:+StressIGVN -XX:+StressCCP
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestLocalGraphs 12 3 100 0
 */

/*
 * @test id=tiered
 * @requires vm.gc.Lull & vm.debug
 * @summary The same in all tiers, with a local collection at each slow allocation.
 * @library /
 * @run main/othervm -Xmx64m -XX:LullLocalCollectALot=1
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestLocalGraphs 10 3 100 0
 */

/*
 * @test id=inPlace
 * @requires vm.gc.Lull & vm.debug
 * @summary Each second object cannot be copied.
 * @library /
 * @run main/othervm -Xmx64m -XX:LullLocalCollectALot=2 -XX:LullEvacuationFailureALot=2
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestLocalGraphs 8 3 100 0
 */

/*
 * @test id=tenure
 * @requires vm.gc.Lull & vm.debug
 * @summary What survives is made public each time.
 * @library /
 * @run main/othervm -Xmx64m -XX:LullLocalCollectALot=2
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   -XX:LullTenureSize=0
 *                   gc.lull.local.TestLocalGraphs 8 3 100 0
 */

/*
 * @test id=flip
 * @requires vm.gc.Lull & vm.debug
 * @summary Threads change between private and public mode.
 * @library /
 * @run main/othervm -Xmx64m -XX:LullLocalCollectALot=2 -XX:LullFlipModeALot=5
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestLocalGraphs 8 3 100 0
 */

/*
 * @test id=suspend
 * @requires vm.gc.Lull & vm.debug
 * @summary Tracking is suspended and resumed, between collections of all kinds.
 * @library /
 * @run main/othervm -Xmx24m -XX:LullLocalCollectALot=200 -XX:LullSuspendALot=2
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestLocalGraphs 8 3 100 5
 */

/*
 * @test id=suspendAndMove
 * @requires vm.gc.Lull & vm.debug
 * @summary The same in code of C2, where global collections move everything.
 * @library /
 * @run main/othervm -XX:-TieredCompilation -XX:CompileThreshold=500 -Xmx24m -XX:LullLocalCollectALot=200 -XX:LullSuspendALot=3
 *                   -XX:LullEvacuateALot=1 -XX:LullSlideALot=5
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestLocalGraphs 8 3 100 7
 */

/*
 * @test id=global
 * @requires vm.gc.Lull & vm.debug
 * @summary With many global collections, which move everything.
 * @library /
 * @run main/othervm -Xmx24m -XX:LullLocalCollectALot=200 -XX:LullEvacuateALot=1 -XX:LullSlideALot=3
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestLocalGraphs 8 3 100 3
 */

/*
 * @test id=protected
 * @requires vm.gc.Lull & vm.debug
 * @summary Nobody can touch blocks that were freed, with many local collections ...
 * @library /
 * @run main/othervm -Xmx64m -XX:LullLocalCollectALot=2 -XX:+LullProtectFree
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestLocalGraphs 8 3 100 0
 */

/*
 * @test id=protectedGlobal
 * @requires vm.gc.Lull & vm.debug
 * @summary ... and global ones, in which everything moves.
 * @library /
 * @run main/othervm -Xmx24m -XX:LullLocalCollectALot=200 -XX:LullEvacuateALot=1 -XX:LullSlideALot=3 -XX:+LullProtectFree
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestLocalGraphs 8 3 100 3
 */

/*
 * @test id=compactHeaders
 * @requires vm.gc.Lull & vm.debug
 * @summary With headers of one word.
 * @library /
 * @run main/othervm -Xmx64m -XX:LullLocalCollectALot=2 -XX:+UseCompactObjectHeaders
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestLocalGraphs 8 3 100 0
 */

/*
 * @test id=noCompressedOops
 * @requires vm.gc.Lull & vm.debug
 * @summary With references of 64 bits.
 * @library /
 * @run main/othervm -Xmx64m -XX:LullLocalCollectALot=2 -XX:-UseCompressedOops
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestLocalGraphs 8 3 100 0
 */

/*
 * Threads build, change, publish, drop and walk objects of all shapes while they collect them themselves. What each thread has
 * agrees with a model in arrays of numbers; what it publishes carries a checksum that the receiver computes again.
 *
 *   TestLocalGraphs SECONDS THREADS LOCAL STOPPED [SEED]
 *
 * There must be so many local collections, and so many that stop all threads, or little was tested.
 * The seed of a failure is printed with it.
 */

public class TestLocalGraphs {

    static final int NODES = 200;          // of a thread's graph
    static final int EDGES = 3;
    static final long MORE_NANOS = 120_000_000_000L;

    static final AtomicReferenceArray<Parcel> mailbox = new AtomicReferenceArray<>(16);
    static final AtomicLong operations = new AtomicLong();
    static final AtomicLong received = new AtomicLong();
    static volatile Throwable failure;

    static long enoughLocal;     // by the beans
    static long enoughStopped;

    static final class Node {
        final long id;
        Node a, b, c;
        Object payload;

        Node(long id) {
            this.id = id;
        }

        Node edge(int i) {
            return i == 0 ? a : i == 1 ? b : c;
        }

        void setEdge(int i, Node to) {
            switch (i) {
                case 0 -> a = to;
                case 1 -> b = to;
                default -> c = to;
            }
        }
    }

    // A graph that changes hands.
    record Parcel(Node root, long checksum) {}

    static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    /** A slow machine has some more time for the collections that there must be. */
    static boolean isOver(long deadline) {
        long late = System.nanoTime() - deadline;
        return late >= 0 && (late >= MORE_NANOS || GCBean.localCollections() >= enoughLocal && GCBean.collections() >= enoughStopped);
    }

    static final class Worker extends Thread {
        final long seed;
        final long deadline;
        final Random random;

        // The model: of each node its id (0: none), the ids of its successors by node number, its payload's kind and seed.
        final long[] ids = new long[NODES];
        final int[][] edges = new int[NODES][EDGES];
        final int[] payloadKind = new int[NODES];
        final int[] payloadSeed = new int[NODES];
        final int[] hash = new int[NODES];
        long nextId = 1;

        Worker(long seed, long deadline) {
            this.seed = seed;
            this.deadline = deadline;
            this.random = new Random(seed);
        }

        @Override
        public void run() {
            try {
                while (failure == null && !isOver(deadline)) {
                    episode();
                }
            } catch (Throwable t) {
                failure = t;
                System.out.println("thread with seed " + seed + " failed");
                t.printStackTrace(System.out);
            }
        }

        // The graph is in local variables only, so that all of it is private until it is published.
        void episode() {
            Node[] nodes = new Node[NODES];
            java.util.Arrays.fill(ids, 0);
            int steps = 200 + random.nextInt(800);
            for (int i = 0; i < steps; i++) {
                step(nodes);
                operations.incrementAndGet();
            }
            verify(nodes);
        }

        void step(Node[] nodes) {
            int n = random.nextInt(NODES);
            switch (random.nextInt(16)) {
                case 0, 1, 2, 3 -> create(nodes, n);
                case 4, 5 -> {
                    int e = random.nextInt(EDGES);
                    int to = random.nextInt(NODES);
                    if (ids[n] != 0 && ids[to] != 0) {
                        nodes[n].setEdge(e, nodes[to]);
                        edges[n][e] = to + 1;
                    }
                }
                case 6 -> drop(nodes, n);
                case 7 -> publish(nodes, n);
                case 8 -> receive();
                case 9 -> check(recurse(random.nextInt(60), new Node(7)) == 7, "a node in a deep frame");
                case 10 -> locked(nodes, n);
                case 11 -> weak();
                case 12 -> arrays();
                case 13 -> check(concat(n).equals("n" + n + "/" + (n + 1)), "strings");
                case 14 -> thrown(n);
                default -> garbage(random.nextInt(200));
            }
        }

        void create(Node[] nodes, int n) {
            drop(nodes, n);
            Node node = new Node(nextId);
            ids[n] = nextId++;
            payloadKind[n] = random.nextInt(6);
            payloadSeed[n] = random.nextInt();
            node.payload = payload(payloadKind[n], payloadSeed[n]);
            hash[n] = random.nextInt(3) == 0 ? System.identityHashCode(node) : 0;
            nodes[n] = node;
            for (int e = 0; e < EDGES; e++) {
                int to = random.nextInt(NODES);
                if (ids[to] != 0 && to != n) {
                    node.setEdge(e, nodes[to]);
                    edges[n][e] = to + 1;
                } else {
                    edges[n][e] = 0;
                }
            }
        }

        // The node leaves the graph: no other refers to it either.
        void drop(Node[] nodes, int n) {
            if (ids[n] == 0) {
                return;
            }
            for (int i = 0; i < NODES; i++) {
                for (int e = 0; ids[i] != 0 && e < EDGES; e++) {
                    if (edges[i][e] == n + 1) {
                        nodes[i].setEdge(e, null);
                        edges[i][e] = 0;
                    }
                }
            }
            nodes[n] = null;
            ids[n] = 0;
        }

        void publish(Node[] nodes, int n) {
            if (ids[n] != 0) {
                // A copy of what it leads to, as others must not see it change.
                Node copy = copyOf(nodes[n], 3);
                mailbox.set(random.nextInt(mailbox.length()), new Parcel(copy, checksum(copy, 3)));
            }
        }

        void receive() {
            Parcel parcel = mailbox.get(random.nextInt(mailbox.length()));
            if (parcel != null) {
                check(checksum(parcel.root(), 3) == parcel.checksum(), "the checksum of what another thread has published");
                received.incrementAndGet();
            }
        }

        void locked(Node[] nodes, int n) {
            if (ids[n] == 0) {
                return;
            }
            Node node = nodes[n];
            synchronized (node) {
                garbage(50);
                synchronized (nodes) {
                    garbage(50);
                    check(Thread.holdsLock(node) && Thread.holdsLock(nodes), "locks are held");
                    check(node.id == ids[n], "the object that is locked");
                }
            }
            check(!Thread.holdsLock(node), "the lock is free");
        }

        void weak() {
            Node node = new Node(11);
            WeakReference<Node> reference = new WeakReference<>(node);
            garbage(100);
            check(reference.get() == node, "a weak reference to what is reachable");
            java.lang.ref.Reference.reachabilityFence(node);
        }

        // Loops over arrays, with addresses into them in registers while others are allocated.
        void arrays() {
            int length = 1 + random.nextInt(random.nextInt(10) == 0 ? 20_000 : 300);
            Object[] objects = new Object[length];
            int[] numbers = new int[length];
            for (int i = 0; i < length; i++) {
                objects[i] = i % 16 == 0 ? new int[] {i} : objects[i & ~15];
                numbers[i] = ((int[]) objects[i])[0] + i;
            }
            Object[] copy = objects.clone();
            System.arraycopy(objects, 0, copy, length / 2, length - length / 2);
            for (int i = 0; i < length; i++) {
                check(numbers[i] == (i & ~15) + i, "an array of numbers");
                check(copy[i] == objects[i < length / 2 ? i : i - length / 2], "a copied array");
            }
        }

        String concat(int n) {
            return "n" + n + "/" + (n + 1);
        }

        void thrown(int n) {
            try {
                garbage(20);
                throw new IllegalStateException("thrown " + n, new RuntimeException("cause"));
            } catch (IllegalStateException e) {
                garbage(20);
                check(e.getMessage().equals("thrown " + n) && e.getCause().getMessage().equals("cause"), "an exception");
                check(e.getStackTrace().length > 1, "its stack trace");
            }
        }

        long recurse(int depth, Node node) {
            Node mine = new Node(depth);
            garbage(3);
            long result = depth == 0 ? node.id : recurse(depth - 1, node);
            check(mine.id == depth, "an object in a frame");
            return result;
        }

        int garbage(int count) {
            int sum = 0;
            ArrayList<Object> list = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                list.add(i % 3 == 0 ? new long[i] : Integer.valueOf(1000 + i));
                sum += list.size();
            }
            return sum;
        }

        Object payload(int kind, int seed) {
            return switch (kind) {
                case 0 -> null;
                case 1 -> Integer.valueOf(seed);
                case 2 -> "payload " + seed;
                case 3 -> fill(new int[(seed >>> 4) % 100], seed);
                case 4 -> fill(new int[(seed >>> 4) % 3000], seed);      // medium
                default -> (seed & 15) == 0 ? fill(new int[10_000], seed) : new Object[] {"in an array " + seed, new int[] {seed}};
            };
        }

        static int[] fill(int[] array, int seed) {
            for (int i = 0; i < array.length; i++) {
                array[i] = seed + i;
            }
            return array;
        }

        boolean isPayload(Object payload, int kind, int seed) {
            if (kind == 0) {
                return payload == null;
            }
            Object expected = payload(kind, seed);
            if (expected instanceof int[] numbers) {
                return java.util.Arrays.equals(numbers, (int[]) payload);
            }
            if (expected instanceof Object[] objects) {
                return java.util.Arrays.deepEquals(objects, (Object[]) payload);
            }
            return expected.equals(payload);
        }

        void verify(Node[] nodes) {
            for (int n = 0; n < NODES; n++) {
                if (ids[n] == 0) {
                    check(nodes[n] == null, "a dropped node");
                    continue;
                }
                Node node = nodes[n];
                check(node.id == ids[n], "the id of node " + n);
                for (int e = 0; e < EDGES; e++) {
                    check(node.edge(e) == (edges[n][e] == 0 ? null : nodes[edges[n][e] - 1]), "edge " + e + " of node " + n);
                }
                check(isPayload(node.payload, payloadKind[n], payloadSeed[n]), "the payload of node " + n);
                check(hash[n] == 0 || hash[n] == System.identityHashCode(node), "the identity hash of node " + n);
            }
        }

        static Node copyOf(Node node, int depth) {
            if (node == null || depth == 0) {
                return null;
            }
            Node copy = new Node(node.id);
            copy.a = copyOf(node.a, depth - 1);
            copy.b = copyOf(node.b, depth - 1);
            copy.c = copyOf(node.c, depth - 1);
            copy.payload = node.payload instanceof int[] numbers ? numbers.clone() : node.payload;
            return copy;
        }

        static long checksum(Node node, int depth) {
            if (node == null || depth == 0) {
                return 1;
            }
            long sum = node.id * 31 + checksum(node.a, depth - 1);
            sum = sum * 31 + checksum(node.b, depth - 1);
            sum = sum * 31 + checksum(node.c, depth - 1);
            Object payload = node.payload;
            if (payload instanceof int[] numbers) {
                sum = sum * 31 + java.util.Arrays.hashCode(numbers);
            } else if (payload instanceof Object[] objects) {
                sum = sum * 31 + objects[0].hashCode() + ((int[]) objects[1])[0];
            } else if (payload != null) {
                sum = sum * 31 + payload.hashCode();
            }
            return sum;
        }
    }

    public static void main(String[] args) throws Exception {
        int seconds = Integer.parseInt(args[0]);
        int threads = Integer.parseInt(args[1]);
        long seed = args.length > 4 ? Long.parseLong(args[4]) : new Random().nextInt(1_000_000);
        System.out.println("seed " + seed);
        long local = GCBean.localCollections();
        long stopped = GCBean.collections();
        enoughLocal = local + Long.parseLong(args[2]);
        enoughStopped = stopped + Long.parseLong(args[3]);
        long deadline = System.nanoTime() + seconds * 1_000_000_000L;
        Worker[] workers = new Worker[threads];
        for (int i = 0; i < threads; i++) {
            workers[i] = new Worker(seed * 1000 + i, deadline);
            workers[i].start();
        }
        for (Worker worker : workers) {
            worker.join();
        }
        local = GCBean.localCollections() - local;
        stopped = GCBean.collections() - stopped;
        System.out.println(operations + " operations, " + received + " parcels received, " + local + " local collections, " + stopped + " others");
        if (failure != null) {
            throw new Error("seed " + seed, failure);
        }
        check(operations.get() > 0 && received.get() > 0, "work was done");
        check(GCBean.localCollections() >= enoughLocal, "threads have collected, " + local + " times");
        check(GCBean.collections() >= enoughStopped, "there were collections of all threads, " + stopped);
    }
}
