// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Publications SECONDS THREADS SEED: threads make small private graphs, publish each by one of the kinds of stores, and walk what
 * others have published. A graph's root has the sum of its nodes, which the receiver computes again. Prints how many it has walked.
 */
public class Publications {
    private static final int SLOTS = 64;
    private static final int KINDS = 9;

    static final class Node {
        final int number;
        Node left;
        Node right;
        Object payload;

        Node(int number) {
            this.number = number;
        }
    }

    /** Public from its first store on; a field of it is where a graph is published. */
    static final class Holder {
        Parcel parcel;
        volatile Parcel last;
    }

    record Parcel(Node root, long sum) { }

    private static final VarHandle PARCEL;
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Object[].class);

    static {
        try {
            PARCEL = MethodHandles.lookup().findVarHandle(Holder.class, "parcel", Parcel.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final Holder[] holders = new Holder[SLOTS];
    private static final Object[] array = new Object[SLOTS];
    private static final AtomicReferenceArray<Parcel> atomics = new AtomicReferenceArray<>(SLOTS);
    private static final AtomicReference<Parcel> exchanged = new AtomicReference<>();
    private static Parcel field;
    private static volatile Parcel volatileField;
    private static volatile Throwable failure;

    private static Node make(Random random, int depth) {
        Node node = new Node(random.nextInt(1000));
        if (depth > 0 && random.nextInt(4) > 0) {
            node.left = make(random, depth - 1);
        }
        if (depth > 0 && random.nextInt(4) > 0) {
            node.right = random.nextInt(5) == 0 ? node.left : make(random, depth - 1);
        }
        node.payload = switch (random.nextInt(4)) {
            case 0 -> new int[] {node.number};
            case 1 -> new Object[] {new int[] {node.number}, "text"};
            default -> null;
        };
        return node;
    }

    private static long sum(Node node) {
        if (node == null) {
            return 0;
        }
        Object payload = node.payload instanceof Object[] objects ? objects[0] : node.payload;
        if (payload != null && ((int[]) payload)[0] != node.number) {
            throw new AssertionError("a payload is " + ((int[]) payload)[0] + " and not " + node.number);
        }
        return node.number + 3 * sum(node.left) + 5 * sum(node.right);
    }

    private static void publish(int kind, int slot, Parcel parcel) {
        switch (kind) {
            case 0 -> field = parcel;
            case 1 -> volatileField = parcel;
            case 2 -> holders[slot].parcel = parcel;
            case 3 -> array[slot] = parcel;
            case 4 -> atomics.setRelease(slot, parcel);
            case 5 -> PARCEL.compareAndSet(holders[slot], holders[slot].parcel, parcel);
            case 6 -> System.arraycopy(new Object[] {parcel}, 0, array, slot, 1);
            case 7 -> ELEMENT.setVolatile(array, slot, parcel);
            default -> holders[slot].last = exchanged.getAndSet(parcel);
        }
    }

    private static Parcel receive(int kind, int slot) {
        return switch (kind) {
            case 0 -> field;
            case 1 -> volatileField;
            case 2, 5 -> holders[slot].parcel;
            case 3, 6, 7 -> (Parcel) array[slot];
            case 4 -> atomics.getAcquire(slot);
            default -> holders[slot].last;
        };
    }

    private static long work(Random random, long deadline) {
        long walked = 0;
        while (System.nanoTime() < deadline && failure == null) {
            for (int i = 0; i < 1000; i++) {
                Node root = make(random, random.nextInt(4));
                publish(random.nextInt(KINDS), random.nextInt(SLOTS), new Parcel(root, sum(root)));
                // No receiver has a happens-before edge from a plain store: the fields of a record are final, and so are seen; those of
                // the graph are plain, and on x86 stores and loads keep their order.
                Parcel parcel = receive(random.nextInt(KINDS), random.nextInt(SLOTS));
                if (parcel != null) {
                    long sum = sum(parcel.root());
                    if (sum != parcel.sum()) {
                        throw new AssertionError("a sum is " + sum + " and not " + parcel.sum());
                    }
                    walked++;
                }
            }
        }
        return walked;
    }

    public static void main(String[] args) throws Exception {
        long deadline = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        Thread[] threads = new Thread[Integer.parseInt(args[1])];
        long seed = Long.parseLong(args[2]);
        for (int i = 0; i < SLOTS; i++) {
            holders[i] = new Holder();
        }
        long[] walked = new long[threads.length];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            threads[i] = new Thread(() -> {
                try {
                    walked[number] = work(new Random(seed + number), deadline);
                } catch (Throwable t) {
                    failure = t;
                }
            });
            threads[i].start();
        }
        long sum = 0;
        for (int i = 0; i < threads.length; i++) {
            threads[i].join();
            sum += walked[i];
        }
        if (failure != null) {
            throw new AssertionError("seed " + seed, failure);
        }
        System.out.println("walked " + sum);
    }
}
