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

import java.util.List;
import java.util.stream.Stream;
import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary Start scripts that set flags of other collectors work, and the log says once which of these change nothing.
 * @library / /test/lib
 * @run driver gc.lull.TestForeignFlags
 */

public class TestForeignFlags {
    private static final String LINE = "Without effect with Lull: ";

    /** What the log names, in the order of the VM's flags; one line at most. */
    private static List<String> named(String... flags) throws Exception {
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(
            Stream.concat(Stream.of(flags), Stream.of("-XX:+UseLullGC", "-Xmx64m", "-Xlog:gc", "-version")).toList());
        output.shouldHaveExitValue(0);
        List<String> lines = output.asLines().stream().filter(line -> line.contains(LINE)).toList();
        Asserts.assertLTE(lines.size(), 1, "lines: " + lines);
        return lines.isEmpty() ? List.of()
            : Stream.of(lines.get(0).substring(lines.get(0).indexOf(LINE) + LINE.length()).split(", ")).sorted().toList();
    }

    public static void main(String[] args) throws Exception {
        Asserts.assertEquals(named(), List.of());
        Asserts.assertEquals(named("-Xms32m", "-XX:+AlwaysPreTouch", "-XX:ParallelGCThreads=2", "-XX:GCTimeRatio=9",
                                   "-XX:MinHeapFreeRatio=20", "-XX:SoftMaxHeapSize=48m"), List.of());
        Asserts.assertEquals(named("-XX:InitiatingHeapOccupancyPercent=35", "-XX:NewRatio=1"),
                             List.of("InitiatingHeapOccupancyPercent", "NewRatio"));
        Asserts.assertEquals(named("-Xmn16m"), List.of("MaxNewSize", "NewSize"));
        Asserts.assertEquals(named("-XX:+UnlockExperimentalVMOptions", "-XX:+LullConcurrentMarking", "-XX:ConcGCThreads=1",
                                   "-XX:MaxGCPauseMillis=200", "-XX:MaxTenuringThreshold=3"), List.of("MaxTenuringThreshold"));
        Asserts.assertEquals(named("-XX:+UnlockExperimentalVMOptions", "-XX:-LullConcurrentMarking", "-XX:ConcGCThreads=1",
                                   "-XX:MaxGCPauseMillis=200"), List.of("ConcGCThreads", "MaxGCPauseMillis"));
    }
}
