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

import java.util.regex.Pattern;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary Where much survives young pauses come before memory runs out, as MaxGCPauseMillis says; where next to nothing
 *          does, or the goal is far, they do not.
 * @library /test/lib
 * @run driver gc.lull.young.TestPauseGoal
 */

public class TestPauseGoal {
    private static int run(int goal, boolean survives, String... flags) throws Exception {
        String[] all = {"-Xms160m", "-Xmx160m", "-XX:+UseLullGC", "-XX:MaxGCPauseMillis=" + goal, "-Xlog:gc",
                        "-XX:+UnlockExperimentalVMOptions", Fill.class.getName(), String.valueOf(survives)};
        String[] command = new String[flags.length + all.length];
        System.arraycopy(all, 0, command, 0, all.length - 2);
        System.arraycopy(flags, 0, command, all.length - 2, flags.length);
        System.arraycopy(all, all.length - 2, command, command.length - 2, 2);
        OutputAnalyzer output = ProcessTools.executeTestJava(command);
        output.shouldHaveExitValue(0).shouldContain("all there");
        int early = (int) Pattern.compile("Pause (Young|Remark) \\(Pause Goal\\).* [\\d.]+ms").matcher(output.getStdout()).results().count();
        System.out.println("goal " + goal + " ms, survives: " + survives + ": " + early + " early pauses");
        return early;
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }

    public static void main(String[] args) throws Exception {
        // In the middle of 1 ms: 2 MB of new objects at a time, of some 400 MB.
        int early = run(1, true);
        check(early >= 10, "few early pauses with a goal of 1 ms");
        check(run(60_000, true) == 0, "early pauses though the goal is far");
        check(run(200, false) <= early / 4, "early pauses though nothing survives");
        check(run(1, true, "-XX:-LullConcurrentMarking") == 0, "early pauses though the next one may be a global one");
    }

    /** Fills a cache and replaces some of its entries, or makes as much garbage. */
    static class Fill {
        private static final int ENTRIES = 200_000;    // of some 400 bytes
        private static final Object[] CACHE = new Object[ENTRIES];
        private static final int ROUNDS = 6;
        private static Object last;

        private static Object[] entry(int number) {
            return new Object[] {Integer.valueOf(number), new long[44]};
        }

        public static void main(String[] args) {
            boolean survives = Boolean.parseBoolean(args[0]);
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < ENTRIES; i++) {
                    Object[] entry = entry(i + round);
                    if (survives) {
                        CACHE[i] = entry;
                    } else {
                        last = entry;
                    }
                }
            }
            for (int i = 0; survives && i < ENTRIES; i++) {
                if ((Integer) ((Object[]) CACHE[i])[0] != i + ROUNDS - 1) {
                    throw new AssertionError("entry " + i + " is another one");
                }
            }
            System.out.println("all there");
        }
    }
}
