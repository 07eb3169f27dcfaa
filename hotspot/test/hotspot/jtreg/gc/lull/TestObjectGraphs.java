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
 * @summary Graphs of objects that threads change at random agree with a model, through many collections.
 * @library /
 * @run main/othervm -Xmx16m -XX:+UseLullGC gc.lull.TestObjectGraphs 4 100
 */

/*
 * @test id=interpreter
 * @requires vm.gc.Lull
 * @summary Graphs of objects, changed by the interpreter.
 * @library /
 * @run main/othervm -Xmx16m -XX:+UseLullGC -Xint gc.lull.TestObjectGraphs 2 20
 */

/*
 * @test id=C1
 * @requires vm.gc.Lull & vm.compiler1.enabled
 * @summary Graphs of objects, changed by code of C1.
 * @library /
 * @run main/othervm -Xmx16m -XX:+UseLullGC -XX:TieredStopAtLevel=1 gc.lull.TestObjectGraphs 3 50
 */

/*
 * @test id=C2
 * @requires vm.gc.Lull & vm.compiler2.enabled
 * @summary Graphs of objects, changed by code of C2.
 * @library /
 * @run main/othervm -Xmx16m -XX:+UseLullGC -XX:-TieredCompilation gc.lull.TestObjectGraphs 3 50
 */

/*
 * @test id=noCompressedOops
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary Graphs of objects, with references of 64 bits.
 * @library /
 * @run main/othervm -Xmx24m -XX:+UseLullGC -XX:-UseCompressedOops gc.lull.TestObjectGraphs 3 50
 */

/*
 * @test id=compactHeaders
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary Graphs of objects, with headers of one word.
 * @library /
 * @run main/othervm -Xmx16m -XX:+UseLullGC -XX:+UseCompactObjectHeaders gc.lull.TestObjectGraphs 3 50
 */

/*
 * @test id=fourWorkers
 * @requires vm.gc.Lull & vm.debug
 * @summary Graphs of objects, marked and moved by more threads than there are processors.
 * @library /
 * @run main/othervm -Xmx16m -XX:+UseLullGC -XX:ParallelGCThreads=4 -XX:-UseDynamicNumberOfGCThreads
 *                   -XX:+UnlockExperimentalVMOptions -XX:LullFragmentationTriggerPercent=0 gc.lull.TestObjectGraphs 4 50
 */

/*
 * @test id=evacuateALot
 * @requires vm.gc.Lull & vm.debug
 * @summary Graphs of objects, of which each collection moves all it can.
 * @library /
 * @run main/othervm -Xmx24m -XX:+UseLullGC -XX:LullEvacuateALot=1 -XX:ParallelGCThreads=4 gc.lull.TestObjectGraphs 4 50
 */

/*
 * @test id=evacuationFailureALot
 * @requires vm.gc.Lull & vm.debug
 * @summary Graphs of objects, of which each collection moves some.
 * @library /
 * @run main/othervm -Xmx24m -XX:+UseLullGC -XX:-LullYoungCollections -XX:LullEvacuateALot=1 -XX:LullEvacuationFailureALot=3
 *                   -XX:ParallelGCThreads=4 -XX:-UseDynamicNumberOfGCThreads gc.lull.TestObjectGraphs 4 50
 */

/*
 * @test id=evacuationFailureALotCompactHeaders
 * @requires vm.gc.Lull & vm.debug & vm.bits == "64"
 * @summary Graphs of objects with headers of one word, of which each collection moves some.
 * @library /
 * @run main/othervm -Xmx24m -XX:+UseLullGC -XX:+UseCompactObjectHeaders -XX:LullEvacuateALot=1 -XX:LullEvacuationFailureALot=3
 *                   -XX:ParallelGCThreads=4 -XX:-UseDynamicNumberOfGCThreads gc.lull.TestObjectGraphs 4 50
 */

/*
 * @test id=slideALot
 * @requires vm.gc.Lull & vm.debug
 * @summary Graphs of objects, of which each second collection slides all blocks, and each third evacuates all.
 * @library /
 * @run main/othervm -Xmx24m -XX:+UseLullGC -XX:LullSlideALot=2 -XX:LullEvacuateALot=3 -XX:ParallelGCThreads=4
 *                   gc.lull.TestObjectGraphs 4 50
 */

/*
 * @test id=slideALotC2
 * @requires vm.gc.Lull & vm.debug & vm.compiler2.enabled
 * @summary Graphs of objects, changed by code of C2, which holds derived pointers and constants that slide.
 * @library /
 * @run main/othervm -Xmx24m -XX:+UseLullGC -XX:-LullYoungCollections -XX:LullSlideALot=1 -XX:-TieredCompilation gc.lull.TestObjectGraphs 3 50
 */

/*
 * @test id=slideALotWide
 * @requires vm.gc.Lull & vm.debug & vm.bits == "64"
 * @summary Graphs of objects with references of 64 bits and headers of one word, which slide.
 * @library /
 * @run main/othervm -Xmx32m -XX:+UseLullGC -XX:LullSlideALot=1 -XX:-UseCompressedOops -XX:+UseCompactObjectHeaders
 *                   gc.lull.TestObjectGraphs 3 50
 */

/*
 * @test id=young
 * @requires vm.gc.Lull & vm.debug
 * @summary Graphs of objects that threads in public mode make, where young collections move what is new.
 * @library /
 * @run main/othervm -Xmx24m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPublic -XX:+LullYoungALot
 *                   -XX:ParallelGCThreads=4 -XX:-UseDynamicNumberOfGCThreads gc.lull.TestObjectGraphs 4 50
 */

