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

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.debug
 * @summary A young collection moves what survives here and there together, so that blocks become free again, also for large objects;
 *          whoever refers to what has moved finds it.
 * @library / /test/lib
 * @run driver gc.lull.young.TestYoungEvacuation
 */

/*
 * @test id=failure
 * @requires vm.gc.Lull & vm.debug
 * @summary The same where every hundredth object finds no room, and stays.
 * @library / /test/lib
 * @run driver gc.lull.young.TestYoungEvacuation -XX:LullEvacuationFailureALot=100
 */

/*
 * @test id=workers
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with several workers.
 * @library / /test/lib
 * @run driver gc.lull.young.TestYoungEvacuation -XX:ParallelGCThreads=4 -XX:-UseDynamicNumberOfGCThreads
 */

public class TestYoungEvacuation {
    private static final int COLLECTIONS = 10;

    /** Of each fifty objects one lives on, for some collections; now and then a large one is made. */
    static class Survivors {
        private static final int SLOTS = 4_000;
        private static final int OBJECTS = 6_000_000;
        private static final int LARGE = 3 << 20;
        private static final int BALLAST = 250_000;

        private static final class Survivor {
            final int number;
            final byte[] bytes = new byte[40];
            final Survivor before;   // one more that has moved, or not

            Survivor(int number, Survivor before) {
                this.number = number;
                this.before = before == null ? null : new Survivor(number - 1, null);
                bytes[number % bytes.length] = (byte) number;
            }

            void check() {
                Asserts.assertEQ(bytes[number % bytes.length], (byte) number);
                if (before != null) {
                    Asserts.assertEQ(before.number, number - 1);
                    before.check();
                }
            }
        }

        private static final Survivor[] slots = new Survivor[SLOTS];
        private static final Object[] ballast = new Object[BALLAST];
        private static volatile Object published;

        public static void main(String[] args) {
            // What makes a global collection dear.
            for (int i = 0; i < BALLAST; i++) {
                ballast[i] = new byte[16];
            }
            System.gc();
            int large = 0;
            for (int i = 0; i < OBJECTS; i++) {
                published = new byte[32 + i % 64];
                if (i % 50 == 0) {
                    final int slot = i / 50 % SLOTS;
                    if (slots[slot] != null) {
                        slots[slot].check();
                    }
                    slots[slot] = new Survivor(i, slots[slot]);
                }
                if (i % 200_000 == 0) {
                    published = new byte[LARGE];
                    large++;
                }
            }
            for (Survivor survivor : slots) {
                survivor.check();
            }
            System.out.println(large + " large objects");
        }
    }

    private static final Pattern MARKED =
        Pattern.compile("GC\\((\\d+)\\) Marked: .*; evacuated: (\\d+) objects, .*; left in evacuated blocks: (\\d+) objects");
    private static final Pattern PAUSE = Pattern.compile("GC\\((\\d+)\\) Pause (Young|Full) .*ms$");

    public static void main(String[] args) throws Exception {
        List<String> command = new ArrayList<>(List.of("-XX:+UseLullGC", "-XX:+LullYoungALot", "-Xms40m", "-Xmx40m", "-Xlog:gc,gc+heap"));
        command.addAll(List.of(args));
        command.add(Survivors.class.getName());
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(command);
        output.shouldHaveExitValue(0);
        output.shouldContain("30 large objects");
        long evacuated = 0;
        long stayed = 0;
        int young = 0;
        int global = 0;
        Matcher marked = null;
        for (String line : output.asLines()) {
            Matcher matcher = MARKED.matcher(line);
            if (matcher.find()) {
                marked = matcher;
                continue;
            }
            matcher = PAUSE.matcher(line);
            if (matcher.find() && matcher.group(2).equals("Full")) {
                global++;
            } else if (matcher.hasMatch()) {
                young++;
                Asserts.assertEQ(marked.group(1), matcher.group(1), "of the same collection");
                evacuated += Long.parseLong(marked.group(2));
                stayed += Long.parseLong(marked.group(3));
            }
        }
        System.out.println(young + " young collections, " + global + " global ones; " + evacuated + " objects evacuated, " + stayed + " stayed");
        Asserts.assertGTE(young, COLLECTIONS, "young collections");
        Asserts.assertGT(evacuated, 1000L * young, "evacuated");
        if (List.of(args).contains("-XX:LullEvacuationFailureALot=100")) {
            Asserts.assertGT(stayed, 0L, "each hundredth stays");
        } else {
            Asserts.assertLT(stayed, evacuated / 100, "there is room for nearly all");
            Asserts.assertLT(global, young / 4, "global collections: only where a young one finds no room");
        }
    }
}
