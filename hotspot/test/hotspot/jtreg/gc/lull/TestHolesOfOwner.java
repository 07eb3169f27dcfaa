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

import java.util.Random;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary A thread's private objects die at random, until no block is free and all that is free is holes in the thread's own blocks. A large array
 *          fits all the same: when the thread has given its blocks away, their holes are room for a compaction.
 * @library /
 * @run main/othervm -Xms6m -Xmx6m -XX:+UseLullGC gc.lull.TestHolesOfOwner
 * @run main/othervm -Xms6m -Xmx6m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullYoungCollections gc.lull.TestHolesOfOwner
 */

public class TestHolesOfOwner {
    private static final int OBJECTS = 25_000;      // of 120 bytes, 2.6 MB alive, in a heap of 6, of which the archive has 1.2
    private static final int ROUNDS = 40;

    static volatile Object sink;

    public static void main(String[] args) {
        Random random = Data.random();
        for (int round = 0; round < ROUNDS; round++) {
            Object[] objects = new Object[OBJECTS];
            for (int i = 0; i < OBJECTS * 2; i++) {
                objects[random.nextInt(OBJECTS)] = Data.bytes(random.nextInt(208), i);
            }
            sink = new byte[random.nextInt(200_000)];
        }
    }
}
