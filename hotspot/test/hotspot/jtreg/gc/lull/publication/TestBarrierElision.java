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

import compiler.lib.ir_framework.*;
import compiler.lib.ir_framework.driver.irmatching.IRViolationException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/*
 * @test
 * @requires vm.gc.Lull & vm.debug & vm.compiler2.enabled & os.arch == "amd64"
 * @summary Which stores of C2's code have a barrier, which are elided in the final schedule, and which have none from the start.
 * @library /test/lib /
 * @run driver gc.lull.publication.TestBarrierElision
 */

public class TestBarrierElision {
    /** A store, or an atomic operation, with its barrier; and one whose barrier was elided late. */
    static final String KEPT = "lull\\w+ .*barrier\\(store";
    static final String ELIDED = "lull\\w+ .*barrier\\(elided";

    static final String LITERAL = "a constant";

    static class Node {
        Object item;
        Object other;
        Node next;
        volatile Node published;

        Node() {}

        Node(Object item) {
            this.item = item;
        }
    }

    static class Pair implements Cloneable {
        Object first;
        Object second;

        Pair copy() {
            try {
                return (Pair) clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    static final VarHandle ITEM;
    static final VarHandle NEXT;
    static {
        try {
            ITEM = MethodHandles.lookup().findVarHandle(Node.class, "item", Object.class);
            NEXT = MethodHandles.lookup().findVarHandle(Node.class, "next", Node.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static Object global;
    static Node tail = new Node();

    @DontInline
    static void call() {}

    // ---- Any object: the barrier stays, unless the value needs none.

    @Test
    @IR(counts = {KEPT, "1"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static void field(Node n, Object v) {
        n.item = v;
    }

    @Test
    @IR(counts = {KEPT, "1"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static void staticField(Object v) {
        global = v;
    }

    @Test
    @IR(counts = {KEPT, "1"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static void element(Object[] a, int i, Object v) {
        a[i] = v;
    }

    @Test
    @IR(failOn = {KEPT, ELIDED}, phase = CompilePhase.FINAL_CODE)
    static void nullValue(Node n) {
        n.item = null;
    }

    /** It is public, but may be young: its barrier is for the card. */
    @Test
    @IR(counts = {KEPT, "1"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static void constant(Node n) {
        n.item = LITERAL;
    }

    @Test
    @IR(counts = {KEPT, "1"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static boolean compareAndSet(Node n, Object v) {
        return ITEM.compareAndSet(n, null, v);
    }

    @Test
    @IR(counts = {KEPT, "1"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static Object getAndSet(Node n, Object v) {
        return ITEM.getAndSet(n, v);
    }

    // ---- A new object: no barrier, or one that is elided.

    @Test
    @IR(failOn = {KEPT, ELIDED}, phase = CompilePhase.FINAL_CODE)
    static Node captured(Object v) {
        return new Node(v);
    }

    @Test
    @IR(counts = {ELIDED, "1"}, failOn = {KEPT}, phase = CompilePhase.FINAL_CODE)
    static Node conditional(Object v, boolean c) {
        Node n = new Node();
        if (c) {
            n.item = v;
        }
        return n;
    }

    @Test
    @IR(counts = {ELIDED, "1"}, failOn = {KEPT}, phase = CompilePhase.FINAL_CODE)
    static Object[] elementOfNewArray(Object v, int i) {
        Object[] a = new Object[8];
        a[i & 7] = v;
        return a;
    }

    @Test
    @IR(counts = {ELIDED, "1"}, failOn = {KEPT}, phase = CompilePhase.FINAL_CODE)
    static Node loaded(Node from) {
        Node n = new Node();
        n.item = from.other;        // from may be null: the store is conditional
        return n;
    }

    @Test
    @IR(counts = {ELIDED, "1"}, failOn = {KEPT}, phase = CompilePhase.FINAL_CODE)
    static Node behindAnException(Object v, boolean c) throws Exception {
        Node n = new Node();
        if (c) {
            throw new Exception("not from here");
        }
        n.item = v;
        return n;
    }

    @Test
    @IR(counts = {ELIDED, "1"}, failOn = {KEPT}, phase = CompilePhase.FINAL_CODE)
    static Node newCompareAndSet(Object v) {
        Node n = new Node();
        ITEM.compareAndSet(n, null, v);
        return n;
    }

    @Test
    @IR(counts = {ELIDED, "1"}, failOn = {KEPT}, phase = CompilePhase.FINAL_CODE)
    static Node newGetAndSet(Object v) {
        Node n = new Node();
        ITEM.getAndSet(n, v);
        return n;
    }

    @Test
    @IR(failOn = {KEPT, ELIDED}, phase = CompilePhase.FINAL_CODE)
    static Object[] copyOfArray(Object[] a) {
        return Arrays.copyOf(a, 100);
    }

    @Test
    @IR(failOn = {KEPT}, phase = CompilePhase.FINAL_CODE)
    static Pair copyOfObject(Pair p) {
        return p.copy();
    }

    /** The object of this turn is new, whatever has become of those before. */
    @Test
    @IR(counts = {ELIDED, ">=1", KEPT, ">=1"}, phase = CompilePhase.FINAL_CODE)
    static void newInEachTurn(Object v, int turns) {
        for (int i = 0; i < turns; i++) {
            Node n = new Node();
            if ((i & 1) == 0) {
                n.item = v;
            }
            tail.published = n;
        }
    }

    // ---- A new object that may be public, or that nobody has followed: the barrier stays.

    /** The same kind of field: C2 keeps the order. The first store publishes n. */
    @Test
    @IR(counts = {KEPT, "2"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static void published(Node t, Object v) {
        Node n = new Node();
        t.item = n;
        n.item = v;
    }

    @Test
    @IR(counts = {KEPT, "2"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static void publishedByVolatileStore(Node t, Object v) {
        Node n = new Node();
        t.published = n;
        n.item = v;
    }

    @Test
    @IR(counts = {KEPT, "2"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static Object publishedByExchange(Node t, Object v) {
        Node n = new Node();
        Object old = NEXT.getAndSet(t, n);
        n.item = v;
        return old;
    }

    @Test
    @IR(counts = {KEPT, "2"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static boolean publishedByCompareAndSet(Node t, Object v) {
        Node n = new Node();
        boolean done = NEXT.compareAndSet(t, null, n);
        n.item = v;
        return done;
    }

    @Test
    @IR(counts = {KEPT, "2"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static void publishedInArray(Object[] a, int i, Object v) {
        Object[] n = new Object[4];
        a[i] = n;
        n[i & 3] = v;
    }

    @Test
    @IR(counts = {KEPT, "2"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static Node publishedOnOnePath(Object v, boolean c) {
        Node n = new Node();
        if (c) {
            tail.published = n;
        }
        n.item = v;
        return n;
    }

    /** On one path it is stored to before, on the other one after the publication. */
    @Test
    @IR(counts = {ELIDED, "1", KEPT, "2"}, phase = CompilePhase.FINAL_CODE)
    static Node publishedBetween(Object v, boolean c) {
        Node n = new Node();
        if (c) {
            n.item = v;
        } else {
            tail.published = n;
            n.other = v;
        }
        return n;
    }

    @Test
    @IR(counts = {KEPT, "1"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static Node acrossCall(Object v) {
        Node n = new Node();
        call();
        n.item = v;
        return n;
    }

    @Test
    @IR(counts = {KEPT, "1"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static Node acrossSafepoint(Object v, int x) {
        Node n = new Node();
        while (x > 1) {
            x = (x & 1) == 0 ? x >> 1 : (3 * x + 1) & 0xffff;
        }
        n.item = v;
        return n;
    }

    @Test
    @IR(counts = {KEPT, "1"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static Object[] acrossArrayCopy(Object[] a, Object v) {
        Object[] n = a.clone();
        n[0] = v;
        return n;
    }

    /** The second allocation may collect, and the two then know each other. */
    @Test
    @IR(counts = {KEPT, "2"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static Node twoThatKnowEachOther() {
        Node a = new Node();
        Node b = new Node();
        a.item = b;
        b.item = a;
        return a;
    }

    @Test
    @IR(counts = {KEPT, "1"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static Node eitherOfTwo(Object v, boolean c) {
        Node n;
        if (c) {
            n = new Node();
        } else {
            n = new Node(LITERAL);
            call();
        }
        n.other = v;
        return n;
    }

    /** The one of the turn before is no new object. */
    @Test
    @IR(counts = {KEPT, ">=1"}, failOn = {ELIDED}, phase = CompilePhase.FINAL_CODE)
    static Node chain(int turns) {
        Node first = new Node();
        Node last = first;
        for (int i = 0; i < turns; i++) {
            Node n = new Node();
            last.next = n;
            last = n;
        }
        return first;
    }

    @Run(test = {"field", "staticField", "element", "nullValue", "constant", "compareAndSet", "getAndSet", "captured", "conditional",
                 "elementOfNewArray", "loaded", "behindAnException", "newCompareAndSet", "newGetAndSet", "copyOfArray", "copyOfObject",
                 "newInEachTurn", "published", "publishedByVolatileStore", "publishedByExchange", "publishedByCompareAndSet",
                 "publishedInArray", "publishedOnOnePath", "publishedBetween", "acrossCall", "acrossSafepoint", "acrossArrayCopy",
                 "twoThatKnowEachOther", "eitherOfTwo", "chain"})
    static void runAll() throws Exception {
        for (int i = 0; i < 2; i++) {
            boolean c = i == 0;
            Object v = new Object();
            Node t = new Node();
            field(t, v);
            check(t.item == v);
            staticField(v);
            check(global == v);
            Object[] a = new Object[4];
            element(a, i, v);
            check(a[i] == v);
            nullValue(t);
            check(t.item == null);
            constant(t);
            check(t.item == LITERAL);
            t = new Node();
            check(compareAndSet(t, v) && t.item == v);
            check(getAndSet(t, a) == v && t.item == a);
            check(captured(v).item == v);
            check(conditional(v, c).item == (c ? v : null));
            check(elementOfNewArray(v, i)[i] == v);
            t.other = v;
            check(loaded(t).item == v);
            try {
                check(behindAnException(v, c).item == v && !c);
            } catch (Exception e) {
                check(c);
            }
            check(newCompareAndSet(v).item == v);
            check(newGetAndSet(v).item == v);
            check(copyOfArray(a)[i] == v);
            Pair p = new Pair();
            p.second = v;
            check(p.copy().second == v && copyOfObject(p).second == v);
            newInEachTurn(v, 7);
            check(tail.published.item == v);
            published(t, v);
            check(((Node) t.item).item == v);
            publishedByVolatileStore(t, v);
            check(t.published.item == v);
            t = new Node();
            check(publishedByCompareAndSet(t, v) && t.next.item == v);
            Node next = t.next;
            check(publishedByExchange(t, a) == next && t.next.item == a);
            publishedInArray(a, i, v);
            check(((Object[]) a[i])[i] == v);
            check(publishedOnOnePath(v, c).item == v);
            Node between = publishedBetween(v, c);
            check((c ? between.item : between.other) == v);
            check(acrossCall(v).item == v);
            check(acrossSafepoint(v, 27).item == v);
            check(acrossArrayCopy(a, v)[0] == v);
            Node one = twoThatKnowEachOther();
            check(((Node) one.item).item == one);
            check(eitherOfTwo(v, c).other == v);
            check(chain(3).next.next.next.next == null);
        }
    }

    static void check(boolean ok) {
        if (!ok) {
            throw new AssertionError("a store is missing");
        }
    }

    static TestFramework framework() {
        return new TestFramework(TestBarrierElision.class)
            .addFlags("-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions", "-XX:+UnlockDiagnosticVMOptions",
                      "-XX:-LullLocalCollections", "-XX:+LullElideBarriers", "-XX:+LullAlwaysPrivate");
    }

    public static void main(String[] args) {
        // The rules are for these flags: with others, and the choice of the collector is one, the framework ignores them.
        for (String options : new String[] {"test.vm.opts", "test.java.opts"}) {
            System.setProperty(options, System.getProperty(options, "").replaceAll("-XX:[+-]Use\\w+GC", ""));
        }
        framework().addScenarios(new Scenario(0, "-XX:+LullCheckElision", "-XX:+UseCompressedOops"),
                                 new Scenario(1, "-XX:+LullCheckElision", "-XX:-UseCompressedOops"))
                   .start();

        // As if references to new objects were never stored: then the rules about these do not hold. It also shows that
        // somebody looks at the rules.
        try {
            framework().addFlags("-XX:LullDropBarrier=7").start();
        } catch (IRViolationException expected) {
            return;
        }
        throw new AssertionError("C2 ignored that objects are published, and no rule was broken");
    }
}
