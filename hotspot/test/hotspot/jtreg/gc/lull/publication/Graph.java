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

/**
 * A small graph of all kinds of objects whose contents follow from a number: fields, arrays
 * of references, leaves, strings, boxes, a lambda, a soft reference, a cycle.
 */
final class Graph {
    final int number;
    Graph next;
    Object[] elements;
    byte[] leaf;
    String name;
    Long box;
    java.util.function.IntSupplier lambda;
    java.lang.ref.SoftReference<int[]> soft;

    private Graph(int number) {
        this.number = number;
    }

    static Graph of(int number) {
        Graph first = new Graph(number);
        Graph last = first;
        first.fill();
        for (int i = 1; i < 1 + number % 5; i++) {
            Graph node = new Graph(number + i);
            node.fill();
            last.next = node;
            last = node;
        }
        last.next = first;      // a cycle
        return first;
    }

    private void fill() {
        int n = number;
        leaf = new byte[n % 300];
        if (leaf.length > 0) {
            leaf[leaf.length - 1] = (byte) n;
        }
        name = "graph " + n;
        box = n + 1_000_000_007L;
        lambda = () -> n;
        soft = new java.lang.ref.SoftReference<>(new int[] {n});
        elements = new Object[3 + n % 40];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = i % 3 == 0 ? this : i % 3 == 1 ? new int[] {n, i} : "element " + (n + i);
        }
    }

    /** The number, if the whole graph is what of(number) makes. */
    int check() {
        Graph node = this;
        int expected = number;
        do {
            node.checkNode(expected++);
            node = node.next;
        } while (node != this);
        if (expected != number + 1 + number % 5) {
            throw new AssertionError("graph " + number + " has " + (expected - number) + " nodes");
        }
        return number;
    }

    /** Visits all objects of the graph, some of them more than once. */
    void forEach(java.util.function.Consumer<Object> visitor) {
        Graph node = this;
        do {
            for (Object part : new Object[] {node, node.elements, node.leaf, node.name, node.box, node.lambda, node.soft, node.soft.get()}) {
                if (part != null) {
                    visitor.accept(part);
                }
            }
            for (Object element : node.elements) {
                visitor.accept(element);
            }
            node = node.next;
        } while (node != this);
    }

    private void checkNode(int expected) {
        int n = number;
        boolean ok = n == expected && leaf.length == n % 300 && (leaf.length == 0 || leaf[leaf.length - 1] == (byte) n)
            && name.equals("graph " + n) && box == n + 1_000_000_007L && lambda.getAsInt() == n;
        int[] referent = soft.get();
        ok &= referent == null || referent[0] == n;
        ok &= elements.length == 3 + n % 40;
        for (int i = 0; ok && i < elements.length; i++) {
            Object e = elements[i];
            ok = i % 3 == 0 ? e == this : i % 3 == 1 ? ((int[]) e)[0] == n && ((int[]) e)[1] == i : e.equals("element " + (n + i));
        }
        if (!ok) {
            throw new AssertionError("node " + n + " of a graph is not as it was made, expected node " + expected);
        }
    }
}
