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

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Exchanger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import jdk.internal.misc.Unsafe;

/*
 * @test id=interpreter
 * @requires vm.gc.Lull & vm.debug
 * @summary What one thread builds and publishes, by every channel there is, is public for another one as a whole. Each load
 *          is checked, and the whole heap at each collection.
 * @library /
 * @modules java.base/jdk.internal.misc
 * @run main/othervm -Xint -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:+LullLoadCheck
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestChannels 30
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull & vm.debug
 * @summary The same in C1's code.
 * @library /
 * @modules java.base/jdk.internal.misc
 * @run main/othervm -XX:TieredStopAtLevel=1 -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:+LullLoadCheck
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestChannels 150
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull & vm.debug
 * @summary The same in C2's code.
 * @library /
 * @modules java.base/jdk.internal.misc
 * @run main/othervm -XX:-TieredCompilation -XX:CompileThreshold=100 -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestChannels 150
 */

/*
 * @test id=tiered
 * @requires vm.gc.Lull
 * @summary The same in all tiers.
 * @library /
 * @modules java.base/jdk.internal.misc
 * @run main/othervm -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestChannels 150
 */

/*
 * @test id=modes
 * @requires vm.gc.Lull & vm.debug
 * @summary The same while threads change between private and public mode.
 * @library /
 * @modules java.base/jdk.internal.misc
 * @run main/othervm -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:LullFlipModeALot=3 -XX:LullPublishAllALot=101
 *                   gc.lull.publication.TestChannels 150
 */

/*
 * @test id=limit
 * @requires vm.gc.Lull & vm.debug
 * @summary The same when most closures are over the limit.
 * @library /
 * @modules java.base/jdk.internal.misc
 * @run main/othervm -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:LullPublicationLimit=10 -XX:LullPublicModeWindows=1
 *                   -XX:LullPublicModeWindow=32k gc.lull.publication.TestChannels 150
 */

/*
 * @test id=noCompressedOops
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary The same with references of 64 bits.
 * @library /
 * @modules java.base/jdk.internal.misc
 * @run main/othervm -XX:-UseCompressedOops -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestChannels 150
 */

