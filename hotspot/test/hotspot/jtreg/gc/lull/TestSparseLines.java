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
 * @summary Small objects die in random order, so that nearly all lines hold one that lives: evacuation packs them, before
 *          the heap is full of lines that are nearly empty. How long young collections may put that off depends on what they
 *          cost: with them it is only seen that the program gets through.
 * @library /
 * @modules java.management
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UnlockDiagnosticVMOptions -XX:-LullVerifyHeap -XX:-LullYoungCollections gc.lull.TestSparseLines 40
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UnlockDiagnosticVMOptions -XX:-LullVerifyHeap gc.lull.TestSparseLines 64
 */

public class TestSparseLines {
    private static final int OBJECTS = 200_000;     // 18 MB are alive
    private static final int ROUNDS = 60;

    static Object[] live = new Object[OBJECTS];
    static volatile Object sink;

    public static void main(String[] args) {
        long most = Long.parseLong(args[0]) << 20;
        Random random = Data.random();
        for (int i = 0; i < OBJECTS; i++) {
            live[i] = new byte[16 + random.nextInt(100)];
            sink = new byte[random.nextInt(300)];
        }
        for (int i = 0; i < OBJECTS; i++) {
            live[random.nextInt(OBJECTS)] = new byte[16 + random.nextInt(100)];
            sink = new byte[random.nextInt(300)];
        }
        // Each round fills the heap.
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < 300_000; i++) {
                sink = new byte[16 + i % 200];
                if (i % 50 == 0) {
                    live[random.nextInt(OBJECTS)] = new byte[16 + random.nextInt(100)];
                }
            }
        }
        long used = GCBean.usedAfterCollection();
        System.out.println((used >> 10) + " KB in use after the last of " + GCBean.collections() + " collections");
        if (used >= most) {
            throw new AssertionError(used + " bytes of the heap are in use, 18 MB are alive");
        }
    }
}
