// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;

/**
 * Old trees that change their places while they are marked: the last reference to one moves between arrays, and over a thread's stack. Some are
 * reached over References alone, over frames of parked virtual threads, over static fields. Each tree has a number in each of its nodes, and is
 * compared wherever it is taken up. What nothing refers to any more but a weak reference goes at some time; what is referred to never does.
 *
 * <p>{@code java Marked TREES SECONDS THREADS}. Prints one line: {@code moved= compared= cleared= wrong=}.
 */
public class Marked {
    static final int DEPTH = 5;
    static final int PARTS = 8;
    static final long PART_NS = 1_500_000_000L;

    static final class Node {
        final long number;
        Node left;
        Node right;
        final byte[] weight;

        Node(long number, int depth) {
            this.number = number;
            weight = new byte[(int) (number % 200)];
            if (depth > 0) {
                left = new Node(number, depth - 1);
                right = new Node(number, depth - 1);
            }
        }

        long wrong(long number, int depth) {
            if (this.number != number || weight.length != number % 200 || (left == null) != (depth == 0)) {
                return 1;
            }
            return depth == 0 ? 0 : left.wrong(number, depth - 1) + right.wrong(number, depth - 1);
        }

        long wrong() {
            return wrong(number, DEPTH);
        }
    }

    /** A class with static fields of its own in each loader that loads it. */
    static Node inAStaticField;

    /** Places of trees: some in one long array, others behind an object each. */
    static final class Holder {
        Node node;
        Reference<Node> reference;
    }

    static volatile Node[] array;
    static volatile Holder[] holders;
    static volatile long wrong;
    static volatile boolean stop;

    static synchronized void wrong(long count) {
        wrong += count;
    }

    /** Swaps trees between places of its own share of them: nobody else does. */
    static long move(int me, int threads, int seed, List<WeakReference<Node>> dropped, ReferenceQueue<Node> queue) {
        SplittableRandom random = new SplittableRandom(seed);
        int share = array.length / threads;
        int base = me * share;
        int part = share / PARTS;
        long start = System.nanoTime();
        long moved = 0;
        List<Reference<?>> phantoms = new ArrayList<>();
        while (!stop) {
            // A part for a second or two, then another one: what was moved there must live by where it is.
            int begin = base + (int) ((System.nanoTime() - start) / PART_NS % PARTS) * part;
            int from = begin + random.nextInt(part);
            Node inHand = array[from];
            array[from] = null;
            Holder holder = holders[begin + random.nextInt(part)];
            Node other = holder.node;
            moved++;
            // Most moves are nothing else: many of them fall between two pages that are sent.
            if (moved % 64 != 0) {
                holder.node = inHand;
                array[from] = other;
                continue;
            }
            wrong(inHand.wrong());
            switch (random.nextInt(8)) {
                case 0 -> {
                    // What was in hand goes, but for who looks whether it does.
                    dropped.add(new WeakReference<>(inHand));
                    phantoms.add(new PhantomReference<>(inHand, queue));
                    inHand = new Node(random.nextInt(1 << 30), DEPTH);
                }
                case 1 -> inHand.left = new Node(inHand.number, DEPTH - 1);
                default -> { }
            }
            holder.reference = random.nextInt(3) == 0 ? new SoftReference<>(inHand) : new WeakReference<>(inHand);
            holder.node = inHand;
            if (holder.reference.get() != inHand) {
                throw new AssertionError("a tree that a field keeps is gone");
            }
            array[from] = other;
            wrong(other.wrong());
        }
        Reference.reachabilityFence(phantoms);
        return moved;
    }

    /** Keeps a tree on its stack alone, for a while: over a park, so that its frames are in the heap. */
    static void park(Node node, CountDownLatch latch) {
        long number = node.number;
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        wrong(node.wrong(number, DEPTH));
    }

    public static void main(String[] args) throws InterruptedException {
        int trees = Integer.parseInt(args[0]);
        int seconds = Integer.parseInt(args[1]);
        int threads = Integer.parseInt(args[2]);
        SplittableRandom random = new SplittableRandom(1);
        array = new Node[trees];
        holders = new Holder[trees];
        for (int i = 0; i < trees; i++) {
            array[i] = new Node(random.nextInt(1 << 30), DEPTH);
            holders[i] = new Holder();
            holders[i].node = new Node(random.nextInt(1 << 30), DEPTH);
        }
        inAStaticField = new Node(77, DEPTH);
        CountDownLatch latch = new CountDownLatch(1);
        List<Thread> parked = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            Node node = new Node(1000 + i, DEPTH);
            parked.add(Thread.ofVirtual().start(() -> park(node, latch)));
        }
        ReferenceQueue<Node> queue = new ReferenceQueue<>();
        List<List<WeakReference<Node>>> dropped = new ArrayList<>();
        long[] moved = new long[threads];
        Thread[] all = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            int me = t;
            List<WeakReference<Node>> mine = new ArrayList<>();
            dropped.add(mine);
            all[t] = new Thread(() -> moved[me] = move(me, threads, me + 7, mine, queue));
            all[t].start();
        }
        long enqueued = 0;
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end) {
            enqueued += queue.remove(100) != null ? 1 : 0;
        }
        stop = true;
        for (Thread thread : all) {
            thread.join();
        }
        latch.countDown();
        for (Thread thread : parked) {
            thread.join();
        }
        long compared = 2L * trees;
        for (int i = 0; i < trees; i++) {
            wrong(array[i].wrong());
            wrong(holders[i].node.wrong());
        }
        wrong(inAStaticField.wrong(77, DEPTH));
        long cleared = 0;
        long still = 0;
        for (List<WeakReference<Node>> mine : dropped) {
            for (WeakReference<Node> reference : mine) {
                Node node = reference.get();
                cleared += node == null ? 1 : 0;
                still += node == null ? 0 : node.wrong();
            }
        }
        wrong(still);
        long sum = 0;
        for (long count : moved) {
            sum += count;
        }
        System.out.println("moved=" + sum + " compared=" + compared + " cleared=" + cleared + " enqueued=" + enqueued + " wrong=" + wrong);
        System.exit(wrong == 0 ? 0 : 1);
    }
}
