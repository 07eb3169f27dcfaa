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

import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test id=beside-reserve
 * @requires vm.gc.Lull
 * @summary A large object has a run of free blocks, but not beside the copy reserve: it gets that, without sliding, and soft references stay.
 * @library / /test/lib
 * @run driver gc.lull.TestSoftReferencesLast reserve
 */

/*
 * @test id=grown
 * @requires vm.gc.Lull
 * @summary A heap that is fragmented grows for an object of several lines, which gets what was gained, and soft references stay.
 * @library / /test/lib
 * @run driver gc.lull.TestSoftReferencesLast grown
 */

/*
 * @test id=holes
 * @requires vm.gc.Lull
 * @summary A large object for which there is room in holes only gets it by sliding, and soft references stay.
 * @library / /test/lib
 * @run driver gc.lull.TestSoftReferencesLast holes
 */

public class TestSoftReferencesLast {
    private static final int M = 1 << 20;

    static class Work {
        static volatile Object published;
        static Object[] live;
        static final List<SoftReference<Object>> soft = new ArrayList<>();

        /** Lines of 256 bytes of which a share is alive: those of most blocks. */
        private static void fragment(int megabytes, double share) {
            Random random = new Random(42);
            live = new Object[megabytes * 1024];
            for (int i = 0; i < live.length; i++) {
                live[i] = new byte[1024 - 16];
            }
            for (int i = 0; i < live.length; i++) {
                if (random.nextDouble() >= share) {
                    live[i] = null;
                }
            }
        }

        public static void main(String[] args) {
            for (int i = 0; i < 100; i++) {
                soft.add(new SoftReference<>(new byte[100]));
            }
            switch (args[0]) {
                case "reserve" -> {
                    live = new Object[75];
                    for (int i = 0; i < live.length; i++) {
                        live[i] = new byte[M - 1024];
                    }
                    System.out.println("Begin");
                    published = new byte[20 * M];
                }
                case "grown" -> {
                    fragment(56, 0.62);
                    List<byte[]> medium = new ArrayList<>();
                    System.out.println("Begin");
                    for (int i = 0; i < 2000; i++) {
                        medium.add(new byte[12 * 1024]);
                    }
                    published = medium;
                }
                case "holes" -> {
                    fragment(90, 0.6);
                    System.out.println("Begin");
                    published = new byte[25 * M];
                }
                default -> throw new IllegalArgumentException(args[0]);
            }
            System.out.println("End");
            Asserts.assertEQ(soft.stream().filter(reference -> reference.get() != null).count(), (long) soft.size(), "soft references that are left");
        }
    }

    public static void main(String[] args) throws Exception {
        List<String> command = new ArrayList<>(List.of("-XX:+UseLullGC", "-XX:SoftRefLRUPolicyMSPerMB=1000000", "-XX:MaxGCPauseMillis=60000", "-Xlog:gc,gc+heap"));
        command.addAll(args[0].equals("grown")
            // With cycles it would grow for one first.
            ? List.of("-Xms64m", "-Xmx512m", "-XX:MinHeapFreeRatio=5", "-XX:GCTimeRatio=0", "-XX:+UnlockExperimentalVMOptions",
                      "-XX:-LullConcurrentMarking")
            : List.of("-Xms100m", "-Xmx100m"));
        command.addAll(List.of(Work.class.getName(), args[0]));
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(command);
        output.shouldHaveExitValue(0);
        List<String> between = output.asLines().stream().dropWhile(line -> !line.equals("Begin")).takeWhile(line -> !line.equals("End")).toList();
        between.forEach(System.out::println);
        boolean slid = between.stream().anyMatch(line -> line.matches(".*GC\\(\\d+\\) Slid: .*"));
        Asserts.assertEQ(slid, args[0].equals("holes"), "objects have slid");
        if (args[0].equals("reserve")) {
            Asserts.assertTrue(between.stream().anyMatch(line -> line.matches(".*Pause Full \\(Allocation Failure\\).*ms")), "the array needed a collection");
        }
        if (args[0].equals("grown")) {
            output.shouldMatch("Heap expanded for an object of 12K: ");
        }
    }
}
