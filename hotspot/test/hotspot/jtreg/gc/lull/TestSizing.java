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

import java.util.ArrayList;
import java.util.List;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary The heap starts at -Xms, grows with what is in use, up to -Xmx, and shrinks again, down to -Xms.
 * @library /
 * @run main/othervm -Xms16m -Xmx128m -XX:+UseLullGC gc.lull.TestSizing shrinks
 */

/*
 * @test id=noUncommit
 * @requires vm.gc.Lull
 * @summary With -XX:-LullUncommit the heap does not shrink.
 * @library /
 * @run main/othervm -Xms16m -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullUncommit gc.lull.TestSizing stays
 */

/*
 * @test id=fixed
 * @requires vm.gc.Lull
 * @summary With -Xms and -Xmx alike the heap neither grows nor shrinks.
 * @library /
 * @run main/othervm -Xms128m -Xmx128m -XX:+UseLullGC gc.lull.TestSizing fixed
 */

public class TestSizing {
    private static final int M = 1 << 20;
    private static final long MIN = 16 * M;
    private static final long MAX = 128 * M;

    private static List<byte[]> live = new ArrayList<>();

    private static long committed() {
        return Runtime.getRuntime().totalMemory();
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message + ": " + committed() / M + "M are committed");
        }
    }

    private static void allocate(long bytes) {
        for (long sum = 0; sum < bytes; sum += 10_000) {
            live.add(Data.bytes(10_000, (int) sum));
        }
    }

    private static void checkLive() {
        for (int i = 0; i < live.size(); i++) {
            Data.check(live.get(i), i * 10_000);
        }
    }

    public static void main(String[] args) {
        String expected = args[0];
        check(Runtime.getRuntime().maxMemory() == MAX, "-Xmx is not the maximum");
        check(committed() == (expected.equals("fixed") ? MAX : MIN), "the heap does not start at -Xms");

        for (int round = 0; round < 2; round++) {
            allocate(80 * M);
            checkLive();
            check(committed() >= 80 * M && committed() <= MAX, "the heap does not have the size for 80M in use");
            long full = committed();
            live.clear();
            for (int i = 0; i < 3; i++) {
                System.gc();
            }
            System.out.println("From " + full / M + "M to " + committed() / M + "M");
            switch (expected) {
                case "shrinks" -> {
                    check(committed() <= 40 * M, "the heap did not shrink");
                    check(committed() >= MIN, "the heap has shrunk below -Xms");
                }
                case "stays" -> check(committed() == full, "the heap has shrunk");
                case "fixed" -> check(committed() == MAX, "the heap has shrunk");
                default      -> throw new IllegalArgumentException(expected);
            }
        }
    }
}
