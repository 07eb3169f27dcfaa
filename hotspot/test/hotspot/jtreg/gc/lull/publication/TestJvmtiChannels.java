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

import java.nio.file.Files;
import java.nio.file.Path;

/*
 * @test id=interpreter
 * @requires vm.gc.Lull & vm.debug & vm.jvmti
 * @summary What a thread holds is public once an agent hands it to another one. Threads keep private objects although the
 *          agent may read and write local variables.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @compile -g TestJvmtiChannels.java
 * @run main/othervm/native -agentlib:LullJvmtiChannels -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI
 *                   -Xint -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:+LullLoadCheck
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestJvmtiChannels 15 50
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull & vm.debug & vm.jvmti
 * @summary The same in C1's code.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @compile -g TestJvmtiChannels.java
 * @run main/othervm/native -agentlib:LullJvmtiChannels -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI
 *                   -XX:TieredStopAtLevel=1 -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:+LullLoadCheck
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestJvmtiChannels 40 50
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull & vm.debug & vm.jvmti
 * @summary The same in C2's code, where a local may be an object that was never made.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @compile -g TestJvmtiChannels.java
 * @run main/othervm/native -agentlib:LullJvmtiChannels -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI
 *                   -XX:-TieredCompilation -XX:CompileThreshold=100 -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestJvmtiChannels 40 50
 */

/*
 * @test id=sampled
 * @requires vm.gc.Lull & vm.debug & vm.jvmti
 * @summary The same while the agent sees each new object before its constructor runs. Having lost one, the sender has no
 *          private objects until its mode changes.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @compile -g TestJvmtiChannels.java
 * @run main/othervm/native -agentlib:LullJvmtiChannels -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI
 *                   -XX:-BackgroundCompilation -Xlog:gc:file=sampled.log -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:+LullLoadCheck
 *                   -XX:LullFlipModeALot=1 gc.lull.publication.TestJvmtiChannels 100 10 sampled
 */

/*
 * @test id=collectALot
 * @requires vm.gc.Lull & vm.debug & vm.jvmti
 * @summary The same while objects move in local collections, wherever there may be one.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @compile -g TestJvmtiChannels.java
 * @run main/othervm/native -agentlib:LullJvmtiChannels -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI
 *                   -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullLocalCollectALot=2
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestJvmtiChannels 40 10
 */

/*
 * @test id=watched
 * @requires vm.gc.Lull & vm.debug & vm.jvmti
 * @summary What an agent is told of and does not keep stays private, and moves in local collections meanwhile.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @compile -g TestJvmtiChannels.java
 * @run main/othervm/native -agentlib:LullJvmtiChannels -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI
 *                   -Xlog:gc:file=sampled.log -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullLocalCollectALot=2
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestJvmtiChannels 0 0 watched
 */

public class TestJvmtiChannels {
    private static native Object getGlobal();
    private static native boolean isGlobal(Object object);
    private static native void setTag(Object object, long tag);
    private static native void tagInstances(Class<?> c, long tag);
    private static native Object[] tagged(Class<?> c, long tag);
    private static native Object getLocal(Thread thread, String method, int slot);
    private static native Object getReceiver(Thread thread, String method);
    private static native boolean setLocal(Thread thread, String method, int slot, Object value);
    private static native boolean returnEarly(Thread thread, String method, Object value);
    private static native void stop(Thread thread, Throwable exception);
    private static native Object ownedMonitor(Thread thread, Class<?> c);
    private static native void runAgentThread(Thread thread);
    private static native void sample(Thread thread, Class<?> c, int interval);
    private static native int sampleCount();

    private static final Relay RELAY = new Relay();

    // The sender waits in a frame that has the graph, or the receiver in one that is to get it.
    private static volatile int holding;
    private static volatile int taken;
    private static volatile int waiting;
    private static long spins;

    private static final class Holder {
        final Graph graph;
        final int number;

        Holder(Graph graph) {
            this.graph = graph;
            this.number = graph.number;
        }

        int hold(int number) {
            holding = number;
            while (taken != number) {
                spins++;
            }
            return this.number;
        }
    }

