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
import java.lang.management.ManagementFactory;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import jdk.test.lib.Utils;
import jdk.test.whitebox.WhiteBox;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.debug
 * @summary What mutators hide from markers is alive when a cycle of concurrent marking has ended; what nothing refers to is not.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms64m -Xmx96m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:+LullCycleALot
 *                   -Xlog:gc+marking=debug:file=cycles.log
 *                   gc.lull.concurrent.TestConcurrentMarking 30
 */

/*
 * @test id=remark
 * @requires vm.gc.Lull & vm.debug
 * @summary The same where markers do nothing, and the remark has to find all.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms64m -Xmx96m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:+LullCycleALot
 *                   -Xlog:gc+marking=debug:file=cycles.log
 *                   -XX:+LullMarkInRemark
 *                   gc.lull.concurrent.TestConcurrentMarking 30
 */

/*
 * @test id=public
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with threads that have nothing private, with several workers and markers, and copies that fail.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms64m -Xmx96m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:+LullCycleALot
 *                   -Xlog:gc+marking=debug:file=cycles.log
 *                   -XX:+LullAlwaysPublic -XX:ParallelGCThreads=3 -XX:ConcGCThreads=2 -XX:-UseDynamicNumberOfGCThreads
 *                   -XX:LullEvacuationFailureALot=50 -XX:LullEvacuationMaxLivePercent=100
 *                   gc.lull.concurrent.TestConcurrentMarking 20
 */

/*
 * @test id=local
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with local collections at each tenth refill, and threads that change their mode often.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms64m -Xmx96m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:+LullCycleALot
 *                   -Xlog:gc+marking=debug:file=cycles.log
 *                   -XX:LullFlipModeALot=50 -XX:LullLocalCollectALot=10
 *                   gc.lull.concurrent.TestConcurrentMarking 15
 */

/*
 * @test id=wide
 * @requires vm.gc.Lull & vm.debug & vm.bits == 64
 * @summary The same without compressed references, and where what survives is old at once.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms64m -Xmx96m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:+LullCycleALot
 *                   -Xlog:gc+marking=debug:file=cycles.log
 *                   -XX:-UseCompressedOops -XX:-LullAgeSurvivors
 *                   gc.lull.concurrent.TestConcurrentMarking 20
 */

/*
 * @test id=headers
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with compact headers.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms64m -Xmx96m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:+LullCycleALot
 *                   -Xlog:gc+marking=debug:file=cycles.log
 *                   -XX:+UseCompactObjectHeaders
 *                   gc.lull.concurrent.TestConcurrentMarking 20
 */

/*
 * @test id=one
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with one worker in pauses.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms64m -Xmx96m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:+LullCycleALot
 *                   -Xlog:gc+marking=debug:file=cycles.log
 *                   -XX:ParallelGCThreads=1
 *                   gc.lull.concurrent.TestConcurrentMarking 15
 */

/*
 * @test id=aborted
 * @requires vm.gc.Lull & vm.debug
 * @summary The same where each fifth collection is a global one, which ends the cycle in whatever state it is, and moves what it may.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms64m -Xmx96m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:+LullCycleALot
 *                   -Xlog:gc+marking=debug:file=cycles.log
 *                   -XX:LullEvacuateALot=1 -XX:LullSlideALot=2
 *                   gc.lull.concurrent.TestConcurrentMarking 30 5
 */

/*
 * Threads move trees between the slots of old arrays, by turns through a field of an old object, a local variable, a
 * young object and the message of another thread, so that a marker sees neither the place from which a tree has gone
 * nor the one to which it comes. Collections run beside it. Then all trees are whole. Prints the seed.
 */
public class TestConcurrentMarking {
    static final WhiteBox WB = WhiteBox.getWhiteBox();

    static final int THREADS = 3;
    static final int SLOTS = 2_000;
    static final int DEPTH = 6;

    static final class Tree {
        final long number;
        Tree left;
        Tree right;

        Tree(long number, int depth) {
            this.number = number;
            if (depth > 0) {
                left = new Tree(2 * number, depth - 1);
                right = new Tree(2 * number + 1, depth - 1);
            }
        }

