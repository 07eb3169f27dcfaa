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
 * @requires vm.gc.Lull
 * @summary A thread's private objects are scattered over a heap that is half empty. A large array fits when they have been packed: the
 *          collection that may move them must know how much is alive in the blocks that the thread has had until then.
 * @run main/othervm -Xms8m -Xmx8m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullLocalBudget=1g gc.lull.TestSparsePrivate
 * @run main/othervm -Xms8m -Xmx8m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullLocalBudget=1g -XX:-LullYoungCollections
 *      gc.lull.TestSparsePrivate
 * @run main/othervm -Xms8m -Xmx8m -XX:+UseLullGC gc.lull.TestSparsePrivate
 */

public class TestSparsePrivate {
    private static final int OBJECTS = 100_000;      // 6.4 MB

    private static int round(int every, int large) {
        Object[] last = null;
        for (int i = 0; i < OBJECTS; i++) {
            Object[] object = new Object[12];
            if (i % every == 0) {
                object[0] = last;
                last = object;
            }
        }
        byte[] array = new byte[large];
        int kept = array.length - large;
        for (Object[] object = last; object != null; object = (Object[]) object[0]) {
            kept++;
        }
        return kept;
    }

    public static void main(String[] args) {
        for (int every : new int[] {3, 5, 8}) {
            for (int large : new int[] {2_000_000, 3_000_000}) {
                for (int i = 0; i < 5; i++) {
                    int kept = round(every, large);
                    if (kept != (OBJECTS + every - 1) / every) {
                        throw new AssertionError(kept + " of each " + every + ". of " + OBJECTS + " objects are there");
                    }
                }
            }
        }
    }
}