    // No calls: whoever stops the thread here finds it in this method.
    private static int hold(Graph graph, int number) {
        holding = number;
        while (taken != number) {
            spins++;
        }
        return graph.number;
    }

    /** The object that is asked for need not exist when it is. */
    private static int holdWrapped(Graph graph, int number) {
        Holder holder = new Holder(graph);
        holding = number;
        while (taken != number) {
            spins++;
        }
        return holder.number + holder.graph.number;
    }

    private static int holdLocked(Graph graph, int number) {
        synchronized (graph) {
            return hold(graph, number);
        }
    }

    private static Object awaitLocal(int number) {
        Object value = null;
        waiting = number;
        while (taken != number) {
            spins++;
        }
        return value;
    }

    private static Object awaitReturn(int number) {
        waiting = number;
        while (taken != number) {
            spins++;
        }
        return null;
    }

    private static final class Carrier extends Error {
        final Graph graph;

        Carrier(Graph graph) {
            this.graph = graph;
        }
    }

    private static Object awaitException(int number) {
        try {
            waiting = number;
            while (taken != number) {
                spins++;
            }
            return null;
        } catch (Carrier e) {
            Relay.checkPublic(e);
            return e.graph;
        }
    }

    private interface Holding { void hold(Graph graph, int number) throws Throwable; }
    private interface Taking { Object take(int number) throws Throwable; }

    /** The receiver takes the graph out of the sender's frame. */
    private static void taken(String name, Holding holding, Taking taking) {
        RELAY.channel(name, new Relay.Meeting() {
            public void send(Graph graph) throws Throwable { holding.hold(graph, graph.number); }

            public Object receive(int number) throws Throwable {
                while (TestJvmtiChannels.holding != number) {
                    Thread.yield();
                }
                try {
                    Object value = taking.take(number);
                    if (value == null) {
                        throw new AssertionError("nothing found");
                    }
                    Relay.check(value, number);     // while the sender may still change it
                    return value;
                } finally {
                    taken = number;
                }
            }
        });
    }

    private interface Giving { void give(Graph graph) throws Throwable; }

    /** The sender puts the graph into the receiver's frame. */
    private static void given(String name, Giving giving, Taking awaiting) {
        RELAY.channel(name, new Relay.Meeting() {
            public void send(Graph graph) throws Throwable {
                while (waiting != graph.number) {
                    Thread.yield();
                }
                giving.give(graph);
            }

            public Object receive(int number) throws Throwable {
                Object value = awaiting.take(number);
                if (value == null) {
                    throw new AssertionError("nothing received");
                }
                return value;
            }
        });
    }

    private static Object number(Object[] graphs, int number) {
        for (Object graph : graphs) {
            if (((Graph) graph).number == number) {
                return graph;
            }
        }
        throw new AssertionError("not among " + graphs.length + " objects with the tag");
    }

    private static void tags() {
        RELAY.channel("SetTag", new Relay.Channel() {
            public void send(Graph graph) { setTag(graph, graph.number); }
            public Object receive(int number) { return number(tagged(Graph.class, number), number); }
        });
        taken("tag of IterateThroughHeap", TestJvmtiChannels::hold, number -> {
            tagInstances(Graph.class, number);
            return number(tagged(Graph.class, number), number);
        });
    }

    private static void locals() {
        taken("GetLocalObject", TestJvmtiChannels::hold, number -> getLocal(RELAY.sender, "hold", 0));
        taken("GetLocalObject of what was not made", TestJvmtiChannels::holdWrapped, number -> {
            Holder holder = (Holder) getLocal(RELAY.sender, "holdWrapped", 2);
            Relay.checkPublic(holder);
            return holder.graph;
        });
        taken("GetLocalInstance", (graph, number) -> new Holder(graph).hold(number), number -> {
            Holder holder = (Holder) getReceiver(RELAY.sender, "hold");
            Relay.checkPublic(holder);
            return holder.graph;
        });
        taken("GetOwnedMonitorInfo", TestJvmtiChannels::holdLocked, number -> ownedMonitor(RELAY.sender, Graph.class));
        given("SetLocalObject", graph -> {
            while (!setLocal(RELAY.receiver, "awaitLocal", 1, graph)) {
                Thread.yield();
            }
            taken = graph.number;
        }, TestJvmtiChannels::awaitLocal);
        given("ForceEarlyReturnObject", graph -> {
            while (!returnEarly(RELAY.receiver, "awaitReturn", graph)) {
                Thread.yield();
            }
        }, TestJvmtiChannels::awaitReturn);
    }

