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

package gc.lull.concurrent;

import java.util.ArrayList;
import java.util.List;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull & vm.debug
 * @summary With a part of concurrent marking, or of the sweep after it, left out the checks of invariants stop the VM.
 * @library / /test/lib
 * @build gc.lull.concurrent.TestConcurrentMarking gc.lull.concurrent.TestLaterSweep gc.lull.concurrent.TestUnloading
 *        gc.lull.concurrent.TestSparseBlocks gc.lull.concurrent.TestLateReferents
 *        jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main gc.lull.concurrent.TestDroppedMarking
 */

public class TestDroppedMarking {
    // What can be reached has no mark: whichever check comes first.
    private static final String LOST = "guarantee.*failed: (Marked|Marks|Reach|R|Young): |unadvertised bad scavengable oop";

    // The sweep has filled what is alive, and a worker reads it before anybody checks.
    private static final String OVERWRITTEN = "narrowKlass ID out of range|Internal Error.*lullSweep.cpp|failed: Unswept: line";

    private static final String UNLOADING_LOG = "-Xlog:gc*,gc+marking=debug:file=unloading.log";

    private static void run(String what, String expected, String... programWithOptions) throws Exception {
        List<String> command = new ArrayList<>(List.of(
            "-Xbootclasspath/a:.", "-XX:+UnlockDiagnosticVMOptions", "-XX:+WhiteBoxAPI", "-XX:-CreateCoredumpOnCrash",
            "-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions", "-XX:+LullConcurrentMarking", what));
        command.addAll(List.of(programWithOptions));
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(command);
        output.shouldNotHaveExitValue(0);
        output.shouldMatch(expected);
        System.out.println(what + ": " + output.firstMatch(expected + ".*"));
    }

    private static void runHolders(String what, String expected) throws Exception {
        run(what, expected, "-Xmx128m", UNLOADING_LOG, TestUnloading.class.getName(), "holders");
    }

    private static void run(String what, String expected) throws Exception {
        run(what, expected, "-Xmx96m", "-XX:+LullCycleALot", "-Xlog:gc+marking=debug:file=cycles.log",
            TestConcurrentMarking.class.getName(), "30");
    }

    private static void runLate(String what) throws Exception {
        run("-XX:LullBreakInvariant=" + what, "guarantee.*failed: (Black|Marked): ", "-Xmx128m", "-XX:+LullAlwaysPublic",
            TestLateReferents.class.getName());
    }

    private static void runSparse(String what, String expected) throws Exception {
        run("-XX:LullBreakInvariant=" + what, expected, "-Xms48m", "-Xmx48m", "-XX:+ExplicitGCInvokesConcurrent",
            "-XX:LullEvacuateALot=1", "-Xlog:gc,gc+marking=debug:file=sparse.log", TestSparseBlocks.class.getName(), "1", "4");
    }

    public static void main(String[] args) throws Exception {
        run("-XX:LullDropMarking=1", "guarantee.*failed: Black: field");
        run("-XX:LullDropMarking=4", LOST + "|" + OVERWRITTEN);
        run("-XX:LullDropMarking=2", "guarantee.*failed: Black: .*loader", "-Xmx128m", "-XX:+LullCycleALot",
            UNLOADING_LOG, TestUnloading.class.getName(), "churn");
        runHolders("-XX:LullDropMarking=2", "guarantee.*failed: Loaded: ");
        // The loader of what is alive is dead, and so is what code of its classes refers to, if that is in a frame.
        runHolders("-XX:LullBreakInvariant=RemarkLoaders", "guarantee.*failed: (Loaded|Frames): ");
        runHolders("-XX:LullBreakInvariant=RemarkStacks", "guarantee.*failed: Frames: ");
        runHolders("-XX:LullBreakInvariant=RemarkChunks", "guarantee.*failed: Frames: ");
        runLate("LateMarkers");
        runLate("LateRemark");
        run("-XX:LullBreakInvariant=SweepNew", "guarantee.*failed: Black: (field|handle)");
        run("-XX:LullBreakInvariant=Unswept", "guarantee.*failed: Unswept: block");
        // A line whose card says that something old is there stays in use in a young sweep.
        run("-XX:LullBreakInvariant=SweepCards", "guarantee.*failed: (R|Swept): line");
        run("-XX:LullBreakInvariant=SweepLeave", "guarantee.*failed: (Swept|Runs): ");
        run("-XX:LullBreakInvariant=SweepLines", "guarantee.*failed: (Swept|Slack): ");
        run("-XX:LullBreakInvariant=SweepWords", "guarantee.*failed: (Words|Slack|Swept): ");
        // Where nobody else sweeps.
        run("-XX:LullBreakInvariant=SweepTaken", "failed: (Unswept|Runs): ", "-Xms128m", "-Xmx128m",
            "-XX:+LullMarkInRemark", "-XX:+ExplicitGCInvokesConcurrent",
            "-Xlog:gc*,gc+heap=debug,gc+marking=debug:file=sweeps.log", TestLaterSweep.class.getName(), "takers");
        runSparse("NotesMarkers", "guarantee.*failed: Recorded: field");
        runSparse("NotesPauses", "guarantee.*failed: Recorded: field");
        runSparse("NotesClasses", LOST);
    }
}
