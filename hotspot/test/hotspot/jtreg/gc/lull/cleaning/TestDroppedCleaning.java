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

package gc.lull.cleaning;

import java.util.ArrayList;
import java.util.List;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull & vm.debug
 * @summary With a part of the cleaning of cards left out the checks of R, of Stretches, or of what marking asks of cards
 *          stop the VM.
 * @library / /test/lib
 * @build gc.lull.cleaning.TestCardCleaning
 * @run main gc.lull.cleaning.TestDroppedCleaning
 */

public class TestDroppedCleaning {
    private static void run(String part, String expected, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(
            "-Xms96m", "-Xmx96m", "-XX:-CreateCoredumpOnCrash", "-XX:+UseLullGC", "-XX:+LullCleanALot",
            "-Xlog:gc,gc+marking=debug:file=cards.log", "-XX:LullBreakInvariant=" + part));
        command.addAll(List.of(options));
        command.addAll(List.of(TestCardCleaning.class.getName(), "1000"));
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(command);
        output.shouldNotHaveExitValue(0);
        output.shouldMatch(expected);
        System.out.println(part + ": " + output.firstMatch(expected + ".*"));
    }

    public static void main(String[] args) throws Exception {
        final String field = "guarantee.*failed: R: field";
        run("CleanLook", field);
        run("CleanKinds", field);
        run("CleanLate", field);
        run("CleanGiveUp", "guarantee.*failed: (R: field|Stretches: )");
        run("CleanHandshake", field, "-Xint");
        // With room, so that cycles end well though cards are cleaned without a break.
        String[] cycles = {"-XX:+LullCycleALot", "-XX:+ExplicitGCInvokesConcurrent", "-XX:LullEvacuateALot=1",
                           "-Xms400m", "-Xmx400m", "-XX:MaxGCPauseMillis=100000"};
        run("CleanWhite", "guarantee.*failed: (Black|Marked): ", cycles);    // in a remark it is Marked
        run("CleanSparse", "guarantee.*failed: Recorded: ", cycles);
    }
}
