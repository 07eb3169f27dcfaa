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

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DynamicCallSiteDesc;
import java.lang.constant.DynamicConstantDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.CallSite;
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.lang.invoke.VolatileCallSite;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.lang.reflect.Field;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import jdk.internal.misc.Unsafe;

/*
 * @test id=interpreter
 * @requires vm.gc.Lull & vm.debug
 * @summary What one thread builds and the VM or the library hands over is public for another one as a whole.
 * @library / /test/lib
 * @modules java.base/jdk.internal.misc
 *          java.base/java.lang.ref:+open
 *          java.management jdk.management
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI
 *                   -Xint -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:+LullLoadCheck
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestRuntimeChannels 20 50
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull & vm.debug
 * @summary The same in C1's code.
 * @library / /test/lib
 * @modules java.base/jdk.internal.misc
 *          java.base/java.lang.ref:+open
 *          java.management jdk.management
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI
 *                   -XX:TieredStopAtLevel=1 -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:+LullLoadCheck
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestRuntimeChannels 60 50
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull & vm.debug
 * @summary The same in C2's code.
 * @library / /test/lib
 * @modules java.base/jdk.internal.misc
 *          java.base/java.lang.ref:+open
 *          java.management jdk.management
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI
 *                   -XX:-TieredCompilation -XX:CompileThreshold=100 -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestRuntimeChannels 60 50
 */

/*
 * @test id=dumps
 * @requires vm.gc.Lull
 * @summary The same in all tiers, while the heap is dumped.
 * @library / /test/lib
 * @modules java.base/jdk.internal.misc
 *          java.base/java.lang.ref:+open
 *          java.management jdk.management
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI
 *                   -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections
 *                   -XX:+LullAlwaysPrivate gc.lull.publication.TestRuntimeChannels 60 50 dumps
 */

/*
 * @test id=recorder
 * @requires vm.gc.Lull & vm.debug & vm.hasJFR
 * @summary The same in all tiers, while the flight recorder keeps samples of old objects. Having lost one, a thread has no
 *          private objects until its mode changes: few graphs are private.
 * @library / /test/lib
 * @modules java.base/jdk.internal.misc
 *          java.base/java.lang.ref:+open
 *          java.management jdk.management
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI
 *                   -XX:StartFlightRecording:settings=profile,path-to-gc-roots=true,filename=relay.jfr -Xlog:jfr*=off
 *                   -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections
 *                   -XX:LullFlipModeALot=1 gc.lull.publication.TestRuntimeChannels 60 0
 */

public class TestRuntimeChannels {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final Relay RELAY = new Relay();
    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

    private interface Sender { void send(Graph graph) throws Throwable; }
    private interface Receiver { Object receive(int number) throws Throwable; }

    private static void channel(String name, Sender sender, Receiver receiver) {
        RELAY.channel(name, new Relay.Channel() {
            public void send(Graph graph) throws Throwable { sender.send(graph); }
            public Object receive(int number) throws Throwable { return receiver.receive(number); }
        });
    }

    // Call sites, dynamic constants, class initialisation. Each graph has a class of its own, whose method get() leads to it.

    private static final ClassDesc HERE = TestRuntimeChannels.class.describeConstable().get();
    private static final ClassDesc OBJECT = ConstantDescs.CD_Object;
    private static final ClassDesc GENERATED = ClassDesc.of("gc.lull.publication.Generated");
    private static final MethodTypeDesc GET = MethodTypeDesc.of(OBJECT);

