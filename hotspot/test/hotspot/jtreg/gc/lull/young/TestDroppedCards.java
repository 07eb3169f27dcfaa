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

import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull & vm.debug & vm.compiler1.enabled & vm.compiler2.enabled
 * @summary With no card ever dirtied, by mutators or for survivors, the check of R stops the VM in TestYoungCollections.
 * @library / /test/lib
 * @build gc.lull.young.TestYoungCollections jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main gc.lull.young.TestDroppedCards
 */

public class TestDroppedCards {
    private static void run(String... flags) throws Exception {
        String[] command = {
            "-Xbootclasspath/a:.", "-XX:+UnlockDiagnosticVMOptions", "-XX:+WhiteBoxAPI", "-Xmx64m", "-XX:-CreateCoredumpOnCrash",
            "-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions", "-XX:+LullYoungCollections"};
        String[] all = new String[command.length + flags.length + 2];
        System.arraycopy(command, 0, all, 0, command.length);
        System.arraycopy(flags, 0, all, command.length, flags.length);
        all[all.length - 2] = TestYoungCollections.class.getName();
        all[all.length - 1] = "20";
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(all);
        output.shouldNotHaveExitValue(0);
        output.shouldMatch("guarantee.*failed: R: field");
        System.out.println(String.join(" ", flags) + ": " + output.firstMatch("R: .*"));
    }

    public static void main(String[] args) throws Exception {
        run("-XX:LullDropBarrier=8", "-Xint");
        run("-XX:LullDropBarrier=8", "-XX:TieredStopAtLevel=1");
        run("-XX:LullDropBarrier=8", "-XX:-TieredCompilation", "-Xcomp", "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,gc.lull.young.*::*");
        run("-XX:LullDropBarrier=9", "-XX:LullEvacuationMaxLivePercent=100");
    }
}
