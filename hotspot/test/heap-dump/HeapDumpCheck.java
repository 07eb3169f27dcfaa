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

import java.io.File;
import java.util.List;
import org.netbeans.lib.profiler.heap.Heap;
import org.netbeans.lib.profiler.heap.HeapFactory;
import org.netbeans.lib.profiler.heap.Instance;
import org.netbeans.lib.profiler.heap.JavaClass;
import org.netbeans.lib.profiler.heap.ObjectArrayInstance;
import org.netbeans.lib.profiler.heap.PrimitiveArrayInstance;

/**
 * Reads a heap dump of HeapDumpPopulation with the reader of the NetBeans profiler and VisualVM, which shares nothing with
 * HotSpot's writer, and compares all of it with what that program made.
 */
public class HeapDumpCheck {
    private static int checked;

    public static void main(String[] args) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(args[0]));
        JavaClass population = heap.getJavaClassByName("HeapDumpPopulation");
        JavaClass nodes = heap.getJavaClassByName("HeapDumpPopulation$Node");
        Instance node = (Instance) population.getValueOfStaticField("last");
        for (int number = HeapDumpPopulation.NODES - 1; number >= 0; number--) {
            same("number of a node", number, node.getValueOfField("number"));
            PrimitiveArrayInstance payload = (PrimitiveArrayInstance) node.getValueOfField("payload");
            same("length of a payload", HeapDumpPopulation.payloadLength(number), payload.getLength());
            List<?> values = payload.getValues();
            for (int k = 0; k < values.size(); k++) {
                same("payload of node " + number, (byte) (number + k), Byte.parseByte(values.get(k).toString()));
            }
            Instance extra = (Instance) node.getValueOfField("extra");
            same("extra of node " + number, number % 1000 == 0, extra != null);
            if (extra != null) {
                same("class of the extra", number % 2000 == 0 ? "java.util.HashMap" : "java.util.TreeMap",
                     extra.getJavaClass().getName());
            }
            node = (Instance) node.getValueOfField("previous");
        }
        same("node before the first", null, node);

        ObjectArrayInstance large = (ObjectArrayInstance) population.getValueOfStaticField("large");
        for (int i = 0; i < HeapDumpPopulation.LARGE; i++) {
            PrimitiveArrayInstance array = (PrimitiveArrayInstance) large.getValues().get(i);
            same("length of a large array", HeapDumpPopulation.largeLength(i), array.getLength());
            same("end of a large array", "" + (i + 1), array.getValues().get(array.getLength() - 1));
        }

        // Only what is reachable is in the dump.
        same("nodes", HeapDumpPopulation.NODES, nodes.getInstancesCount());
        long objects = heap.getSummary().getTotalLiveInstances();
        same("at least so many objects: " + objects, true, objects > HeapDumpPopulation.NODES * 2L);
        same("roots", true, !heap.getGCRoots().isEmpty());
        System.out.println("read " + objects + " objects of " + heap.getAllClasses().size() + " classes, " +
                           heap.getGCRoots().size() + " roots; " + checked + " values as they should be");
    }

    private static void same(String what, Object expected, Object actual) {
        checked++;
        if (expected == null ? actual != null : !expected.equals(actual)) {
            throw new AssertionError(what + " should be " + expected + " and is " + actual);
        }
    }
}