        // Of the whole tree; 0: it is not what it has to be.
        static long count(Tree tree, long number, int depth) {
            if (tree == null || tree.number != number) {
                return 0;
            }
            if (depth == 0) {
                return 1;
            }
            long left = count(tree.left, 2 * number, depth - 1);
            long right = count(tree.right, 2 * number + 1, depth - 1);
            return left == 0 || right == 0 ? 0 : 1 + left + right;
        }
    }

    static final class Holder {
        volatile Tree tree;
        Object padding;
    }

    static final Tree[][] ARRAYS = new Tree[4][SLOTS / 4];
    static final Holder[] HOLDERS = new Holder[64];
    static final Exchanger<Tree> EXCHANGER = new Exchanger<>();
    static final AtomicReference<Throwable> FAILURE = new AtomicReference<>();
    static final Object[] LOCKS = new Object[SLOTS];
    static final WeakReference<?>[] CLEARED = new WeakReference<?>[1_000];    // by mutators, at any time
    static volatile boolean stop;

    static Tree get(int slot)             { return ARRAYS[slot % 4][slot / 4]; }
    static void put(int slot, Tree tree)  { ARRAYS[slot % 4][slot / 4] = tree; }

    // Who has the locks of both slots moves what they hold: the lower one first.
    static void swap(Random random, Object[] young) {
        int a = random.nextInt(SLOTS);
        int b = random.nextInt(SLOTS);
        if (a == b) {
            return;
        }
        synchronized (LOCKS[Math.min(a, b)]) {
            synchronized (LOCKS[Math.max(a, b)]) {
                Tree tree = get(a);
                put(a, null);
                switch (random.nextInt(4)) {
                    case 0 -> {
                        Holder holder = HOLDERS[random.nextInt(HOLDERS.length)];
                        synchronized (holder) {
                            holder.tree = tree;
                            tree = null;
                            put(a, get(b));
                            put(b, holder.tree);
                            holder.tree = null;
                        }
                    }
                    case 1 -> {
                        young[0] = new Object[] {tree};
                        tree = null;
                        put(a, get(b));
                        put(b, null);
                        Thread.yield();
                        put(b, (Tree) ((Object[]) young[0])[0]);
                        young[0] = null;
                    }
                    case 2 -> {
                        // A part of a tree goes to where another one was, and back.
                        Tree other = get(b);
                        Tree part = tree.left;
                        tree.left = other.right;
                        other.right = null;
                        other.right = tree.left;
                        tree.left = part;
                        put(a, tree);
                    }
                    default -> {
                        put(a, get(b));
                        put(b, tree);
                    }
                }
            }
        }
    }

    // Replaces a tree by a new one, so that there is old garbage, and makes young garbage.
    static void replace(Random random) {
        int a = random.nextInt(SLOTS);
        synchronized (LOCKS[a]) {
            put(a, new Tree(random.nextInt(1_000_000) + 1, DEPTH));
        }
    }

    static void exchange(Random random) throws InterruptedException {
        int a = random.nextInt(SLOTS);
        synchronized (LOCKS[a]) {
            Tree tree = get(a);
            put(a, null);
            try {
                tree = EXCHANGER.exchange(tree, 200, TimeUnit.MICROSECONDS);
            } catch (TimeoutException e) {
                // Nobody else is there: it goes back.
            }
            put(a, tree);
        }
    }

    // A marker may be about to discover it.
    static void clear(Random random) {
        int slot = random.nextInt(CLEARED.length);
        CLEARED[slot].clear();
        CLEARED[slot] = new WeakReference<>(get(random.nextInt(SLOTS)));
    }

    static void mutate(long seed) {
        Random random = new Random(seed);
        Object[] young = new Object[1];
        try {
            while (!stop) {
                int what = random.nextInt(64);
                if (what == 0) {
                    exchange(random);
                } else if (what == 63) {
                    clear(random);
                } else if (what < 4) {
                    replace(random);
                } else {
                    swap(random, young);
                }
            }
        } catch (Throwable t) {
            FAILURE.compareAndSet(null, t);
            stop = true;
        }
    }

    static void verify() {
        for (int i = 0; i < SLOTS; i++) {
            synchronized (LOCKS[i]) {
                Tree tree = get(i);
                if (tree == null || Tree.count(tree, tree.number, DEPTH) != (2L << DEPTH) - 1) {
                    throw new AssertionError("slot " + i + " has a tree that is not whole");
                }
            }
        }
    }

