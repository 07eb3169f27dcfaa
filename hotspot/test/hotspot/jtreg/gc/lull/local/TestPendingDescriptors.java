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

package gc.lull.local;

import java.io.FileInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import jdk.test.lib.Utils;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary Files that nobody closes are closed before there are no descriptors, without garbage and without many references.
 * @library /test/lib
 * @run driver gc.lull.local.TestPendingDescriptors
 */

public class TestPendingDescriptors {
    private static final int LIMIT = 512;

    public static void main(String[] args) throws Exception {
        List<String> java = ProcessTools.createTestJavaProcessBuilder(
            "-Xmx64m", "-XX:+UseLullGC", "-Xlog:gc+ergo=debug:file=ergo.log", Unclosed.class.getName()).command();
        String command = "ulimit -n " + LIMIT + " && exec \"$@\"";
        ProcessBuilder limited = new ProcessBuilder("sh", "-c", command, "sh");
        limited.command().addAll(java);
        OutputAnalyzer output = ProcessTools.executeProcess(limited);
        output.shouldHaveExitValue(0).shouldContain("closed");
        if (Files.lines(Path.of("ergo.log")).noneMatch(line -> line.matches(".*References are due urgently.* \\d+ of " + LIMIT + " descriptors.*"))) {
            throw new AssertionError("no pause was for descriptors");
        }
    }

    static class Unclosed {
        private static int open() {
            return new java.io.File("/proc/self/fd").list().length;
        }

        public static void main(String[] args) throws Exception {
            int before = open();
            for (int i = 0; i < 300; i++) {
                new FileInputStream("/proc/self/status").read();
            }
            long patience = System.nanoTime() + Utils.adjustTimeout(60) * 1_000_000_000L;
            while (open() > before + 200) {
                if (System.nanoTime() > patience) {
                    throw new AssertionError(open() + " descriptors are open, " + before + " before");
                }
                Thread.sleep(50);
            }
            System.out.println("closed");
        }
    }
}
