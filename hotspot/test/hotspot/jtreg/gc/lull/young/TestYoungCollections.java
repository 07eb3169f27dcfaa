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


package gc.lull.young;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import jdk.test.lib.Utils;
import jdk.test.whitebox.WhiteBox;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary Whatever is stored into an old object, in whatever way, is alive after a young collection; what nothing refers to is not.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullYoungCollections
 *                   gc.lull.young.TestYoungCollections 60
 */

/*
 * @test id=interpreter
 * @requires vm.gc.Lull & vm.debug
 * @summary The same in the interpreter.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m -Xint
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullYoungCollections
 *                   -XX:LullEvacuationMaxLivePercent=100
 *                   gc.lull.young.TestYoungCollections 25
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull & vm.compiler1.enabled & vm.debug
 * @summary The same in C1's code.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m
 *                   -XX:TieredStopAtLevel=1 -XX:CompileCommand=quiet -XX:CompileCommand=compileonly,gc.lull.young.*::* -Xcomp
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullYoungCollections
 *                   -XX:LullEvacuationMaxLivePercent=100
 *                   gc.lull.young.TestYoungCollections 40
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull & vm.compiler2.enabled & vm.debug
 * @summary The same in C2's code.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m
 *                   -XX:-TieredCompilation -XX:CompileCommand=quiet -XX:CompileCommand=compileonly,gc.lull.young.*::* -Xcomp
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullYoungCollections
 *                   -XX:LullEvacuationMaxLivePercent=100
 *                   gc.lull.young.TestYoungCollections 40
 */

/*
 * @test id=publicMode
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with threads that have nothing private.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullYoungCollections -XX:+LullAlwaysPublic
 *                   -XX:LullEvacuationMaxLivePercent=100
 *                   gc.lull.young.TestYoungCollections 60
 */

/*
 * @test id=flip
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with threads that change their mode often, local collections at each tenth refill, and young collections wherever memory is lacking.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx48m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullYoungCollections
 *                   -XX:LullFlipModeALot=50 -XX:LullLocalCollectALot=10 -XX:+LullYoungALot
 *                   gc.lull.young.TestYoungCollections 25
 */

/*
 * @test id=evacuating
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with global collections that move what they may.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullYoungCollections
 *                   -XX:LullEvacuateALot=1 -XX:LullSlideALot=2 -XX:LullEvacuationFailureALot=1000
 *                   gc.lull.young.TestYoungCollections 25
 */

/*
 * @test id=notAging
 * @requires vm.gc.Lull
 * @summary The same where what survives is old at once.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullYoungCollections -XX:-LullAgeSurvivors
 *                   gc.lull.young.TestYoungCollections 25
 */

/*
 * @test id=workers
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with several workers, and some copies that fail.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullYoungCollections -XX:+LullAlwaysPublic
 *                   -XX:ParallelGCThreads=4 -XX:-UseDynamicNumberOfGCThreads -XX:LullEvacuationFailureALot=50
 *                   -XX:LullEvacuationMaxLivePercent=100
 *                   gc.lull.young.TestYoungCollections 40
 */

/*
 * @test id=headers
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with compact headers.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullYoungCollections -XX:+UseCompactObjectHeaders
 *                   -XX:LullEvacuationMaxLivePercent=100
 *                   gc.lull.young.TestYoungCollections 25
 */

/*
 * @test id=wideOops
 * @requires vm.gc.Lull & vm.bits == 64 & vm.debug
 * @summary The same without compressed references.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullYoungCollections -XX:-UseCompressedOops
 *                   -XX:LullEvacuationMaxLivePercent=100
 *                   gc.lull.young.TestYoungCollections 25
 */

/*
 * Each of several threads has old objects of all shapes, and in each round stores new values into some of them in all
 * ways there are; one of them collects. Then all values are compared with what they have to be. Prints the seed.
 */
// -XX:LullEvacuationMaxLivePercent=100: survivors stay young in each young collection, though all of them live on.
public class TestYoungCollections {
    static final WhiteBox WB = WhiteBox.getWhiteBox();

    static final int THREADS = 3;
    static final int SLOTS = 200;
    static final int LARGE = 40_000;

    static final class Value {
        final long number;
        final String text;
        final Value next;

