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

package gc.lull.publication;

import java.util.ArrayList;
import java.util.List;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull & vm.debug & vm.compiler2.enabled
 * @summary Stores into new objects without a barrier meet private objects only. If escapes are ignored, on purpose, the check
 *          of these stores notices, and so does the verification of the heap.
 * @library / /test/lib
 * @modules java.base/jdk.internal.misc java.management
 * @build gc.lull.publication.NewObjects gc.lull.publication.TestChannels
 * @run driver gc.lull.publication.TestElision
 */

public class TestElision {
    private static OutputAnalyzer run(String... flags) throws Exception {
        List<String> command = new ArrayList<>(List.of(
            "--add-exports", "java.base/jdk.internal.misc=ALL-UNNAMED", "-Xmx128m", "-XX:-CreateCoredumpOnCrash",
            "-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions", "-XX:+UnlockDiagnosticVMOptions",
            "-XX:-LullLocalCollections", "-XX:+LullAlwaysPrivate", "-XX:-TieredCompilation", "-XX:CompileThreshold=100",
            "-XX:-BackgroundCompilation"));
        command.addAll(List.of(flags));
        command.addAll(List.of(NewObjects.class.getName(), "1", "480"));
        return ProcessTools.executeLimitedTestJava(command);
    }

    private static int elided(OutputAnalyzer output) {
        return output.getOutput().lines()
            .filter(line -> line.matches(".*NewObjects::.* barriers elided late.*"))
            .mapToInt(line -> Integer.parseInt(line.replaceAll(".*: (\\d+) of \\d+ barriers.*", "$1")))
            .sum();
    }

    public static void main(String[] args) throws Exception {
        OutputAnalyzer output = run("-XX:+LullElideBarriers", "-XX:+LullCheckElision", "-Xlog:gc+lull=debug");
        output.shouldHaveExitValue(0);
        if (elided(output) == 0) {
            throw new AssertionError("no barrier was elided");
        }
        System.out.println(elided(output) + " barriers elided");

        output = run("-XX:-LullElideBarriers", "-XX:+LullCheckElision", "-Xlog:gc+lull=debug");
        output.shouldHaveExitValue(0);
        output.shouldNotContain("barriers elided late");

        output = run("-XX:LullDropBarrier=7", "-XX:+LullCheckElision");
        output.shouldNotHaveExitValue(0);
        output.shouldContain("P: a store without a barrier into a public object");

        output = run("-XX:LullDropBarrier=7");
        output.shouldNotHaveExitValue(0);
        output.shouldMatch("(fatal error|guarantee.*failed|assert.*failed): P: ");
        System.out.println(output.firstMatch("P: .*"));
    }
}
