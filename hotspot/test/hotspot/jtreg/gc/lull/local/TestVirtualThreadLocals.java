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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import gc.lull.GCBean;
import gc.lull.local.OwnThread.Value;
import jdk.test.whitebox.WhiteBox;

import static gc.lull.local.Checks.check;
import static gc.lull.local.Checks.isPublic;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.continuations
 * @summary Thread-local and scoped values of a virtual thread are private to its carrier until it is unmounted, then public, and right on any
 *          carrier; they die with their thread.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms48m -Xmx48m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate -XX:MaxGCPauseMillis=60000
 *                   -XX:LullReferencePausePercent=0
 *                   gc.lull.local.TestVirtualThreadLocals mounted many end forget young
 */

/*
 * @test id=interpreter
 * @requires vm.gc.Lull & vm.continuations & vm.debug
 * @summary The same in the interpreter, where each load is checked.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms48m -Xmx48m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate -XX:MaxGCPauseMillis=60000
 *                   -XX:LullReferencePausePercent=0
 *                   -Xint -XX:+LullLoadCheck
 *                   gc.lull.local.TestVirtualThreadLocals mounted many end forget young
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull & vm.continuations & vm.debug & vm.compiler1.enabled
 * @summary The same in C1's code, without the fast path of unmounting.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms48m -Xmx48m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate -XX:MaxGCPauseMillis=60000
 *                   -XX:LullReferencePausePercent=0
 *                   -XX:TieredStopAtLevel=1 -XX:+LullLoadCheck -XX:-UseContinuationFastPath
 *                   gc.lull.local.TestVirtualThreadLocals mounted many end forget young
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull & vm.continuations & vm.debug & vm.compiler2.enabled
 * @summary The same in C2's code, with collections at every third slow allocation.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms48m -Xmx48m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate -XX:MaxGCPauseMillis=60000
 *                   -XX:LullReferencePausePercent=0
 *                   -XX:-TieredCompilation -XX:CompileThreshold=100 -XX:LullLocalCollectALot=3
 *                   gc.lull.local.TestVirtualThreadLocals mounted many end forget young
 */

/*
 * @test id=stress
 * @requires vm.gc.Lull & vm.continuations & vm.debug & vm.compiler2.enabled
 * @summary Many virtual threads, with evacuations that fail, changes of the mode, and C2's stress flags.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   -XX:LullLocalCollectALot=7 -XX:LullEvacuationFailureALot=50 -XX:LullFlipModeALot=20 -XX:+LullYoungALot
 *                   -XX:+StressLCM -XX:+StressGCM -XX:+StressIGVN -XX:+StressCCP
 *                   gc.lull.local.TestVirtualThreadLocals many
 */

/*
 * @test id=headers
 * @requires vm.gc.Lull & vm.continuations & vm.bits == 64
 * @summary The same with compact headers and references of 64 bits.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms64m -Xmx64m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate -XX:MaxGCPauseMillis=60000
 *                   -XX:LullReferencePausePercent=0
 *                   -XX:-UseCompressedOops -XX:+UseCompactObjectHeaders
 *                   gc.lull.local.TestVirtualThreadLocals mounted many end forget young
 */

/*
 * @test id=cycles
 * @requires vm.gc.Lull & vm.continuations
 * @summary In cycles of concurrent marking, too, a carrier does not keep the last thread that it has carried.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx48m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   -XX:+ExplicitGCInvokesConcurrent
 *                   gc.lull.local.TestVirtualThreadLocals forgetInCycles
 */

/*
 * @test id=pinned
 * @requires vm.gc.Lull & vm.continuations
 * @summary Values of a virtual thread that waits and cannot be unmounted.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx48m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestVirtualThreadLocals pinned
 */

/*
 * @test id=field
 * @requires vm.gc.Lull & vm.continuations
 * @summary Whoever reads the map of a virtual thread that is mounted finds all of it public: by reflection, ...
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx48m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.ref=ALL-UNNAMED
 *                   gc.lull.local.TestVirtualThreadLocals field
 */

/*
 * @test id=handle
 * @requires vm.gc.Lull & vm.continuations
 * @summary ... or by a method handle.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx48m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.ref=ALL-UNNAMED
 *                   gc.lull.local.TestVirtualThreadLocals handle
 */

/*
 * @test id=waited
 * @requires vm.gc.Lull & vm.continuations & vm.jvmti
 * @summary What an agent sets in the name of a virtual thread that has waited, but has not got its monitor yet, is public.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm/native --enable-native-access=ALL-UNNAMED -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx48m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestVirtualThreadLocals waited
 */

