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
import jdk.test.lib.Utils;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull & vm.debug
 * @summary With the barrier of one place left out, the checks of TestChannels stop the VM and name the invariant.
 * @library / /test/lib
 * @modules java.base/jdk.internal.misc java.management
 * @build gc.lull.publication.TestChannels gc.lull.publication.TestJvmtiChannels jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/native/timeout=600 gc.lull.publication.TestInjectedFaults
 */

public class TestInjectedFaults {
    private static void run(int dropped, String what, int rounds, String... flags) throws Exception {
        List<String> command = new ArrayList<>(List.of(
            "--add-exports", "java.base/jdk.internal.misc=ALL-UNNAMED", "-Xmx128m", "-XX:-CreateCoredumpOnCrash",
            "-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions", "-XX:-LullLocalCollections", "-XX:+LullAlwaysPrivate",
            "-XX:LullDropBarrier=" + dropped));
        command.addAll(List.of(flags));
        command.add(TestChannels.class.getName());
        command.add(Integer.toString(rounds));
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(command);
        if (dropped == 0) {
            output.shouldHaveExitValue(0);
            output.shouldContain("channels");
            return;
        }
        if (output.getExitValue() == 0) {
            throw new AssertionError("nobody noticed that the barrier of " + what + " was missing");
        }
        output.shouldMatch("(fatal error|guarantee.*failed|assert.*failed): (P|B): ");
        System.out.println(what + ": " + output.firstMatch("(P|B): .*"));
    }

    /** A local variable that an agent reads: the graph is in the handles of the thread that asks, and no store has led there. */
    private static void runAgent(int dropped) throws Exception {
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(
            "-agentpath:" + Utils.TEST_NATIVE_PATH + "/" + System.mapLibraryName("LullJvmtiChannels"), "-Djava.library.path=" + Utils.TEST_NATIVE_PATH,
            "-Xbootclasspath/a:.", "-XX:+UnlockDiagnosticVMOptions", "-XX:+WhiteBoxAPI", "-Xmx128m", "-XX:-CreateCoredumpOnCrash",
            "-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions", "-XX:-LullLocalCollections", "-XX:+LullAlwaysPrivate",
            "-XX:LullDropBarrier=" + dropped, "-Drelay.channel=GetLocalObject", TestJvmtiChannels.class.getName(), "20", "50");
        if (dropped == 0) {
            output.shouldHaveExitValue(0);
        } else {
            output.shouldNotHaveExitValue(0);
            output.shouldMatch("received, and still private|: (P|B): ");
            System.out.println("handles of other threads: " + output.firstMatch(".*(still private|: (P|B): ).*"));
        }
    }

    static class Strings {
        public static void main(String[] args) {
            int length = 0;
            for (int i = 0; i < 1000; i++) {
                length += ("string " + i).intern().length();
            }
            System.gc();
            System.out.println(length + " characters");
        }
    }

    /** Strings in the table of all, which is a weak root. */
    private static void runStrings(int dropped) throws Exception {
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(
            "-Xint", "-Xmx128m", "-XX:-CreateCoredumpOnCrash", "-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions", "-XX:-LullLocalCollections",
            "-XX:+LullAlwaysPrivate", "-XX:LullDropBarrier=" + dropped, Strings.class.getName());
        if (dropped == 0) {
            output.shouldHaveExitValue(0);
        } else {
            output.shouldNotHaveExitValue(0);
            output.shouldContain("P: weak root ");
            System.out.println("weak roots: " + output.firstMatch("P: .*"));
        }
    }

    public static void main(String[] args) throws Exception {
        String[] interpreter = {"-Xint", "-XX:+LullLoadCheck"};
        String[] c1 = {"-XX:TieredStopAtLevel=1", "-XX:+LullLoadCheck"};
        String[] c2 = {"-XX:-TieredCompilation", "-XX:CompileThreshold=100", "-XX:-BackgroundCompilation"};
        run(0, "nothing", 20, interpreter);
        run(1, "the interpreter", 20, interpreter);
        run(2, "C1", 200, c1);
        run(3, "C2", 500, c2);
        run(4, "the array copy stubs", 500, c2);
        // Without collections only loads are checked.
        run(2, "C1, by loads", 20, "-Xcomp", "-XX:TieredStopAtLevel=1", "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,gc.lull.publication.*::*",
            "-XX:+LullLoadCheck", "-XX:-LullVerifyHeap", "-XX:+DisableExplicitGC");
        run(5, "the runtime's stores", 20, interpreter);
        run(6, "stores to roots", 20, interpreter);
        runAgent(0);
        runAgent(6);
        runStrings(0);
        runStrings(6);
    }
}