/*
 * @test id=youngSuspended
 * @requires vm.gc.Lull & vm.debug
 * @summary The same while tracking is suspended, in one collection of two: what is new has words of 0 then.
 * @library /
 * @run main/othervm -Xmx24m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullSuspendALot=20 -XX:+LullYoungALot
 *                   -XX:ParallelGCThreads=4 -XX:-UseDynamicNumberOfGCThreads gc.lull.TestObjectGraphs 4 50
 */

/*
 * @test id=youngC2
 * @requires vm.gc.Lull & vm.debug & vm.compiler2.enabled
 * @summary The same, changed by code of C2, which holds derived pointers to what moves, with some objects that cannot be moved.
 * @library /
 * @run main/othervm -Xmx24m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPublic -XX:+LullYoungALot
 *                   -XX:LullEvacuationFailureALot=50 -XX:-TieredCompilation gc.lull.TestObjectGraphs 3 50
 */

/*
 * @test id=youngWide
 * @requires vm.gc.Lull & vm.debug & vm.bits == "64"
 * @summary The same with references of 64 bits and headers of one word.
 * @library /
 * @run main/othervm -Xmx32m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPublic -XX:+LullYoungALot
 *                   -XX:-UseCompressedOops -XX:+UseCompactObjectHeaders gc.lull.TestObjectGraphs 3 50
 */

public class TestObjectGraphs {
    private static final int NODES = 300;
    private static final int EDGES = 4;
    private static final int STEPS_PER_CHECK = 2000;

    static final class Node {
        final int      id;
        final byte[]   payload;
        final int      number;      // of the payload
        final Node[]   out = new Node[EDGES];
        int            hash;        // the identity hash code, or 0 if nobody has asked for it

        Node(int id, int number, int size) {
            this.id = id;
            this.number = number;
            this.payload = Data.bytes(size, number);
        }
    }

    private static volatile byte[] garbage;

    /** A graph, and a model of it that has no references. */
    static final class Graph {
        private final Random  random;
        private final Node[]  nodes = new Node[NODES];
        private final int[]   numbers = new int[NODES];
        private final int[][] edges = new int[NODES][EDGES];

        Graph(long seed) {
            random = new Random(seed);
            for (int i = 0; i < NODES; i++) {
                nodes[i] = newNode(i);
            }
            for (int i = 0; i < NODES; i++) {
                for (int k = 0; k < EDGES; k++) {
                    setEdge(i, k, random.nextInt(NODES));
                }
            }
        }

        private Node newNode(int id) {
            int size = switch (random.nextInt(100)) {
                case 0  -> 20_000;                      // a large object
                case 1  -> random.nextInt(6000);
                default -> random.nextInt(600);
            };
            numbers[id] = random.nextInt();
            Node node = new Node(id, numbers[id], size);
            if (random.nextBoolean()) {
                node.hash = System.identityHashCode(node);
            }
            return node;
        }

        private void setEdge(int from, int k, int to) {
            edges[from][k] = to;
            nodes[from].out[k] = nodes[to];
        }

        private void replace(int id) {
            nodes[id] = newNode(id);
            for (int i = 0; i < NODES; i++) {
                for (int k = 0; k < EDGES; k++) {
                    if (edges[i][k] == id || i == id) {
                        nodes[i].out[k] = nodes[edges[i][k]];
                    }
                }
            }
        }

        void step() {
            int id = random.nextInt(NODES);
            if (random.nextInt(20) == 0) {
                replace(id);
            } else {
                setEdge(id, random.nextInt(EDGES), random.nextInt(NODES));
                garbage = new byte[random.nextInt(4000)];
            }
            if (nodes[id].hash == 0 && random.nextInt(50) == 0) {
                nodes[id].hash = System.identityHashCode(nodes[id]);
            }
        }

        void check() {
            for (int i = 0; i < NODES; i++) {
                Node node = nodes[i];
                if (node.id != i || node.number != numbers[i]) {
                    throw new AssertionError("node " + i + " is node " + node.id);
                }
                if (node.hash != 0 && node.hash != System.identityHashCode(node)) {
                    throw new AssertionError("node " + i + " had another identity hash code");
                }
                Data.check(node.payload, node.number);
                for (int k = 0; k < EDGES; k++) {
                    if (node.out[k] != nodes[edges[i][k]]) {
                        throw new AssertionError("edge " + k + " of node " + i + " leads to " + node.out[k].id +
                                                 " instead of " + edges[i][k]);
                    }
                }
            }
        }
    }

    private static volatile boolean stop;
    private static volatile Throwable failure;

    private static void run(long seed) {
        try {
            Graph graph = new Graph(seed);
            while (!stop) {
                for (int i = 0; i < STEPS_PER_CHECK && !stop; i++) {
                    graph.step();
                }
                graph.check();
            }
        } catch (Throwable t) {
            failure = t;
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int collections = Integer.parseInt(args[1]);
        Random random = Data.random();
        long before = GCBean.collections();
        Thread[] workers = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            long seed = random.nextLong();
            workers[i] = new Thread(() -> run(seed));
            workers[i].start();
        }
        while (GCBean.collections() - before < collections && failure == null) {
            Thread.sleep(10);
        }
        stop = true;
        for (Thread worker : workers) {
            worker.join();
        }
        if (failure != null) {
            throw new AssertionError("a graph is damaged", failure);
        }
        System.out.println((GCBean.collections() - before) + " collections");
    }
}