/*
 * @test id=off
 * @requires vm.gc.Lull & vm.continuations & vm.debug
 * @summary With -XX:-LullPrivateThreadLocals they are public from the beginning.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx48m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   -XX:-LullPrivateThreadLocals
 *                   gc.lull.local.TestVirtualThreadLocals off
 */
public class TestVirtualThreadLocals {
    static final int VARIABLES = 30;
    static final int THREADS = 150;
    static final int STEPS = 150;

    @SuppressWarnings("unchecked")
    static final ThreadLocal<Value>[] variables = new ThreadLocal[VARIABLES];
    static final ScopedValue<Value> CONTEXT = ScopedValue.newInstance();
    static final Object monitor = new Object();

    /** Enough for local collections, without a wait. */
    static void garbage(int bytes) {
        for (int i = 0; i < bytes; i += 1000) {
            byte[] some = new byte[984];
            some[0] = 1;
        }
    }

    /** Against what the thread has in its frames. */
    static void verify(Value[] model) {
        for (int i = 0; i < VARIABLES; i++) {
            Value value = variables[i].get();
            check(value == model[i], "a value is the one that was set");
            check(value == null || value.isWhole(), "a whole one");
        }
    }

    /** So that nothing but the map refers to the values. */
    static void setAll(int number) {
        for (int i = 0; i < VARIABLES; i++) {
            variables[i].set(new Value(number + i));
        }
    }

    static void checkAll(int number, boolean expectedPublic, String what) {
        for (int i = 0; i < VARIABLES; i++) {
            Value value = variables[i].get();
            check(value.number == number + i && value.isWhole(), "a value is what was set");
            check(isPublic(value) == expectedPublic && isPublic(value.text) == expectedPublic, what);
        }
    }

    interface Wait {
        /** Unmounts the virtual thread, and returns when it is mounted again. */
        void now() throws InterruptedException;
    }

    static void sleep() throws InterruptedException {
        Thread.sleep(1);
    }

    static void waitForTime() throws InterruptedException {
        synchronized (monitor) {
            monitor.wait(1);
        }
    }

    /** Another thread has the monitor until this one is blocked. */
    static void contend() throws InterruptedException {
        Thread waiter = Thread.currentThread();
        AtomicBoolean isHeld = new AtomicBoolean();
        Thread holder = Thread.ofPlatform().start(() -> {
            synchronized (monitor) {
                isHeld.set(true);
                while (waiter.getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
            }
        });
        while (!isHeld.get()) {
            Thread.onSpinWait();
        }
        synchronized (monitor) {
            garbage(1000);
        }
        holder.join();
    }

    /** In a virtual thread: what it has before it waits, and afterwards. */
    static void mounted(Wait wait) throws Exception {
        ScopedValue.where(CONTEXT, new Value(-1)).call(() -> {
            setAll(0);
            for (int i = 0; i < 5; i++) {
                garbage(2_000_000);
                checkAll(0, false, "a thread-local value of a mounted virtual thread is private");
                check(CONTEXT.get().number == -1 && CONTEXT.get().isWhole(), "what was bound is found");
                check(!isPublic(CONTEXT.get()), "a scoped value of a mounted virtual thread is private");
            }
            wait.now();
            checkAll(0, true, "a thread-local value is public when its thread has waited");
            check(CONTEXT.get().number == -1 && CONTEXT.get().isWhole(), "what was bound is found on any carrier");
            check(isPublic(CONTEXT.get()), "and so is a scoped one");
            setAll(1000);
            garbage(2_000_000);
            wait.now();
            checkAll(1000, true, "so are new values after a second wait");
            return null;
        });
        check(!CONTEXT.isBound(), "nothing is bound outside");
    }

    /** In a virtual thread that waits, and cannot be unmounted: whether its values are public then is not said. */
    static void pinned() throws InterruptedException {
        Value[] values = new Value[VARIABLES];
        for (int i = 0; i < VARIABLES; i++) {
            values[i] = new Value(i);
            variables[i].set(values[i]);
        }
        ClassInitializer.run(values);
        verify(values);
        setAll(100);
        garbage(2_000_000);
        sleep();
        checkAll(100, true, "a thread-local value is public when its thread has been unmounted");
    }

    static class ClassInitializer {
        static Value[] values;

        static void run(Value[] those) {
            values = those;
            Waits.now();
        }

        /** The VM calls the initializer: its frame cannot leave the carrier. */
        static class Waits {
            static {
                LockSupport.parkNanos(1_000_000);
                verify(values);
                garbage(2_000_000);
                verify(values);
            }

            static void now() {}
        }
    }

    /** Against a model. */
    static void act(Random random, Value[] model, List<WeakReference<Value>> left, int depth) {
        for (int step = 0; step < STEPS; step++) {
            int i = random.nextInt(VARIABLES);
            switch (random.nextInt(16)) {
                case 0 -> LockSupport.parkNanos(1);
                case 1 -> Thread.yield();
                case 2, 3 -> {
                    variables[i].remove();
                    model[i] = null;
                }
                case 4 -> garbage(random.nextInt(100_000));
                case 5 -> {
                    synchronized (monitor) {
                        garbage(1000);
                    }
                }
                case 6 -> {
                    if (depth < 3) {
                        Value value = new Value(random.nextInt());
                        ScopedValue.where(CONTEXT, value).run(() -> {
                            act(new Random(random.nextLong()), model, left, depth + 3);
                            check(CONTEXT.get() == value && value.isWhole(), "what was bound is found");
                        });
                    }
                }
                default -> {
                    model[i] = new Value(random.nextInt());
                    variables[i].set(model[i]);
                }
            }
            if (step % 10 == 0) {
                verify(model);
            }
        }
        for (Value value : model) {
            if (value != null) {
                left.add(new WeakReference<>(value));
            }
        }
    }

    /** In so many virtual threads, which get their number, with global collections now and then. They have ended. */
    static List<Thread> runTogether(int count, IntConsumer body) throws InterruptedException {
        List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int number = i;
            threads.add(Thread.ofVirtual().uncaughtExceptionHandler((t, e) -> thrown.add(e)).start(() -> body.accept(number)));
        }
        for (Thread thread : threads) {
            while (!thread.join(Duration.ofMillis(50))) {
                System.gc();
            }
        }
        if (!thrown.isEmpty()) {
            throw new AssertionError("in a virtual thread", thrown.get(0));
        }
        return threads;
    }

