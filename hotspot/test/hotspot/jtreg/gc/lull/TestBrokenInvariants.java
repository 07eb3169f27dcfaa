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

import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull & vm.debug
 * @summary The verifier can fail: of each invariant that -XX:LullBreakInvariant breaks it says that it does not hold.
 * @library /test/lib
 * @run driver gc.lull.TestBrokenInvariants
 */

public class TestBrokenInvariants {
    private static final List<String> INVARIANTS = List.of("B", "H", "Idle", "Large", "Live", "Marked", "Marks", "Memory",
        "R", "Recyclable", "Runs", "Slack", "Straddler", "Stretches", "Survivors", "Used", "Waste", "Words", "Young");

    /** Keeps some of what it allocates, so that there are old objects, cards, holes and free blocks. */
    static class Work {
        private static final Object[] kept = new Object[2000];

        public static void main(String[] args) {
            for (int round = 0; round < 40; round++) {
                for (int i = 0; i < 20_000; i++) {
                    Object object = new byte[i % 700];
                    if (i % 10 == 0) {
                        kept[(i / 10 + round) % kept.length] = new Object[] { object };
                    }
                }
                if (round % 4 == 3) {
                    System.gc();
                }
            }
            System.out.println("Nothing was broken");
        }
    }

    private static Process start(String invariant) throws Exception {
        return ProcessTools.createLimitedTestJavaProcessBuilder("-XX:+UseLullGC", "-Xmx16m", "-XX:ParallelGCThreads=1",
            "-XX:TieredStopAtLevel=1", "-XX:-CreateCoredumpOnCrash", "-XX:LullBreakInvariant=" + invariant,
            Work.class.getName()).start();
    }

    private static void check(String invariant, Process process) throws Exception {
        OutputAnalyzer output = new OutputAnalyzer(process);
        output.shouldNotHaveExitValue(0);
        output.shouldNotContain("Nothing was broken");
        String said = output.firstMatch("guarantee\\(.*failed: (\\w+): ", 1);
        System.out.println(invariant + ": " + output.firstMatch("guarantee\\(.*failed: .*"));
        Asserts.assertEQ(said, invariant);
    }

    public static void main(String[] args) throws Exception {
        OutputAnalyzer none = new OutputAnalyzer(start("Nothing"));
        none.shouldContain("-XX:LullBreakInvariant=Nothing: there is no such invariant");
        Process whole = start("");
        // Two at a time.
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < INVARIANTS.size(); i++) {
            processes.add(start(INVARIANTS.get(i)));
            if (i % 2 == 1 || i == INVARIANTS.size() - 1) {
                for (int j = i - i % 2; j <= i; j++) {
                    check(INVARIANTS.get(j), processes.get(j));
                }
            }
        }
        new OutputAnalyzer(whole).shouldHaveExitValue(0).shouldContain("Nothing was broken");
    }
}
