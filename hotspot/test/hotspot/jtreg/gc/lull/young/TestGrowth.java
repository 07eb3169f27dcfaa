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

import gc.lull.GCBean;
import jdk.test.lib.Asserts;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary A heap that is too small for what a program allocates grows, although it is only young collections that run.
 * @library / /test/lib
 * @run main/othervm -Xms16m -Xmx512m -XX:+UseLullGC gc.lull.young.TestGrowth
 */

public class TestGrowth {
    private static final int LIVE = 4_000;
    private static final int COLLECTIONS = 50;

    private static final byte[][] live = new byte[LIVE][];
    private static volatile Object published;

    public static void main(String[] args) {
        for (int i = 0; i < LIVE; i++) {
            live[i] = new byte[1000];
        }
        System.gc();
        long before = Runtime.getRuntime().totalMemory();
        long global = GCBean.globalCollections();
        // All that is garbage dies young: a global collection gains nothing here.
        while (GCBean.collections() < COLLECTIONS && Runtime.getRuntime().totalMemory() < 4 * before) {
            published = new byte[500];
        }
        long after = Runtime.getRuntime().totalMemory();
        System.out.println((before >> 20) + " MB before, " + (after >> 20) + " MB after " + GCBean.collections() + " collections, "
                + (GCBean.globalCollections() - global) + " of them global since");
        Asserts.assertGTE(after, 4 * before, "the heap has grown");
    }
}