    private static class CarrierThread extends Thread {
        final Graph graph;

        CarrierThread(Graph graph) {
            this.graph = graph;
        }
    }

    private static void threads() {
        given("StopThread", graph -> stop(RELAY.receiver, new Carrier(graph)), TestJvmtiChannels::awaitException);
        RELAY.channel("RunAgentThread", new Relay.Channel() {
            public void send(Graph graph) throws Exception {
                Thread thread = new CarrierThread(graph);
                runAgentThread(thread);
                thread.join();
            }
            public Object receive(int number) { return getGlobal(); }
        });
    }

    private static final class Sampled {
        Graph graph;

        Sampled(Graph graph) {
            this.graph = graph;
        }
    }

    /** The agent has each Sampled before its constructor runs. */
    private static void samples() {
        RELAY.channel("SampledObjectAlloc", new Relay.Channel() {
            private boolean enabled;

            public void send(Graph graph) {
                if (!enabled) {
                    sample(Thread.currentThread(), Sampled.class, 100 * 1024);
                    enabled = true;
                }
                Sampled sampled;
                do {
                    sampled = new Sampled(graph);
                } while (!isGlobal(sampled));
                // Until it has private objects again, perhaps.
                for (int i = graph.number % 97 * 10; i >= 0; i--) {
                    new Graph[100].clone();
                }
            }

            public Object receive(int number) { return ((Sampled) getGlobal()).graph; }
        });
    }

    private record Link(Link next, int number) {}

    /** Nothing is sampled in the buffer that the thread has when an agent asks for it: so with every collector. */
    private static void awaitFirstSample() {
        for (int megabytes = 0; sampleCount() == 0; megabytes++) {
            if (megabytes == 64) {
                throw new AssertionError("64 MB were allocated, and the agent was told of nothing");
            }
            for (int i = 0; i < 16; i++) {
                spins += new byte[64 * 1024].length;
            }
        }
    }

    /** Of each object that is allocated the agent gets an event, and allocates in it. */
    private static void watched() throws Exception {
        sample(Thread.currentThread(), Sampled.class, 0);
        awaitFirstSample();
        int before = sampleCount();
        for (int round = 0; round < 20; round++) {
            Link last = null;
            for (int i = 0; i < 1000; i++) {
                last = new Link(last, i);
                if (Relay.isPublic(last)) {
                    throw new AssertionError("object " + i + " of round " + round + " is public");
                }
            }
            int number = 1000;
            for (Link link = last; link != null; link = link.next) {
                if (link.number != --number) {
                    throw new AssertionError("number " + link.number + " where " + number + " was");
                }
            }
        }
        if (sampleCount() - before < 20_000) {
            throw new AssertionError("the agent was told of " + (sampleCount() - before) + " objects");
        }
        checkTold(0);
    }

    private static void checkTold(long expected) throws Exception {
        long told = Files.lines(Path.of("sampled.log")).filter(line -> line.contains("An agent keeps new objects")).count();
        if (told != expected) {
            throw new AssertionError("the log says " + told + " times that an agent keeps new objects");
        }
    }

    public static void main(String[] args) throws Throwable {
        System.loadLibrary("LullJvmtiChannels");
        String what = args.length > 2 ? args[2] : "";
        if (what.equals("watched")) {
            watched();
            return;
        }
        if (what.equals("sampled")) {
            samples();
        } else {
            tags();
            locals();
            threads();
        }
        RELAY.run(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
        if (what.equals("sampled")) {
            checkTold(1);
        }
    }
}
