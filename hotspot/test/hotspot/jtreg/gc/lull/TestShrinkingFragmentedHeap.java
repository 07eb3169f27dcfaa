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

package gc.lull;

/*
 * @test
 * @requires vm.gc.Lull & vm.debug
 * @summary A heap of which most is free in holes does not shrink by all its free blocks: what needs whole blocks would have no room but by
 *          one collection after the other.
 * @library /
 * @run main/othervm -XX:MinHeapSize=16m -XX:InitialHeapSize=256m -Xmx256m -XX:MinHeapFreeRatio=5 -XX:MaxHeapFreeRatio=10 -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions
 *      -XX:-LullEvacuation gc.lull.TestShrinkingFragmentedHeap
 */

public class TestShrinkingFragmentedHeap {
    private static final int M = 1 << 20;
    private static final int LIVE = 40 * M;
    private static final int SMALL = 1000;
    private static final int WHOLE = 20_000;

    private static Object[] live;
    private static volatile Object published;

    /** One object in three stays, in each block. */
    private static void fragment() {
        live = new Object[LIVE / SMALL * 3];
        for (int i = 0; i < live.length; i++) {
            live[i] = Data.bytes(SMALL, i);
        }
        for (int i = 0; i < live.length; i++) {
            if (i % 3 != 0) {
                live[i] = null;
            }
        }
    }

    public static void main(String[] args) {
        fragment();
        Object[] dead = new Object[60 * M / WHOLE];
        for (int i = 0; i < dead.length; i++) {
            dead[i] = new byte[WHOLE];
        }
        published = dead;
        published = null;
        dead = null;
        long full = Runtime.getRuntime().totalMemory();
        GCBean.collections();    // which allocates more the first time
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        long shrunk = Runtime.getRuntime().totalMemory();
        long before = GCBean.collections();
        for (int sum = 0; sum < LIVE / 8; sum += WHOLE) {
            published = new byte[WHOLE];
        }
        long collections = GCBean.collections() - before;
        System.out.println("From " + full / M + "M to " + shrunk / M + "M; then " + collections + " collections for " + LIVE / 8 / M + "M");
        if (shrunk >= full) {
            throw new AssertionError("the heap did not shrink");
        }
        if (collections > 0) {
            throw new AssertionError(collections + " collections for " + LIVE / 8 / M + "M");
        }
        for (int i = 0; i < live.length; i += 3) {
            Data.check(live[i], i);
        }
    }
}
