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

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;

/*
 * @test id=interpreter
 * @requires vm.gc.Lull & vm.debug
 * @summary What one thread builds and hands over in native code is public for another one as a whole.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm/native --enable-native-access=ALL-UNNAMED -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI
 *                   -Xint -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:+LullLoadCheck
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestJniChannels 30 50
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull & vm.debug
 * @summary The same in C1's code.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm/native --enable-native-access=ALL-UNNAMED -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI
 *                   -XX:TieredStopAtLevel=1 -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:+LullLoadCheck
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestJniChannels 150 50
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull & vm.debug
 * @summary The same in C2's code.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm/native --enable-native-access=ALL-UNNAMED -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI
 *                   -XX:-TieredCompilation -XX:CompileThreshold=100 -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestJniChannels 150 50
 */

/*
 * @test id=modes
 * @requires vm.gc.Lull & vm.debug
 * @summary The same in all tiers, while threads change between private and public mode.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm/native --enable-native-access=ALL-UNNAMED -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI
 *                   -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:LullFlipModeALot=3 -XX:LullPublishAllALot=101
 *                   gc.lull.publication.TestJniChannels 150 10
 */

public class TestJniChannels {
    static final class Slot {
        Graph graph;
        static Graph staticGraph;

        Slot(Graph graph) {
            this.graph = graph;
        }
    }

    private static native void initialize(Class<?> graph, Class<?> slot);
    private static native void newGlobal(Object object);
    private static native Object getGlobal();
    private static native void newWeak(Object object);
    private static native Object getWeak();
    private static native void setField(Slot slot, Graph graph);
    private static native Object getField(Slot slot);
    private static native void setStatic(Graph graph);
    private static native Object getStatic();
    private static native void setElement(Graph[] array, Graph graph);
    private static native Object getElement(Graph[] array);
    private static native void allocate(Graph graph);
    private static native void construct(Graph graph);
    private static native void newArray(Graph graph);
    private static native void newBuffer();
    private static native void lock(Object object);
    private static native void unlock(Object object);
    private static native void sendAttached(int number);

    private static final Relay RELAY = new Relay();

    private interface Sender { void send(Graph graph) throws Throwable; }
    private interface Receiver { Object receive(int number) throws Throwable; }

    private static void channel(String name, Sender sender, Receiver receiver) {
        RELAY.channel(name, new Relay.Channel() {
            public void send(Graph graph) throws Throwable { sender.send(graph); }
            public Object receive(int number) throws Throwable { return receiver.receive(number); }
        });
    }

    private static void references() {
        channel("global reference", TestJniChannels::newGlobal, n -> getGlobal());
        channel("weak global reference", TestJniChannels::newWeak, n -> getWeak());
        channel("of an attached thread", graph -> sendAttached(graph.number), n -> getGlobal());
    }

    private static void stores() {
        Slot slot = new Slot(null);
        Graph[] array = new Graph[3];
        channel("SetObjectField", graph -> setField(slot, graph), n -> getField(slot));
        channel("SetStaticObjectField", TestJniChannels::setStatic, n -> getStatic());
        channel("SetObjectArrayElement", graph -> setElement(array, graph), n -> getElement(array));
        channel("AllocObject", TestJniChannels::allocate, n -> ((Slot) getGlobal()).graph);
        channel("NewObject", TestJniChannels::construct, n -> ((Slot) getGlobal()).graph);
        channel("NewObjectArray", TestJniChannels::newArray, n -> ((Graph[]) getGlobal())[99]);
        channel("NewDirectByteBuffer", graph -> {
            newBuffer();
            ((ByteBuffer) getGlobal()).putInt(0, graph.number);
        }, n -> getGlobal());
    }

    /** A monitor is a root: an object that has one is public. */
    private static void monitors() {
        Graph[] locked = new Graph[1];
        channel("MonitorEnter", graph -> {
            lock(graph);
            try {
                Relay.checkPublic(graph);
                graph.forEach(Relay::checkPublic);
                locked[0] = graph;
            } finally {
                unlock(graph);
            }
        }, n -> locked[0]);
    }

    // The receiver's side of an upcall. Nothing but the stub has led to the graph.
    private static volatile Object upcalled;

    private static void upcall(Graph graph, int number) {
        try {
            Relay.check(graph, number);
            upcalled = graph;
        } catch (Throwable t) {
            upcalled = t.toString();    // an exception would end the VM
        }
    }

    private static void upcalls() throws Exception {
        MethodHandle target = MethodHandles.lookup().findStatic(TestJniChannels.class, "upcall", MethodType.methodType(void.class, Graph.class, int.class));
        FunctionDescriptor function = FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT);
        Linker linker = Linker.nativeLinker();
        for (String symbol : new String[] {"lull_call", "lull_call_elsewhere"}) {
            MethodHandle caller = linker.downcallHandle(SymbolLookup.loaderLookup().find(symbol).orElseThrow(),
                                                        FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
            RELAY.channel("upcall stub, " + symbol, new Relay.Channel() {
                private Arena arena;
                private long stub;      // its address only: the arena does not lead to the graph

                public void send(Graph graph) throws Throwable {
                    if (arena != null) {
                        arena.close();
                    }
                    arena = Arena.ofShared();
                    stub = linker.upcallStub(MethodHandles.insertArguments(target, 0, graph), function, arena).address();
                }

                public Object receive(int number) throws Throwable {
                    upcalled = null;
                    caller.invokeExact(MemorySegment.ofAddress(stub), number);
                    return upcalled;
                }
            });
        }
    }

    public static void main(String[] args) throws Throwable {
        System.loadLibrary("LullJniChannels");
        initialize(Graph.class, Slot.class);
        references();
        stores();
        monitors();
        upcalls();
        RELAY.run(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
    }
}
