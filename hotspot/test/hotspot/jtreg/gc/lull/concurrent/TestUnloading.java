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

package gc.lull.concurrent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import jdk.test.lib.Utils;
import jdk.test.whitebox.WhiteBox;
import jdk.test.whitebox.code.BlobType;

/*
 * @test id=holders
 * @requires vm.gc.Lull & vm.opt.final.ClassUnloading & !vm.emulatedClient
 * @summary A cycle of concurrent marking unloads what is dead of classes and code. A class lives by each kind of thing
 *          that needs it, also by what comes while markers stand still: old, young and private instances, frames of
 *          threads and of virtual threads, interpreted and compiled. It does not live by weak references, nor by code.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx128m -XX:+UseLullGC
 *                   -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking
 *                   -Xlog:gc*,gc+marking=debug:file=unloading.log gc.lull.concurrent.TestUnloading holders
 */

/*
 * @test id=churn
 * @requires vm.gc.Lull & vm.debug & vm.opt.final.ClassUnloading
 * @summary Threads load and drop class loaders while cycles follow each other. What is in use works, what is dropped is
 *          unloaded, and no collection stops the program for all of the heap.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx128m -XX:+UseLullGC
 *                   -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:+LullCycleALot
 *                   -Xlog:gc*,gc+marking=debug:file=unloading.log gc.lull.concurrent.TestUnloading churn
 */

/*
 * @test id=remark
 * @requires vm.gc.Lull & vm.debug & vm.opt.final.ClassUnloading
 * @summary The same where markers do nothing, and with several workers.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx128m -XX:+UseLullGC
 *                   -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:+LullCycleALot
 *                   -XX:+LullMarkInRemark -XX:ParallelGCThreads=3 -XX:-UseDynamicNumberOfGCThreads
 *                   -Xlog:gc*,gc+marking=debug:file=unloading.log gc.lull.concurrent.TestUnloading churn
 */

/*
 * @test id=kept
 * @requires vm.gc.Lull
 * @summary Without ClassUnloadingWithConcurrentMark, or ClassUnloading, cycles keep all classes. What is in use works.
 *          A global collection unloads then, or nothing does.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx128m -XX:+UseLullGC
 *                   -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:-ClassUnloadingWithConcurrentMark
 *                   -XX:MetaspaceSize=16m -Xlog:gc*,gc+marking=debug:file=unloading.log
 *                   gc.lull.concurrent.TestUnloading kept true
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx128m -XX:+UseLullGC
 *                   -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:-ClassUnloading
 *                   -Xlog:gc*,gc+marking=debug:file=unloading.log gc.lull.concurrent.TestUnloading kept false
 */

/*
 * @test id=thresholds
 * @requires vm.gc.Lull & vm.opt.final.ClassUnloading & !vm.emulatedClient
 * @summary Metaspace, and code, that grow begin a cycle that unloads. They bring no global collection.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx256m -XX:+UseLullGC
 *                   -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking
 *                   -XX:MetaspaceSize=12m -XX:ReservedCodeCacheSize=64m -XX:-SegmentedCodeCache
 *                   -Xlog:gc*,gc+marking=debug:file=unloading.log gc.lull.concurrent.TestUnloading thresholds
 */

public class TestUnloading {
    private static final WhiteBox WB = WhiteBox.getWhiteBox();
    private static final ClassLoadingMXBean CLASSES = ManagementFactory.getClassLoadingMXBean();
    private static final int INTERPRETED = 0;
    private static final int C1 = 1;
    private static final int C2 = 4;

    public interface Work {
        int count();
        Work copy();
        int await(CountDownLatch latch) throws InterruptedException;
    }

    /** Defined anew by each loader. */
    public static class Tenant implements Work {
        private static final int[] STATE = new int[10];

        @Override
        public int count() {
            return ++STATE[3];
        }

        /** Reflection would leave something new that old objects of the class refer to, and leads to it. */
        @Override
        public Work copy() {
            return new Tenant();
        }

        /** Whoever waits here is in a frame of this class, and has nothing else of it. */
        @Override
        public int await(CountDownLatch latch) throws InterruptedException {
            int before = STATE[3];
            latch.await();
            return ++STATE[3] - before;
        }
    }

    static final class Loader extends ClassLoader {
        private static final byte[] TENANT = bytesOf(Tenant.class);

        Loader() {
            super(TestUnloading.class.getClassLoader());
        }

