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
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary Each collection is a line of the gc log, and -Xlog:gc* shows its phases.
 * @library /test/lib /
 * @run driver gc.lull.TestLogging
 */

public class TestLogging {
    private static final int SYSTEM_GCS = 3;

    static class Work {
        static volatile Object sink;

        public static void main(String[] args) {
            byte[] large = new byte[5 << 20];
            for (int i = 0; i < 100_000; i++) {
                sink = new byte[300];
            }
            for (int i = 0; i < SYSTEM_GCS; i++) {
                System.gc();
            }
            System.out.println("Done, " + large.length);
        }
    }

    private static final Pattern PAUSE =
        Pattern.compile("GC\\((\\d+)\\) Pause Full \\((.+)\\) (\\d+)M->(\\d+)M\\((\\d+)M\\) (\\d+\\.\\d+)ms$");

    private static OutputAnalyzer run(String log) throws Exception {
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava("-XX:+UseLullGC", "-XX:-LullYoungCollections", "-Xmx16m", log, Work.class.getName());
        output.shouldHaveExitValue(0);
        output.shouldContain("Done");
        return output;
    }

    private static List<String> pauses(OutputAnalyzer output) {
        List<String> causes = new ArrayList<>();
        for (String line : output.stdoutAsLines()) {
            // With gc* there is another line, at the start of the pause.
            if (!line.contains("Pause Full") || line.contains("[gc,start")) {
                continue;
            }
            Matcher matcher = PAUSE.matcher(line);
            Asserts.assertTrue(matcher.find(), "not a line of the expected form: " + line);
            Asserts.assertEQ(Integer.parseInt(matcher.group(1)), causes.size(), "collections are numbered from 0: " + line);
            int before = Integer.parseInt(matcher.group(3));
            int after = Integer.parseInt(matcher.group(4));
            int capacity = Integer.parseInt(matcher.group(5));
            Asserts.assertTrue(after >= 5 && after <= before && before <= 16 && after <= capacity && capacity <= 16, "sizes: " + line);
            causes.add(matcher.group(2));
        }
        return causes;
    }

    private static void checkCauses(List<String> causes) {
        Asserts.assertGTE(causes.size(), SYSTEM_GCS + 2, "30M were allocated in a heap of 16M");
        for (int i = 0; i < causes.size(); i++) {
            Asserts.assertEQ(causes.get(i), i < causes.size() - SYSTEM_GCS ? "Allocation Failure" : "System.gc()");
        }
    }

    public static void main(String[] args) throws Exception {
        OutputAnalyzer brief = run("-Xlog:gc");
        brief.shouldContain("Using Lull");
        brief.shouldNotContain("[gc,phases");
        checkCauses(pauses(brief));

        OutputAnalyzer all = run("-Xlog:gc*");
        List<String> causes = pauses(all);
        checkCauses(causes);
        for (String phase : List.of("Mark", "Process References", "Process Weak Roots", "Unload Classes", "Sweep")) {
            Pattern pattern = Pattern.compile("\\[gc,phases.*\\] GC\\((\\d+)\\) " + phase + " \\d+\\.\\d+ms");
            Set<String> collections = new HashSet<>();
            for (String line : all.stdoutAsLines()) {
                Matcher matcher = pattern.matcher(line);
                if (matcher.find()) {
                    collections.add(matcher.group(1));
                }
            }
            for (int i = 0; i < causes.size(); i++) {
                // Classes are unloaded if any have died, or if the collection was asked for.
                boolean maybe = phase.equals("Unload Classes") && causes.get(i).equals("Allocation Failure");
                Asserts.assertTrue(maybe || collections.contains("" + i), "collection " + i + " has a phase " + phase);
            }
        }
        all.shouldMatch("GC\\(0\\) Marked: \\d+ objects, \\d+K; evacuated: \\d+ objects, \\d+K; left in evacuated blocks: \\d+ objects");
        all.shouldMatch("Parallel Workers: \\d+");

        // The heap is walked before and after each collection. In debug builds that stops the VM if frames are visited
        // when derived pointers are recorded already.
        OutputAnalyzer histograms = run("-Xlog:gc+classhisto=trace");
        for (String moment : List.of("before", "after")) {
            Pattern timed = Pattern.compile("Class Histogram \\(" + moment + " full gc\\) \\d+\\.\\d+ms");
            long printed = histograms.stdoutAsLines().stream().filter(line -> timed.matcher(line).find()).count();
            Asserts.assertGTE(printed, (long) SYSTEM_GCS + 2, "each collection has a histogram " + moment + " it");
        }
    }
}