    private static final byte[] WITH_CONSTANT = generate(code -> {
        code.loadConstant(DynamicConstantDesc.ofNamed(
            ConstantDescs.ofConstantBootstrap(HERE, "constant", OBJECT), "graph", OBJECT));
        code.areturn();
    });
    private static final byte[] WITH_CALL = generate(code -> {
        code.invokedynamic(DynamicCallSiteDesc.of(
            ConstantDescs.ofCallsiteBootstrap(HERE, "callSite", ConstantDescs.CD_CallSite), "graph", GET));
        code.areturn();
    });
    private static final byte[] WITH_CLASS_DATA = generate(code -> {
        code.loadConstant(DynamicConstantDesc.ofNamed(
            ConstantDescs.ofConstantBootstrap(MethodHandles.class.describeConstable().get(), "classData", OBJECT),
            ConstantDescs.DEFAULT_NAME, OBJECT));
        code.areturn();
    });
    private static final byte[] WITH_STATIC = ClassFile.of().build(GENERATED, builder -> builder
        .withField("graph", OBJECT, ClassFile.ACC_STATIC | ClassFile.ACC_FINAL)
        .withMethodBody(ConstantDescs.CLASS_INIT_NAME, ConstantDescs.MTD_void, ClassFile.ACC_STATIC,
                        code -> code.invokestatic(HERE, "takeNext", GET).putstatic(GENERATED, "graph", OBJECT).return_())
        .withMethodBody("get", GET, ClassFile.ACC_STATIC | ClassFile.ACC_PUBLIC,
                        code -> code.getstatic(GENERATED, "graph", OBJECT).areturn()));

    private static byte[] generate(java.util.function.Consumer<java.lang.classfile.CodeBuilder> body) {
        return ClassFile.of().build(GENERATED, builder -> builder
            .withMethodBody("get", GET, ClassFile.ACC_STATIC | ClassFile.ACC_PUBLIC, body));
    }

    // What the bootstrap methods give: made by the thread that links, and known to nobody else.
    private static int next;

    static Object takeNext() {
        return Graph.of(next);
    }

    static Object constant(MethodHandles.Lookup lookup, String name, Class<?> type) {
        return takeNext();
    }

    static CallSite callSite(MethodHandles.Lookup lookup, String name, MethodType type) {
        return new ConstantCallSite(MethodHandles.constant(Object.class, takeNext()));
    }

    private static void generated(String name, byte[] bytes) {
        MethodHandle[] get = new MethodHandle[1];
        channel(name, graph -> {
            MethodHandles.Lookup lookup = LOOKUP.defineHiddenClassWithClassData(bytes, graph, false);
            get[0] = lookup.findStatic(lookup.lookupClass(), "get", MethodType.methodType(Object.class));
            next = graph.number;
            Object linked = get[0].invokeExact();
        }, n -> get[0].invokeExact());
    }

    private static void linkage() {
        generated("dynamic constant", WITH_CONSTANT);
        generated("dynamic call", WITH_CALL);
        generated("class data", WITH_CLASS_DATA);
        generated("class initialisation", WITH_STATIC);
        for (CallSite site : new CallSite[] {new MutableCallSite(MethodType.methodType(Object.class)),
                                             new VolatileCallSite(MethodType.methodType(Object.class))}) {
            MethodHandle invoker = site.dynamicInvoker();
            channel(site.getClass().getSimpleName(), graph -> {
                site.setTarget(MethodHandles.constant(Object.class, graph));
                if (site instanceof MutableCallSite mutable) {
                    MutableCallSite.syncAll(new MutableCallSite[] {mutable});
                }
            }, n -> invoker.invokeExact());
        }
        ClassValue<Object> values = new ClassValue<>() {
            @Override
            protected Object computeValue(Class<?> type) {
                return takeNext();
            }
        };
        channel("ClassValue", graph -> {
            values.remove(Graph.class);
            next = graph.number;
            values.get(Graph.class);
        }, n -> values.get(Graph.class));
    }

    // References that the VM knows.

    private static final class Finalized {
        // The one whose finalize() ran last. A collection between sending and receiving takes the object off the VM's list.
        static volatile Finalized last;

        Graph graph;

        // The VM has registered the object, and so published it, before this body runs.
        Finalized(Graph graph) {
            this.graph = graph;
        }

        @Override
        @SuppressWarnings("removal")
        protected void finalize() {
            graph.check();
            last = this;
        }
    }