    /** A thread counts as ended a moment before its map is dropped. */
    static void awaitDeath(List<? extends WeakReference<?>> references) throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            System.gc();
            if (references.stream().allMatch(reference -> reference.get() == null)) {
                return;
            }
            Thread.sleep(20);
        }
        throw new AssertionError("what virtual threads have had outlives them");
    }

    /** A carrier does not keep the last thread that it has carried, nor what that thread's task had. */
    static void forget() throws Exception {
        List<WeakReference<?>> references = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            byte[] captured = new byte[1000];
            OwnThread.run(Thread.ofVirtual(), () -> {
                variables[0].set(new Value(captured.length));
                check(variables[0].get().number == captured.length, "the value");
                references.add(new WeakReference<>(Thread.currentThread()));
            });
            references.add(new WeakReference<>(captured));
        }
        awaitDeath(references);
    }

    /** The thread is old, and its carrier knows it since then. */
    static void forgetOld() throws Throwable {
        List<WeakReference<?>> references = new ArrayList<>();
        OwnThread.runWithReader(Thread.ofVirtual(), othersCollect -> {
            othersCollect.run();
            variables[0].set(new Value(1));
            check(variables[0].get().number == 1, "the value");
            references.add(new WeakReference<>(Thread.currentThread()));
        }, thread -> {
            WhiteBox.getWhiteBox().youngGC();
            WhiteBox.getWhiteBox().youngGC();
            check(WhiteBox.getWhiteBox().isObjectInOldGen(thread), "the thread is old");
        });
        awaitDeath(references);
    }

    /** No global collection looks for what is dead. */
    static void forgetInCycles() throws Throwable {
        long before = GCBean.globalCollections();
        forget();
        forgetOld();
        check(GCBean.globalCollections() == before, "there were cycles alone");
    }

    static native boolean tellOfWaits();

    static final ThreadLocal<Value> ofAgent = new ThreadLocal<>();
    static final AtomicInteger callbacks = new AtomicInteger();

    /**
     * By an agent, in the name of a virtual thread whose frames may not be there. It must not wait for a monitor there (HotSpot stops the VM
     * then, in debug builds), so all classes have been loaded.
     */
    static void hasWaited() {
        if (Thread.currentThread().isVirtual()) {
            ofAgent.set(new Value(callbacks.incrementAndGet()));
        }
    }

    /** The first value of a thread is one that an agent sets when it has waited; then it may have to wait once more, for the monitor. */
    static void waited() throws Exception {
        System.loadLibrary("LullVirtualThreadLocals");
        ofAgent.set(new Value(0));
        check(tellOfWaits(), "JVMTI tells of waits");
        List<Thread> threads = runTogether(2000, i -> {
            synchronized (monitor) {
                try {
                    monitor.wait(1);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                garbage(20_000);
            }
            Value value = ofAgent.get();
            check(value != null && value.isWhole() && isPublic(value), "what was set in the name of a thread whose frames were away is public");
        });
        check(callbacks.get() >= threads.size(), callbacks + " calls by the agent");
    }

    static volatile Object sink;

    static long youngCollections() {
        return GCBean.collections() - GCBean.globalCollections();
    }

    /** Young collections find what an old thread has, and has had since it is old, as long as it is mounted. */
    static void young() throws Throwable {
        OwnThread.runWithReader(Thread.ofVirtual(), othersCollect -> {
            System.gc();
            ScopedValue.where(CONTEXT, new Value(-1)).call(() -> {
                setAll(0);
                othersCollect.run();
                checkAll(0, false, "what was private before young collections is so afterwards");
                check(CONTEXT.get().number == -1 && CONTEXT.get().isWhole() && !isPublic(CONTEXT.get()), "a scoped value, too");
                return null;
            });
        }, thread -> {
            long before = youngCollections();
            for (int i = 0; i < 3_000_000 && youngCollections() < before + 3; i++) {
                sink = new Object[] {sink == null || i % 100 == 0 ? null : sink, new byte[1000]};
            }
            check(youngCollections() >= before + 3, "there were young collections");
        });
    }

    static void many() throws Exception {
        long seed = Long.getLong("seed", new Random().nextLong());
        System.out.println("-Dseed=" + seed);
        long before = GCBean.localCollections();
        List<WeakReference<Value>> left = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = runTogether(THREADS, i -> act(new Random(seed + i), new Value[VARIABLES], left, 0));
        long collections = GCBean.localCollections() - before;
        System.out.println(collections + " local collections, " + GCBean.globalCollections() + " global ones, " + left.size() + " values left");
        check(collections > 0, "carriers collect locally");
        check(!left.isEmpty(), "threads have left values");
        awaitDeath(left);
        check(threads.stream().noneMatch(Thread::isAlive), "the threads have ended, and are there as objects");
    }

    /** What a thread has left goes with it, without a pause, though others know the thread. */
    static void end() throws Exception {
        List<Thread> threads = new ArrayList<>();
        long before = GCBean.collections();
        for (int i = 0; i < 300; i++) {
            ThreadLocal<byte[]> variable = new ThreadLocal<>();
            OwnThread.run(Thread.ofVirtual(), () -> {
                threads.add(Thread.currentThread());
                for (int k = 0; k < 100; k++) {
                    new ThreadLocal<byte[]>().set(new byte[10_000]);
                }
                variable.set(new byte[10]);
                check(variable.get().length == 10, "the value");
            });
        }
        long pauses = GCBean.collections() - before;
        System.out.println(pauses + " pauses for 300 MB that 300 threads have left, six times the heap");
        check(pauses <= 1, pauses + " pauses");
        check(threads.size() == 300 && threads.stream().noneMatch(Thread::isAlive), "all have ended");
    }

    static void off() {
        Value value = new Value(1);
        check(!isPublic(value), "a new object is private");
        variables[0].set(value);
        check(isPublic(value), "a thread-local value is public");
        Value context = new Value(2);
        ScopedValue.where(CONTEXT, context).run(() -> check(isPublic(context), "and so is a scoped one"));
    }

    static void foreign(String how) throws Throwable {
        OwnThread.runWithReader(Thread.ofVirtual(), othersRead -> {
            setAll(0);
            checkAll(0, false, "private before another thread reads");
            othersRead.run();
            checkAll(0, true, "public when another thread has read");
            Value late = new Value(8);
            variables[8].set(late);
            check(isPublic(late), "and values are public from there on");
        }, thread -> TestThreadLocals.readSeven(thread, how, variables[7]));
    }

    public static void main(String[] args) throws Throwable {
        for (int i = 0; i < VARIABLES; i++) {
            variables[i] = new ThreadLocal<>();
        }
        for (String what : args) {
            System.out.println(what);
            switch (what) {
                case "mounted" -> {
                    for (int i = 0; i < 10; i++) {
                        OwnThread.run(Thread.ofVirtual(), () -> mounted(TestVirtualThreadLocals::sleep));
                        OwnThread.run(Thread.ofVirtual(), () -> mounted(TestVirtualThreadLocals::waitForTime));
                        OwnThread.run(Thread.ofVirtual(), () -> mounted(TestVirtualThreadLocals::contend));
                    }
                }
                case "pinned" -> OwnThread.run(Thread.ofVirtual(), TestVirtualThreadLocals::pinned);
                case "many" -> many();
                case "end" -> end();
                case "young" -> young();
                case "forget" -> forget();
                case "forgetInCycles" -> forgetInCycles();
                case "waited" -> waited();
                case "off" -> OwnThread.run(Thread.ofVirtual(), TestVirtualThreadLocals::off);
                default -> foreign(what);
            }
        }
    }
}