    // Old objects that only weak references, or none, lead to are found dead without a global collection.
    static final class References {
        final ReferenceQueue<Object> queue = new ReferenceQueue<>();
        final List<Object> kept = new ArrayList<>();
        final List<WeakReference<Object>> toKept = new ArrayList<>();
        final List<WeakReference<Object>> toDropped = new ArrayList<>();
        final List<PhantomReference<Object>> phantoms = new ArrayList<>();
        List<Object> dropped = new ArrayList<>();

        References() {
            for (int i = 0; i < 1_000; i++) {
                Object keep = new Object();
                Object drop = new Object();
                kept.add(keep);
                dropped.add(drop);
                toKept.add(new WeakReference<>(keep, queue));
                toDropped.add(new WeakReference<>(drop, queue));
                phantoms.add(new PhantomReference<>(drop, queue));
            }
        }

        void verify() throws InterruptedException {
            for (int i = 0; i < toKept.size(); i++) {
                if (toKept.get(i).get() != kept.get(i)) {
                    throw new AssertionError("weak reference " + i + " to what is strongly reachable is cleared");
                }
            }
            for (WeakReference<Object> reference : toDropped) {
                if (!reference.refersTo(null)) {
                    throw new AssertionError("a weak reference to a dead old object is not cleared");
                }
            }
            Set<Object> enqueued = Collections.newSetFromMap(new IdentityHashMap<>());
            while (enqueued.size() < toDropped.size() + phantoms.size()) {
                Reference<?> reference = queue.remove(10_000);
                if (reference == null) {
                    throw new AssertionError("only " + enqueued.size() + " references are enqueued");
                }
                enqueued.add(reference);
            }
            if (!enqueued.containsAll(toDropped) || !enqueued.containsAll(phantoms)) {
                throw new AssertionError("others are enqueued than those to dead objects");
            }
        }
    }

    static long ended() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("cycles.log"))) {
            return lines.filter(line -> line.contains(" has ended after ")).count();
        }
    }

    static void collectUntil(long cycles) throws Exception {
        for (int i = 0; ended() < cycles; i++) {
            if (i > 2_000) {
                throw new AssertionError(ended() + " of " + cycles + " cycles have ended after " + i + " young collections");
            }
            WB.youngGC();
            Thread.sleep(5);
        }
    }

    static long globalCollections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
            .filter(bean -> bean.getName().equals("Lull Global")).mapToLong(bean -> bean.getCollectionCount()).sum();
    }

    public static void main(String[] args) throws Exception {
        long seed = Utils.getRandomInstance().nextLong();
        int rounds = Integer.parseInt(args[0]);
        int globalInterval = args.length > 1 ? Integer.parseInt(args[1]) : Integer.MAX_VALUE;
        Arrays.setAll(LOCKS, i -> new Object());
        Arrays.setAll(HOLDERS, i -> new Holder());
        for (int i = 0; i < SLOTS; i++) {
            put(i, new Tree(i + 1, DEPTH));
        }
        Arrays.setAll(CLEARED, i -> new WeakReference<>(new Object()));
        References references = new References();
        WB.fullGC();                       // all of it is old
        long globalBefore = globalCollections();

        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            long threadSeed = seed + i;
            threads.add(new Thread(() -> mutate(threadSeed)));
        }
        threads.forEach(Thread::start);
        references.dropped = null;
        for (int round = 0; round < rounds && FAILURE.get() == null; round++) {
            if (round % globalInterval == globalInterval - 1) {
                WB.fullGC();
            } else {
                WB.youngGC();
            }
            verify();
            Thread.sleep(round % 4);
        }
        collectUntil(ended() + 3);
        stop = true;
        for (Thread thread : threads) {
            thread.join();
        }
        if (FAILURE.get() != null) {
            throw new AssertionError("seed " + seed, FAILURE.get());
        }
        verify();
        collectUntil(ended() + 2);
        verify();
        references.verify();
        System.out.println("Seed " + seed + ": " + ended() + " cycles, global collections meanwhile: " +
                           (globalCollections() - globalBefore));
    }
}
