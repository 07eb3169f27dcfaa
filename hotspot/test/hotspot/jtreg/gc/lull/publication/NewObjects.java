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

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Random;

/**
 * Stores into objects that are new: some before the object is published, some after, some on one path only. What is stored is
 * private until then. A second thread reads all that is public; the heap is verified at each collection, and with
 * -XX:+LullCheckElision each store whose barrier C2 has left out.
 *
 * Not a test by itself: see TestElision, and gc/lull/stress/TestCompilerSeeds.
 */
public class NewObjects {
    /** What is stored, and what it leads to. */
    static final class Value {
        final int number;
        final Object[] parts;

        Value(int number) {
            this.number = number;
            this.parts = new Object[] {new int[] {number}, null};
            this.parts[1] = this;
        }

        void check() {
            if (((int[]) parts[0])[0] != number || parts[1] != this) {
                throw new AssertionError("value " + number + " is not as it was made");
            }
        }
    }

    static class Node implements Cloneable {
        Object item;
        Object other;
        Node next;
        volatile Node published;

        Node() {}

        Node(Object item) {
            this.item = item;
        }

        Node copy() {
            try {
                return (Node) clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private static final VarHandle ITEM;
    private static final VarHandle PUBLISHED;
    static {
        try {
            ITEM = MethodHandles.lookup().findVarHandle(Node.class, "item", Object.class);
            PUBLISHED = MethodHandles.lookup().findVarHandle(Node.class, "published", Node.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final Object[] RING = new Object[1024];
    private static final Node TAIL = new Node();
    private static volatile boolean done;
    private static volatile Throwable failure;

    private interface Shape {
        Object make(int n, boolean c, Object v);
    }

    // ---- Stored to before anybody can know the object.

    private static Object captured(int n, boolean c, Object v) {
        return new Node(v);
    }

    private static Object conditional(int n, boolean c, Object v) {
        Node o = new Node();
        if (c) {
            o.item = v;
        }
        return o;
    }

    private static Object bothPaths(int n, boolean c, Object v) {
        Node o = new Node();
        if (c) {
            o.item = v;
        } else {
            o.other = v;
        }
        return o;
    }

    private static Object element(int n, boolean c, Object v) {
        Object[] a = new Object[8];
        a[n & 7] = v;
        return a;
    }

    private static Object elements(int n, boolean c, Object v) {
        Object[] a = new Object[n & 31];
        for (int i = 0; i < a.length; i++) {
            a[i] = v;
        }
        return a;
    }

    private static Object exchanged(int n, boolean c, Object v) {
        Node o = new Node();
        ITEM.compareAndSet(o, null, v);
        Object old = ITEM.getAndSet(o, c ? v : o);
        return o;
    }

    private static Object itself(int n, boolean c, Object v) {
        Node o = new Node();
        if (c) {
            o.next = o;
        }
        o.item = v;
        return o;
    }

    private static Object nested(int n, boolean c, Object v) {
        Node o = new Node(new Node(new Node(v)));
        if (c) {
            o.other = new Node(v);
        }
        return o;
    }

    // ---- Published first, or perhaps.

    private static Object published(int n, boolean c, Object v) {
        Node o = new Node();
        TAIL.item = o;
        o.item = v;
        return o;
    }

    private static Object publishedFirst(int n, boolean c, Object v) {
        Node o = new Node();
        TAIL.published = o;
        o.item = v;
        o.other = v;
        return o;
    }

    private static Object publishedOnOnePath(int n, boolean c, Object v) {
        Node o = new Node();
        if (c) {
            TAIL.published = o;
        }
        o.item = v;
        return o;
    }

    private static Object publishedBetween(int n, boolean c, Object v) {
        Node o = new Node();
        if (c) {
            o.item = v;
        } else {
            TAIL.published = o;
            o.other = v;
        }
        o.next = c ? null : o;
        return o;
    }

    private static Object publishedInArray(int n, boolean c, Object v) {
        Object[] a = new Object[4];
        RING[n & 1023] = a;
        a[n & 3] = v;
        return a;
    }

    private static Object publishedByExchange(int n, boolean c, Object v) {
        Node o = new Node();
        if (c) {
            PUBLISHED.setRelease(TAIL, o);
        } else {
            PUBLISHED.getAndSet(TAIL, o);
        }
        o.item = v;
        return o;
    }

    private static Object publishedThroughAnother(int n, boolean c, Object v) {
        Node o = new Node();
        Node holder = new Node(o);
        TAIL.published = holder;
        o.item = v;
        return holder;
    }

    private static Object publishedInCopy(int n, boolean c, Object v) {
        Node o = new Node();
        Object[] a = {o, v};
        System.arraycopy(a, 0, RING, n & 511, 2);
        o.item = v;
        return a;
    }

    private static Object publishedByLock(int n, boolean c, Object v) {
        Node o = new Node();
        synchronized (o) {
            if (c) {
                TAIL.published = o;
            }
            o.item = v;
        }
        return o;
    }

    // ---- More than one new object.

    private static Object each(int n, boolean c, Object v) {
        Node a = new Node();
        Node b = new Node();
        a.item = b;
        b.item = a;
        a.other = v;
        if (c) {
            TAIL.published = b;
        }
        b.other = v;
        return a;
    }

    private static Object either(int n, boolean c, Object v) {
        Node a = new Node();
        if (c) {
            a.item = v;
        } else {
            a = new Node();
            TAIL.published = a;
        }
        a.other = v;
        return a;
    }

    private static Object chain(int n, boolean c, Object v) {
        Node first = new Node();
        Node last = first;
        for (int i = 0; i < (n & 15); i++) {
            Node o = new Node();
            if ((i & 1) == 0) {
                o.item = v;
            }
            last.next = o;
            if (i == 7 && c) {
                TAIL.published = first;
            }
            o.other = v;
            last = o;
        }
        return first;
    }

    private static Object copies(int n, boolean c, Object v) {
        Node o = new Node(v);
        Node copy = o.copy();
        if (c) {
            TAIL.published = copy;
        }
        copy.other = v;
        Object[] a = {copy, v};
        Object[] b = a.clone();
        b[n & 1] = o;
        return b;
    }

    // ---- Safepoints and calls between.

    private static Object acrossAllocation(int n, boolean c, Object v) {
        Node o = new Node();
        Object[] a = new Object[n & 63];
        o.item = a;
        o.other = v;
        return o;
    }

    private static Object acrossLoop(int n, boolean c, Object v) {
        Node o = new Node();
        int x = n;
        while (x > 1) {
            x = (x & 1) == 0 ? x >> 1 : (3 * x + 1) & 0xffff;
        }
        o.item = v;
        return o;
    }

    private static Object acrossCall(int n, boolean c, Object v) {
        Node o = new Node();
        if (c) {
            Thread.yield();
        }
        o.item = v;
        return o;
    }

    /** One long call: it is compiled while it runs. */
    static void longCall(int turns) {
        Node kept = new Node();
        for (int i = 0; i < turns; i++) {
            Value v = new Value(i);
            Node o = new Node();
            if ((i & 1) == 0) {
                o.item = v;
            }
            if ((i & 6) == 0) {
                TAIL.published = o;
            }
            o.other = v;
            kept.next = o;
            if ((i & 255) == 0) {
                RING[i & 1023] = kept;
                kept.item = v;
                kept = new Node();
                kept.item = o;
            }
        }
    }

    private static final List<Shape> SHAPES = List.of(
        NewObjects::captured, NewObjects::conditional, NewObjects::bothPaths, NewObjects::element, NewObjects::elements,
        NewObjects::exchanged, NewObjects::itself, NewObjects::nested, NewObjects::published, NewObjects::publishedFirst,
        NewObjects::publishedOnOnePath, NewObjects::publishedBetween, NewObjects::publishedInArray, NewObjects::publishedByExchange,
        NewObjects::publishedThroughAnother, NewObjects::publishedInCopy, NewObjects::publishedByLock, NewObjects::each,
        NewObjects::either, NewObjects::chain, NewObjects::copies, NewObjects::acrossAllocation, NewObjects::acrossLoop,
        NewObjects::acrossCall);

    /** Reads what another thread may be about to write: what is there is complete. */
    private static void check(Object o, int depth) {
        if (o instanceof Value v) {
            v.check();
        } else if (depth > 0 && o instanceof Node node) {
            check(node.item, depth - 1);
            check(node.other, depth - 1);
            check(node.next, depth - 1);
        } else if (depth > 0 && o instanceof Object[] a) {
            for (Object e : a) {
                check(e, depth - 1);
            }
        }
    }

    private static void read() {
        try {
            while (!done) {
                for (int i = 0; i < RING.length && !done; i++) {
                    check(RING[i], 4);
                    check(TAIL.published, 4);
                }
            }
        } catch (Throwable t) {
            failure = t;
        }
    }

    static void run(long seed, int rounds) throws Throwable {
        Thread reader = new Thread(NewObjects::read, "reader");
        reader.setDaemon(true);
        reader.start();
        Random random = new Random(seed);
        for (int round = 0; round < rounds && failure == null; round++) {
            Shape shape = SHAPES.get(round % SHAPES.size());
            for (int i = 0; i < 300; i++) {
                int n = random.nextInt(1 << 16);
                Object o = shape.make(n, (n & 0x100) != 0, new Value(n));
                check(o, 4);
                if ((n & 0xe00) == 0) {
                    RING[n & 1023] = o;
                }
            }
            if (round % SHAPES.size() == 0) {
                longCall(20_000);
                System.gc();    // all of the heap is checked
            }
        }
        done = true;
        reader.join();
        if (failure != null) {
            throw failure;
        }
    }

    public static void main(String[] args) throws Throwable {
        run(Long.parseLong(args[0]), Integer.parseInt(args[1]));
        // And whatever else there is, by the same compiler.
        if (args.length > 2) {
            TestChannels.main(new String[] {args[2]});
        }
        System.out.println("new objects: done");
    }
}
