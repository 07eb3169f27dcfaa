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

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Objects whose number, links and contents HeapDumpCheck knows, for a heap dump by jcmd. Prints "ready" and waits until its
 * standard input ends.
 */
public class HeapDumpPopulation {
    static final int NODES = 20_000;
    static final int LARGE = 9;

    static class Node {
        int number;
        Node previous;
        byte[] payload;
        Object extra;
    }

    static Node last;
    static byte[][] large = new byte[LARGE][];

    static int payloadLength(int number) { return number % 700; }
    static int largeLength(int i)        { return (1 << i) * 5_000; }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < NODES; i++) {
            Node node = new Node();
            node.number = i;
            node.previous = last;
            node.payload = new byte[payloadLength(i)];
            for (int k = 0; k < node.payload.length; k++) {
                node.payload[k] = (byte) (i + k);
            }
            if (i % 1000 == 0) {
                Map<String, Integer> map = i % 2000 == 0 ? new HashMap<>() : new TreeMap<>();
                map.put("node " + i, i);
                node.extra = map;
            }
            last = node;
            // What dies between them makes holes.
            for (int k = 0; k < 5; k++) {
                new Node().payload = new byte[100 * k];
            }
        }
        for (int i = 0; i < LARGE; i++) {
            large[i] = new byte[largeLength(i)];
            large[i][largeLength(i) - 1] = (byte) (i + 1);
        }
        System.gc();
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // not yet
        }
    }
}
