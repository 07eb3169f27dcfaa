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

package gc.lull.stress;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.test.lib.Utils;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @key stress randomness
 * @requires vm.gc.Lull & vm.debug & vm.compiler2.enabled
 * @summary C2 chooses at random among the orders and shapes that are right: publication holds in all of them, and no store
 *          whose barrier was left out meets a public object. A failure is reported with its seed.
 * @library / /test/lib
 * @modules java.base/jdk.internal.misc java.management
 * @build gc.lull.publication.NewObjects gc.lull.publication.TestChannels
 * @run driver/timeout=3600 gc.lull.stress.TestCompilerSeeds 200
 */

/**
 * Arguments: how many seeds; then, to repeat a failure, the first of them (the others follow from it).
 */
public class TestCompilerSeeds {
    private static final int AT_A_TIME = Math.max(1, Runtime.getRuntime().availableProcessors());

    private static List<String> command(int seed) {
        List<String> command = new ArrayList<>(List.of(
            "--add-exports", "java.base/jdk.internal.misc=ALL-UNNAMED", "-Xmx128m", "-XX:-CreateCoredumpOnCrash",
            "-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions", "-XX:+UnlockDiagnosticVMOptions",
            "-XX:-LullLocalCollections", "-XX:+LullAlwaysPrivate", "-XX:+LullElideBarriers", "-XX:+LullCheckElision",
            "-XX:-TieredCompilation", "-XX:CompileThreshold=100", "-XX:-BackgroundCompilation",
            "-XX:+StressLCM", "-XX:+StressGCM", "-XX:+StressIGVN", "-XX:+StressCCP", "-XX:+StressMacroExpansion",
            "-XX:StressSeed=" + seed));
        // Half of them with what else changes the code, or the mode of threads.
        if ((seed & 1) != 0) {
            command.add("-XX:-UseCompressedOops");
        }
        if ((seed & 6) == 2) {
            command.add("-XX:LullFlipModeALot=3");
            command.add("-XX:LullPublishAllALot=101");
        }
        if ((seed & 24) == 8) {
            command.add("-XX:LoopStripMiningIter=0");
        }
        command.addAll(List.of("gc.lull.publication.NewObjects", Integer.toString(seed), "240", "3"));
        return command;
    }

    /** The seed's output if it fails, or null. */
    private static String run(int seed) throws Exception {
        OutputAnalyzer output = new OutputAnalyzer(ProcessTools.createLimitedTestJavaProcessBuilder(command(seed)).start());
        if (output.getExitValue() == 0 && output.getStdout().contains("new objects: done")) {
            return null;
        }
        return "exit status " + output.getExitValue() + "\n" + output.getOutput();
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        Random random = Utils.getRandomInstance();
        List<Integer> seeds = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            seeds.add(i == 0 && args.length > 1 ? Integer.parseInt(args[1]) : random.nextInt(Integer.MAX_VALUE));
        }
        AtomicInteger next = new AtomicInteger();
        List<Integer> failed = new ArrayList<>();
        List<Thread> runners = new ArrayList<>();
        for (int i = 0; i < AT_A_TIME; i++) {
            Thread runner = new Thread(() -> {
                for (int k = next.getAndIncrement(); k < count; k = next.getAndIncrement()) {
                    int seed = seeds.get(k);
                    String why;
                    try {
                        why = run(seed);
                    } catch (Throwable t) {
                        why = t.toString();
                    }
                    synchronized (failed) {
                        System.out.println((k + 1) + " of " + count + ": -XX:StressSeed=" + seed + (why == null ? " ok" : " FAILED"));
                        if (why != null) {
                            failed.add(seed);
                            System.out.println(String.join(" ", command(seed)));
                            System.out.println(why);
                        }
                    }
                }
            });
            runner.start();
            runners.add(runner);
        }
        for (Thread runner : runners) {
            runner.join();
        }
        if (!failed.isEmpty()) {
            throw new AssertionError(failed.size() + " of " + count + " seeds failed: " + failed);
        }
        System.out.println(count + " seeds, none failed");
    }
}