        private static byte[] bytesOf(Class<?> c) {
            String name = c.getName();
            try (InputStream in = c.getResourceAsStream(name.substring(name.lastIndexOf('.') + 1) + ".class")) {
                return in.readAllBytes();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        Class<?> define() {
            return defineClass(Tenant.class.getName(), TENANT, 0, TENANT.length);
        }
    }

    private static Class<?> newClass() {
        return new Loader().define();
    }

    /** Lives by itself, and not by a loader. */
    private static Class<?> newHidden() throws IllegalAccessException {
        return MethodHandles.lookup().defineHiddenClass(Loader.TENANT, true).lookupClass();
    }

    private static Work newWork(Class<?> c) {
        try {
            return (Work) c.getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    private static long count(String what) {
        try (var lines = Files.lines(Path.of("unloading.log"))) {
            return lines.filter(line -> line.contains(what)).count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static long ended()   { return count(" has ended after "); }
    private static long globals() { return count("Pause Full"); }

    // ---- What a class lives by

    /** A thread that is in a frame of a loader's class, and refers to it by nothing else. */
    private static final class Waiter {
        private final Object[] box;
        private final CountDownLatch latch = new CountDownLatch(1);
        private final AtomicReference<Object> result = new AtomicReference<>();
        private final Thread thread;

        Waiter(Work work, boolean isVirtual) {
            box = new Object[] {work};
            Runnable run = () -> {
                try {
                    result.set(take().await(latch));
                } catch (Throwable t) {
                    result.set(t);
                }
            };
            thread = isVirtual ? Thread.ofVirtual().unstarted(run) : Thread.ofPlatform().unstarted(run);
        }

        private Work take() {
            Work work = (Work) box[0];
            box[0] = null;
            return work;
        }

        static Waiter start(Work work, boolean isVirtual) throws Exception {
            Waiter waiter = new Waiter(work, isVirtual);
            waiter.thread.start();
            while (waiter.thread.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
            return waiter;
        }

        void end() throws InterruptedException {
            latch.countDown();
            thread.join();
            check(Integer.valueOf(1).equals(result.get()), "what a frame needs is lost: " + result.get());
        }
    }

    private static Class<?> newClass(int level) throws Exception {
        Class<?> c = newClass();
        if (level != INTERPRETED) {
            newWork(c).await(new CountDownLatch(0));    // resolves what it needs
            Method method = c.getMethod("await", CountDownLatch.class);
            check(WB.enqueueMethodForCompilation(method, level), "not compiled");
            while (!WB.isMethodCompiled(method)) {
                Thread.sleep(1);
            }
        }
        return c;
    }

    private static final int[] LEVELS = {INTERPRETED, C1, C2};

    private static final List<WeakReference<Class<?>>> live = new ArrayList<>();
    private static final List<WeakReference<Class<?>>> dead = new ArrayList<>();
    private static final List<WeakReference<Class<?>>> late = new ArrayList<>();
    private static final List<WeakReference<Work>> lateWork = new ArrayList<>();
    private static final List<Object> kept = new ArrayList<>();
    private static final List<Waiter> waiters = new ArrayList<>();
    private static Object instance;
    private static Object hidden;
    private static Object array;
    private static Object mirror;
    private static Object loader;
    private static volatile Work young;
    private static int sum;

    /** Compiled with the class of what it is called with. */
    private static void hot(Work work) {
        for (int i = 0; i < 200_000; i++) {
            sum += work.count();
        }
    }

    /** Kept until all is old. */
    private static Class<?> expect(List<WeakReference<Class<?>>> list, Class<?> c) {
        list.add(new WeakReference<>(c));
        kept.add(c);
        return c;
    }

    private static void makeOld() throws Exception {
        instance = newWork(expect(live, newClass()));
        hidden = newWork(expect(live, newHidden()));
        array = Array.newInstance(expect(live, newClass()), 3);
        mirror = expect(live, newClass());
        loader = expect(live, newClass()).getClassLoader();
        for (int level : LEVELS) {
            waiters.add(Waiter.start(newWork(expect(live, newClass(level))), false));
            waiters.add(Waiter.start(newWork(expect(live, newClass(level))), true));
        }
        hot(newWork(expect(dead, newClass())));
        expect(dead, newClass());
        expect(dead, newHidden());
        for (int level : LEVELS) {
            expect(dead, newClass(level));
        }
        for (int i = 0; i < 4; i++) {
            Work work = newWork(expect(late, newClass(C1)));
            kept.add(work.copy());
            lateWork.add(new WeakReference<>(work));
            kept.add(work);
        }
    }

    private static Work late(int i) {
        Work work = lateWork.get(i).get();
        check(work != null, "cleared before the cycle has ended");
        live.add(late.get(i));
        return work.copy();
    }

    /** The markers have not come to these classes, and will not. */
    private static Work needLate() throws Exception {
        young = late(0);
        waiters.add(Waiter.start(late(1), false));
        waiters.add(Waiter.start(late(2), true));
        return late(3);
    }

    private static void checkLive() {
        for (int i = 0; i < live.size(); i++) {
            check(!live.get(i).refersTo(null), "class " + i + " is in use, and its mirror is gone");
        }
    }

    /** A compiler that is at work on a method keeps its class until it is ready. */
    private static void checkDead() {
        for (int cycles = 0; cycles < 3 && !dead.stream().allMatch(weak -> weak.refersTo(null)); cycles++) {
            runCycle();
        }
        for (int i = 0; i < dead.size(); i++) {
            check(dead.get(i).refersTo(null), "class " + i + " of those that nobody uses is kept");
        }
    }

    private static void useAll(Work own) throws Exception {
        check(((Work) instance).count() == 1, "of an old instance");
        check(((Work) hidden).count() == 1, "of an instance of a hidden class");
        check(newWork(array.getClass().getComponentType()).count() == 1, "of an array");
        check(newWork((Class<?>) mirror).count() == 1, "of a class");
        check(newWork(((ClassLoader) loader).loadClass(Tenant.class.getName())).count() == 1, "of a loader");
        check(young.count() == 2, "of a young instance");
        check(own.count() == 2, "of a private instance");
        for (Waiter waiter : waiters) {
            waiter.end();
        }
    }

    private static void holders() throws Exception {
        makeOld();
        WB.fullGC();
        kept.clear();
        long globals = globals();
        long unloaded = CLASSES.getUnloadedClassCount();
        WB.concurrentGCAcquireControl();
        try {
            WB.concurrentGCRunTo(WB.BEFORE_MARKING_COMPLETED);
            Work own = needLate();
            WB.concurrentGCRunToIdle();
            checkLive();
            useAll(own);
            checkDead();
            own = null;
            dead.addAll(live);
            live.clear();
            waiters.clear();
            instance = hidden = array = mirror = loader = young = null;
            checkDead();
        } finally {
            WB.concurrentGCReleaseControl();
        }
        unloaded = CLASSES.getUnloadedClassCount() - unloaded;
        check(unloaded >= dead.size(), unloaded + " classes were unloaded, of " + dead.size());
        check(globals() == globals, "a global collection has come");
        System.out.println(unloaded + " classes were unloaded");
    }

    // ---- Cycles that keep all

    private static void runCycle() {
        WB.concurrentGCRunTo(WB.AFTER_MARKING_STARTED);
        WB.concurrentGCRunToIdle();
    }

    private static void kept(boolean globalsUnload) throws Exception {
        makeOld();
        WB.fullGC();
        kept.clear();
        long before = CLASSES.getUnloadedClassCount();
        WB.concurrentGCAcquireControl();
        try {
            WB.concurrentGCRunTo(WB.BEFORE_MARKING_COMPLETED);
            Work own = needLate();
            WB.concurrentGCRunToIdle();
            runCycle();
            checkLive();
            useAll(own);
            check(CLASSES.getUnloadedClassCount() == before, "a cycle has unloaded");
            for (WeakReference<Class<?>> weak : dead) {
                check(!weak.refersTo(null), "a cycle has cleared a class");
            }
        } finally {
            WB.concurrentGCReleaseControl();
        }
        WB.fullGC();
        long unloaded = CLASSES.getUnloadedClassCount() - before;
        check(globalsUnload == (unloaded >= dead.size()), unloaded + " classes were unloaded, of " + dead.size());
        if (globalsUnload) {
            fillMetaspace("Pause Full (Metadata GC Threshold) ");
        }
        check(count("Pause Remark (Metadata GC Threshold) ") == 0, "a cycle for metaspace has come");
    }

    // ---- Loaders come and go

    private static final int SLOTS = 64;
    private static final Work[] SHARED = new Work[SLOTS];
    private static final List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
    private static final AtomicReference<Throwable> FAILURE = new AtomicReference<>();
    private static volatile boolean stop;

    /** Old, young and private instances; what is taken from a slot was made by any thread, at any time. */
    private static void churn(long seed) {
        Random random = new Random(seed);
        Work[] own = new Work[8];
        try {
            while (!stop) {
                Class<?> c = newClass();
                synchronized (loaders) {
                    loaders.add(new WeakReference<>(c.getClassLoader()));
                }
                Work work = newWork(c);
                own[random.nextInt(own.length)] = work;
                switch (random.nextInt(4)) {
                    case 0 -> hot(work);
                    case 1 -> {
                        Waiter waiter = Waiter.start(work, true);
                        c = null;
                        work = null;
                        Thread.sleep(random.nextInt(20));
                        waiter.end();
                    }
                    default -> {
                        synchronized (SHARED) {
                            SHARED[random.nextInt(SLOTS)] = work;
                        }
                    }
                }
                synchronized (SHARED) {
                    Work shared = SHARED[random.nextInt(SLOTS)];
                    if (shared != null) {
                        check(newWork(shared.getClass()).count() > 0, "of a shared instance");
                    }
                }
                for (Work mine : own) {
                    check(mine == null || mine.count() > 0, "of a private instance");
                }
            }
        } catch (Throwable t) {
            FAILURE.compareAndSet(null, t);
            stop = true;
        }
    }

    private static void collectUntil(long cycles) throws Exception {
        for (int i = 0; ended() < cycles && FAILURE.get() == null; i++) {
            check(i < 2_000, ended() + " of " + cycles + " cycles have ended after " + i + " young collections");
            WB.youngGC();
            Thread.sleep(5);
        }
    }

    private static void churn() throws Exception {
        long seed = Utils.getRandomInstance().nextLong();
        long globals = globals();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            long threadSeed = seed + i;
            threads.add(new Thread(() -> churn(threadSeed)));
        }
        threads.forEach(Thread::start);
        collectUntil(ended() + 8);
        stop = true;
        for (Thread thread : threads) {
            thread.join();
        }
        if (FAILURE.get() != null) {
            throw new AssertionError("seed " + seed, FAILURE.get());
        }
        Arrays.fill(SHARED, null);
        long left = loaders.size();
        for (int i = 0; i < 5 && left > 0; i++) {
            collectUntil(ended() + 1);
            left = loaders.stream().filter(weak -> !weak.refersTo(null)).count();
        }
        long unloaded = CLASSES.getUnloadedClassCount();
        System.out.println("Seed " + seed + ": " + ended() + " cycles, " + loaders.size() + " loaders, " + unloaded +
                           " classes were unloaded");
        check(left == 0, left + " of " + loaders.size() + " loaders that nobody uses are kept");
        check(unloaded >= loaders.size(), unloaded + " classes were unloaded, of " + loaders.size() + " loaders");
        check(globals() == globals, "a global collection has come");
    }

    // ---- What begins a cycle

    private static final int LOADERS_AT_ONCE = 100;
    private static final int MOST_LOADERS = 200_000;
    private static final int CODE_STEP = 2 << 20;

    private static void fillMetaspace(String pause) {
        Work[] recent = new Work[50];
        int made = 0;
        while (count(pause) < 2 && made < MOST_LOADERS) {
            for (int i = 0; i < LOADERS_AT_ONCE; i++) {
                recent[made++ % recent.length] = newWork(newClass());
            }
        }
        System.out.println(made + " loaders, " + CLASSES.getUnloadedClassCount() + " classes were unloaded");
        check(count(pause) >= 2, "not twice " + pause + "after " + made + " loaders");
        check(CLASSES.getUnloadedClassCount() >= made / 4, "classes are not unloaded");
    }

    /** HotSpot looks at how much code there is when a method is compiled. */
    private static void fillCodeCache() throws Exception {
        Method method = TestUnloading.class.getDeclaredMethod("hot", Work.class);
        int steps = 0;
        for (; count("Pause Remark (CodeCache GC Threshold) ") == 0 && steps < 20; steps++) {
            check(WB.allocateCodeBlob(CODE_STEP, BlobType.All.id) != 0, "the code cache is full");
            WB.deoptimizeMethod(method);
            WB.enqueueMethodForCompilation(method, C1);
            Thread.sleep(100);
        }
        System.out.println(steps + " steps of the code cache");
        check(count("Pause Remark (CodeCache GC Threshold) ") > 0, "no cycle for code, after " + steps + " steps");
    }

    private static void thresholds() throws Exception {
        fillMetaspace("Pause Remark (Metadata GC Threshold) ");
        fillCodeCache();
        check(globals() == 0, "a global collection has come");
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "holders"    -> holders();
            case "kept"       -> kept(Boolean.parseBoolean(args[1]));
            case "churn"      -> churn();
            case "thresholds" -> thresholds();
            default           -> throw new IllegalArgumentException(args[0]);
        }
    }
}