        Value(long number) {
            this.number = number;
            this.text = "value " + number;
            this.next = number % 3 == 0 ? new Value(number + 1) : null;
        }
    }

    static final class Holder {
        static final VarHandle BY_HANDLE;
        static {
            try {
                BY_HANDLE = MethodHandles.lookup().findVarHandle(Holder.class, "byHandle", Object.class);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        Object field;
        volatile Object ofVolatile;
        Object byHandle;
        final AtomicReference<Object> atomic = new AtomicReference<>();
        final Object[] array = new Object[9];
        Object[] copied = new Object[20];
        final ThreadLocal<Object> local = new ThreadLocal<>();
    }

    static final Worker[] workers = new Worker[THREADS];
    static volatile Object stat;
    static final ConcurrentHashMap<Long, Object> map = new ConcurrentHashMap<>();

    static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    static void check(Object object, long number) {
        Value value = (Value) object;
        check(value.number == number && value.text.equals("value " + number), "value " + number);
        check((number % 3 == 0) == (value.next != null), "the next of value " + number);
        if (value.next != null) {
            check(value.next.number == number + 1 && value.next.text.equals("value " + (number + 1)), "value " + (number + 1));
        }
    }

    static final class Worker extends Thread {
        static final int WAYS = 12;

        final Random random;
        final CyclicBarrier barrier;
        final int number;
        final int rounds;
        final Holder[] holders = new Holder[SLOTS];
        final long[][] expected = new long[SLOTS][WAYS];       // 0: null
        final Object[] large = new Object[LARGE];
        final long[] expectedLarge = new long[LARGE];
        final AtomicReferenceArray<Object> atomics = new AtomicReferenceArray<>(SLOTS);
        final ReferenceQueue<Object> queue = new ReferenceQueue<>();
        final List<Reference<Object>> weak = new ArrayList<>();
        volatile Throwable failure;

        Worker(int number, int rounds, long seed, CyclicBarrier barrier) {
            this.number = number;
            this.rounds = rounds;
            this.random = new Random(seed + number);
            this.barrier = barrier;
            for (int i = 0; i < SLOTS; i++) {
                holders[i] = new Holder();
            }
        }

        long fresh() {
            return 1 + random.nextInt(Integer.MAX_VALUE - 2);
        }

        void store(Holder holder, int slot, int way) {
            long n = fresh();
            expected[slot][way] = n;
            Value value = new Value(n);
            switch (way) {
                case 0 -> holder.field = value;
                case 1 -> holder.ofVolatile = value;
                case 2 -> Holder.BY_HANDLE.setRelease(holder, value);
                case 3 -> check(Holder.BY_HANDLE.compareAndSet(holder, holder.byHandle, value), "nobody else writes it");
                case 4 -> holder.atomic.getAndSet(value);
                case 5 -> holder.array[slot % holder.array.length] = value;
                case 6 -> {
                    Object[] source = new Object[holder.copied.length];
                    source[7] = value;
                    System.arraycopy(source, 0, holder.copied, 0, source.length);
                }
                case 7 -> holder.copied = Arrays.copyOf(new Object[] {null, value}, 20);
                case 8 -> atomics.set(slot, value);
                case 9 -> holder.local.set(value);
                case 10 -> map.put((long) number * SLOTS + slot, value);
                case 11 -> {
                    Object[] cloned = {value, holder};
                    holder.array[8] = cloned.clone();
                }
                default -> throw new AssertionError(way);
            }
            // These two have one place, as the next two, and these.
            if (way == 2 || way == 3) {
                expected[slot][way ^ 1] = 0;
            } else if (way == 6 || way == 7) {
                expected[slot][way ^ 1] = 0;
            }
        }

        Object load(Holder holder, int slot, int way) {
            return switch (way) {
                case 0 -> holder.field;
                case 1 -> holder.ofVolatile;
                case 2, 3 -> holder.byHandle;
                case 4 -> holder.atomic.get();
                case 5 -> holder.array[slot % holder.array.length];
                case 6 -> holder.copied[7];
                case 7 -> holder.copied[1];
                case 8 -> atomics.get(slot);
                case 9 -> holder.local.get();
                case 10 -> map.get((long) number * SLOTS + slot);
                default -> ((Object[]) holder.array[8])[0];
            };
        }

        void mutate() {
            for (int i = 0; i < SLOTS / 4; i++) {
                int slot = random.nextInt(SLOTS);
                // Of the array one element is of way 11.
                int way = random.nextInt(WAYS);
                if (way == 5 && slot % 9 == 8) {
                    continue;
                }
                store(holders[slot], slot, way);
            }
            for (int i = 0; i < 20; i++) {
                int at = random.nextInt(LARGE);
                expectedLarge[at] = fresh();
                large[at] = new Value(expectedLarge[at]);
            }
            // Moves references of new objects within one old array, and from one to another.
            int from = random.nextInt(LARGE - 100);
            int to = random.nextInt(LARGE - 100);
            System.arraycopy(large, from, large, to, 100);
            System.arraycopy(expectedLarge, from, expectedLarge, to, 100);
        }

        void verify() {
            for (int slot = 0; slot < SLOTS; slot++) {
                for (int way = 0; way < WAYS; way++) {
                    if (expected[slot][way] != 0) {
                        check(load(holders[slot], slot, way), expected[slot][way]);
                    }
                }
            }
            for (int i = 0; i < LARGE; i++) {
                if (expectedLarge[i] != 0) {
                    check(large[i], expectedLarge[i]);
                }
            }
        }

        // Public, and garbage at once; or only softly alive, which is alive.
        void makeReferences() {
            weak.clear();
            for (int i = 0; i < 20; i++) {
                Value value = new Value(-7 - i);
                stat = value;
                weak.add(i % 2 == 0 ? new WeakReference<>(value, queue) : new PhantomReference<>(value, queue));
            }
            stat = null;
            holders[0].array[7] = new SoftReference<>(new Value(77));
        }

        void verifyReferences() {
            for (Reference<Object> reference : weak) {
                check(reference.refersTo(null), "a young collection clears references to young garbage");
            }
            check(((SoftReference<?>) holders[0].array[7]).get(), 77);
        }

        @Override
        public void run() {
            try {
                for (int round = 0; round < rounds; round++) {
                    mutate();
                    makeReferences();
                    if (round % 5 == 4) {
                        LockSupport.parkNanos(1000);
                    }
                    barrier.await();
                    if (number == 0) {
                        if (round % 10 == 7) {
                            System.gc();
                        } else {
                            WB.youngGC();
                        }
                    }
                    barrier.await();
                    verify();
                    verifyReferences();
                    for (int i = 0; i < 1000; i++) {
                        stat = new byte[random.nextInt(2000)];
                    }
                }
            } catch (BrokenBarrierException | InterruptedException e) {
                // another one has failed
            } catch (Throwable t) {
                failure = t;
                System.out.println("thread " + number + " failed");
                t.printStackTrace(System.out);
                for (Worker worker : workers) {
                    worker.interrupt();     // the barrier is broken wherever it is
                }
            }
        }
    }

    // Frames of virtual threads, in chunks that have become old.
    static void virtualThreads(int count) throws Exception {
        List<Thread> threads = new ArrayList<>();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        for (int i = 0; i < count; i++) {
            int number = i;
            threads.add(Thread.ofVirtual().start(() -> {
                try {
                    for (int round = 0; round < 10; round++) {
                        Value value = new Value(number * 100L + round + 1);
                        LockSupport.parkNanos(100_000);
                        check(value, number * 100L + round + 1);
                    }
                } catch (Throwable t) {
                    failure.set(t);
                }
            }));
        }
        for (int i = 0; i < 20; i++) {
            WB.youngGC();
            Thread.sleep(1);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure.get() != null) {
            throw new AssertionError("in a virtual thread", failure.get());
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        long seed = Utils.getRandomInstance().nextLong();
        CyclicBarrier barrier = new CyclicBarrier(THREADS);
        for (int i = 0; i < THREADS; i++) {
            workers[i] = new Worker(i, rounds, seed, barrier);
        }
        WB.youngGC();
        WB.youngGC();       // they are old now
        for (Worker worker : workers) {
            worker.start();
        }
        for (Worker worker : workers) {
            worker.join();
        }
        for (Worker worker : workers) {
            if (worker.failure != null) {
                throw new AssertionError("thread " + worker.number, worker.failure);
            }
        }
        virtualThreads(200);
    }
}