public class TestChannels {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Graph[].class);
    private static final VarHandle FIELD;
    private static final MethodHandle SETTER;
    private static final Field REFLECTED;
    private static final long OFFSET;
    private static final AtomicReferenceFieldUpdater<Slot, Graph> UPDATER =
        AtomicReferenceFieldUpdater.newUpdater(Slot.class, Graph.class, "updated");

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            FIELD = lookup.findVarHandle(Slot.class, "graph", Graph.class);
            SETTER = lookup.findSetter(Slot.class, "graph", Graph.class);
            REFLECTED = Slot.class.getDeclaredField("graph");
            OFFSET = U.objectFieldOffset(REFLECTED);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Public from the start: what is stored in it is published. */
    static final class Slot implements Cloneable {
        Graph graph;
        volatile Graph updated;

        Slot copy() {
            try {
                return (Slot) clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Hands a graph over. What has been sent stays where it is until the next one is sent by this channel. */
    interface Channel {
        void send(Graph graph) throws Throwable;
        Graph receive() throws Throwable;
    }

    private static final List<String> NAMES = new ArrayList<>();
    private static final List<Channel> CHANNELS = new ArrayList<>();
    private static volatile int sent;       // how many graphs
    private static volatile int received;
    private static volatile boolean failed;
    static Graph field;
    static volatile Graph volatileField;

    private interface Sender { void send(Slot slot, Graph graph) throws Throwable; }

    private static void channel(String name, Channel channel) {
        NAMES.add(name);
        CHANNELS.add(channel);
    }

    /** A channel through the field of a slot. */
    private static void slot(String name, Sender sender) {
        Slot slot = new Slot();
        channel(name, new Channel() {
            public void send(Graph graph) throws Throwable { sender.send(slot, graph); }
            public Graph receive() { return slot.graph; }
        });
    }

    private interface ArraySender { void send(Graph[] array, Graph graph) throws Throwable; }

    private static void array(String name, ArraySender sender) {
        Graph[] array = new Graph[8];
        channel(name, new Channel() {
            public void send(Graph graph) throws Throwable { sender.send(array, graph); }
            public Graph receive() { return array[5]; }
        });
    }

    private interface ValueChannel { Object wrap(Graph graph) throws Throwable; }
    private interface Unwrap { Graph unwrap(Object value) throws Throwable; }

    /** A channel that publishes a fresh object that leads to the graph. */
    private static void wrapped(String name, ValueChannel wrap, Unwrap unwrap) {
        Object[] holder = new Object[1];
        channel(name, new Channel() {
            public void send(Graph graph) throws Throwable { holder[0] = wrap.wrap(graph); }
            public Graph receive() throws Throwable { return unwrap.unwrap(holder[0]); }
        });
    }

    private static void storesToFields() {
        slot("putfield", (slot, graph) -> slot.graph = graph);
        channel("putstatic", new Channel() {
            public void send(Graph graph) { field = graph; }
            public Graph receive() { return field; }
        });
        channel("putstatic volatile", new Channel() {
            public void send(Graph graph) { volatileField = graph; }
            public Graph receive() { return volatileField; }
        });
        slot("reflection", (slot, graph) -> REFLECTED.set(slot, graph));
        slot("method handle", (slot, graph) -> { SETTER.invokeExact(slot, graph); });
        slot("VarHandle.set", (slot, graph) -> FIELD.set(slot, graph));
        slot("VarHandle.setOpaque", (slot, graph) -> FIELD.setOpaque(slot, graph));
        slot("VarHandle.setRelease", (slot, graph) -> FIELD.setRelease(slot, graph));
        slot("VarHandle.setVolatile", (slot, graph) -> FIELD.setVolatile(slot, graph));
        slot("VarHandle.getAndSet", (slot, graph) -> { Graph old = (Graph) FIELD.getAndSet(slot, graph); });
        slot("VarHandle.compareAndSet", (slot, graph) -> check(FIELD.compareAndSet(slot, slot.graph, graph)));
        slot("VarHandle.compareAndExchange", (slot, graph) -> {
            Graph old = slot.graph;
            check((Graph) FIELD.compareAndExchange(slot, old, graph) == old);
        });
        slot("VarHandle.weakCompareAndSet", (slot, graph) -> {
            while (!FIELD.weakCompareAndSetPlain(slot, slot.graph, graph)) { }
        });
        slot("Unsafe.putReference", (slot, graph) -> U.putReference(slot, OFFSET, graph));
        slot("Unsafe.putReferenceVolatile", (slot, graph) -> U.putReferenceVolatile(slot, OFFSET, graph));
        slot("Unsafe.compareAndSetReference", (slot, graph) -> check(U.compareAndSetReference(slot, OFFSET, slot.graph, graph)));
        slot("Unsafe.compareAndExchangeReference", (slot, graph) -> U.compareAndExchangeReference(slot, OFFSET, slot.graph, graph));
        slot("Unsafe.getAndSetReference", (slot, graph) -> U.getAndSetReference(slot, OFFSET, graph));
        Slot updated = new Slot();
        channel("AtomicReferenceFieldUpdater", new Channel() {
            public void send(Graph graph) { UPDATER.set(updated, graph); }
            public Graph receive() { return updated.updated; }
        });
        AtomicReference<Graph> reference = new AtomicReference<>();
        channel("AtomicReference", new Channel() {
            public void send(Graph graph) { reference.getAndUpdate(old -> graph); }
            public Graph receive() { return reference.get(); }
        });
    }

    private static void storesToArrays() {
        array("aastore", (array, graph) -> array[5] = graph);
        array("VarHandle array", (array, graph) -> ELEMENT.setVolatile(array, 5, graph));
        array("VarHandle array CAS", (array, graph) -> check(ELEMENT.compareAndSet(array, 5, array[5], graph)));
        array("arraycopy disjoint", (array, graph) -> System.arraycopy(new Graph[] {graph, graph, graph}, 0, array, 4, 3));
        array("arraycopy checked", (array, graph) -> System.arraycopy(new Object[] {graph, graph, graph}, 0, array, 4, 3));
        array("arraycopy generic", (array, graph) -> {
            Object from = new Object[] {null, graph};
            Object to = array;
            System.arraycopy(from, 1, to, 5, 1);
        });
        array("arraycopy conjoint", (array, graph) -> {
            array[6] = graph;
            System.arraycopy(array, 6, array, 5, 2);
        });
        array("arraycopy that fails", (array, graph) -> {
            try {
                System.arraycopy(new Object[] {graph, "no graph"}, 0, array, 5, 2);
                throw new AssertionError("no exception");
            } catch (ArrayStoreException expected) { }
        });
        array("Arrays.fill", (array, graph) -> Arrays.fill(array, graph));
        AtomicReferenceArray<Graph> atomics = new AtomicReferenceArray<>(7);
        channel("AtomicReferenceArray", new Channel() {
            public void send(Graph graph) { atomics.lazySet(3, graph); }
            public Graph receive() { return atomics.get(3); }
        });
    }

    private static void copies() {
        wrapped("clone of an object", graph -> {
            Slot slot = new Slot();
            slot.graph = graph;
            return slot.copy();
        }, value -> ((Slot) value).graph);
        wrapped("clone of an array", graph -> new Graph[] {graph}.clone(), value -> ((Graph[]) value)[0]);
        wrapped("Arrays.copyOf", graph -> Arrays.copyOf(new Graph[] {graph}, 100), value -> ((Graph[]) value)[0]);
        wrapped("Arrays.copyOf to another type", graph -> Arrays.copyOf(new Graph[] {graph}, 2, Object[].class), value -> (Graph) ((Object[]) value)[0]);
        wrapped("store behind the publication", graph -> {
            Slot slot = new Slot();
            field = null;
            hidden = slot;          // publishes the slot
            slot.graph = graph;     // which is not new any more
            return slot;
        }, value -> ((Slot) value).graph);
        wrapped("lambda", graph -> (java.util.function.Supplier<Graph>) () -> graph,
                value -> (Graph) ((java.util.function.Supplier<?>) value).get());
        wrapped("weak reference", graph -> new Object[] {new java.lang.ref.WeakReference<>(graph), graph},
                value -> (Graph) ((java.lang.ref.WeakReference<?>) ((Object[]) value)[0]).get());
        wrapped("exception", graph -> {
            Throwable t = new IllegalStateException("of graph " + graph.number);
            t.addSuppressed(new Carrier(graph));
            return t;
        }, value -> ((Carrier) ((Throwable) value).getSuppressed()[0]).graph);
        wrapped("large array", graph -> {
            Object[] large = new Object[20_000];
            large[19_999] = graph;
            return large;
        }, value -> (Graph) ((Object[]) value)[19_999]);
        wrapped("interned string", graph -> new Object[] {("name " + graph.number).intern(), graph}, value -> (Graph) ((Object[]) value)[1]);
        wrapped("list", graph -> new ArrayList<>(List.of(1, graph)), value -> (Graph) ((List<?>) value).get(1));
        ConcurrentHashMap<String, Graph> map = new ConcurrentHashMap<>();
        channel("ConcurrentHashMap", new Channel() {
            public void send(Graph graph) { map.put("key", graph); }
            public Graph receive() { return map.get("key"); }
        });
    }

    static volatile Slot hidden;

    private static final class Carrier extends RuntimeException {
        final Graph graph;
        Carrier(Graph graph) { this.graph = graph; }
    }

    private static void threads() {
        Graph[] from = new Graph[1];
        channel("thread start", new Channel() {
            public void send(Graph graph) throws Throwable {
                Thread thread = new Thread(() -> from[0] = graph);
                thread.start();
                thread.join();
            }
            public Graph receive() { return from[0]; }
        });
        Graph[] parked = new Graph[1];
        channel("virtual thread", new Channel() {
            public void send(Graph graph) throws Throwable {
                Thread thread = Thread.ofVirtual().start(() -> {
                    Graph mine = Graph.of(graph.number);
                    Thread.yield();
                    mine.check();
                    Thread.yield();
                    graph.check();
                    parked[0] = mine;
                });
                thread.join();
            }
            public Graph receive() { return parked[0]; }
        });
        ThreadLocal<Graph> local = new ThreadLocal<>();
        Graph[] ofLocal = new Graph[1];
        channel("thread local", new Channel() {
            public void send(Graph graph) {
                local.set(graph);
                ofLocal[0] = local.get();
            }
            public Graph receive() { return ofLocal[0]; }
        });
        Graph[] waited = new Graph[1];
        channel("inflated monitor", new Channel() {
            public void send(Graph graph) throws Throwable {
                synchronized (graph) {
                    graph.wait(0, 1);
                }
                waited[0] = graph;
            }
            public Graph receive() { return waited[0]; }
        });
        Exchanger<Graph> exchanger = new Exchanger<>();
        Graph[] exchanged = new Graph[1];
        channel("Exchanger", new Channel() {
            public void send(Graph graph) throws Throwable {
                Thread other = new Thread(() -> {
                    try {
                        exchanged[0] = exchanger.exchange(null);
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
                other.start();
                exchanger.exchange(graph);
                other.join();
            }
            public Graph receive() { return exchanged[0]; }
        });
    }

    private static void check(boolean ok) {
        if (!ok) {
            throw new AssertionError("an atomic operation failed without contention");
        }
    }

    private static void receiveAll(int rounds) {
        try {
            for (int n = 1; n <= rounds * CHANNELS.size(); n++) {
                while (sent < n) {
                    if (failed) {
                        return;
                    }
                    Thread.yield();
                }
                Graph graph = CHANNELS.get(n % CHANNELS.size()).receive();
                if (graph.check() != n) {
                    throw new AssertionError("graph " + graph.number + " came instead of " + n + " by " + NAMES.get(n % CHANNELS.size()));
                }
                received = n;
            }
        } catch (Throwable t) {
            t.printStackTrace();
            failed = true;
        }
    }

    public static void main(String[] args) throws Throwable {
        int rounds = Integer.parseInt(args[0]);
        storesToFields();
        storesToArrays();
        copies();
        threads();
        Thread receiver = new Thread(() -> receiveAll(rounds), "receiver");
        receiver.setDaemon(true);
        receiver.start();
        for (int n = 1; n <= rounds * CHANNELS.size() && !failed; n++) {
            CHANNELS.get(n % CHANNELS.size()).send(Graph.of(n));
            sent = n;
            if (n % (CHANNELS.size() * Math.max(1, rounds / 20)) == 0) {
                System.gc();    // all of the heap is checked
            }
            while (received < n && !failed) {
                Thread.yield();
            }
        }
        receiver.join();
        if (failed) {
            throw new AssertionError("see above");
        }
        System.out.println(rounds + " graphs by each of " + CHANNELS.size() + " channels");
    }
}