    private static void references() throws ReflectiveOperationException {
        Class<?> finalizer = Class.forName("java.lang.ref.Finalizer");
        Field field = finalizer.getDeclaredField("unfinalized");
        field.setAccessible(true);
        long referent = U.objectFieldOffset(Reference.class.getDeclaredField("referent"));
        long nextOffset = U.objectFieldOffset(finalizer.getDeclaredField("next"));
        channel("finalizer", graph -> new Finalized(graph), n -> {
            // The list may change while it is read, and an object taken off it is finalized a while later: look again.
            for (int i = 0; i < 10_000; i++) {
                for (Object f = field.get(null); f != null; f = U.getReference(f, nextOffset)) {
                    if (U.getReference(f, referent) instanceof Finalized finalized && finalized.graph.number == n) {
                        Relay.checkPublic(finalized);
                        return finalized.graph;
                    }
                }
                if (Finalized.last instanceof Finalized finalized && finalized.graph.number == n) {
                    return finalized.graph;
                }
                Thread.sleep(1);
            }
            throw new AssertionError("not registered");
        });
        Cleaner cleaner = Cleaner.create();
        Object[] cleaned = new Object[1];
        Thread[] by = new Thread[1];
        channel("cleaner", graph -> {
            cleaned[0] = null;
            cleaner.register(new Object(), () -> {
                by[0] = Thread.currentThread();
                Relay.check(graph, graph.number);
                cleaned[0] = graph;
            });
        }, n -> {
            for (int i = 0; cleaned[0] == null && i < 100; i++) {
                System.gc();
                Thread.sleep(1);
            }
            return by[0] == Thread.currentThread() ? null : cleaned[0];
        });
        channel("interned string", graph -> ("graph number " + graph.number).intern(), n -> ("graph number " + n).intern());
    }

    // Threads.

    private static final ScopedValue<Graph> SCOPED = ScopedValue.newInstance();

    private static final class Carrier extends RuntimeException {
        final Graph graph;

        Carrier(Graph graph) {
            this.graph = graph;
        }
    }

    private static void threads() {
        InheritableThreadLocal<Graph> inherited = new InheritableThreadLocal<>();
        Object[] got = new Object[4];
        channel("InheritableThreadLocal", graph -> {
            inherited.set(graph);
            Thread thread = new Thread(() -> {
                Relay.check(inherited.get(), graph.number);
                got[0] = inherited.get();
            });
            inherited.remove();
            thread.start();
            thread.join();
        }, n -> got[0]);
        channel("ScopedValue", graph -> ScopedValue.where(SCOPED, graph).run(() -> {
            // The thread's bindings and their cache are roots that the VM knows.
            Graph scoped = SCOPED.get();
            if (scoped != graph) {
                throw new AssertionError("another value");
            }
            Thread thread = new Thread(() -> {
                Relay.check(graph, graph.number);
                got[1] = graph;
            });
            thread.start();
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }), n -> got[1]);
        channel("uncaught exception", graph -> {
            Thread thread = new Thread(() -> { throw new Carrier(Graph.of(graph.number)); });
            thread.setUncaughtExceptionHandler((t, e) -> got[2] = ((Carrier) e).graph);
            thread.start();
            thread.join();
        }, n -> got[2]);
        CompletableFuture<?>[] future = new CompletableFuture<?>[1];
        channel("CompletableFuture that fails", graph ->
            future[0] = CompletableFuture.supplyAsync(() -> { throw new Carrier(Graph.of(graph.number)); }), n -> {
            try {
                return future[0].join();
            } catch (CompletionException e) {
                return ((Carrier) e.getCause()).graph;
            }
        });
    }

    public static void main(String[] args) throws Throwable {
        linkage();
        references();
        threads();
        if (args.length > 2 && args[2].equals("dumps")) {
            RELAY.dumpHeap();
        }
        RELAY.run(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
    }
}
