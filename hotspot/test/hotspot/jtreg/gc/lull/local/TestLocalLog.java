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

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary The lines of -Xlog:gc for the local collections of some seconds have each of them once.
 * @library / /test/lib
 * @run driver gc.lull.local.TestLocalLog
 */

public class TestLocalLog {
    static final int THREADS = 2;
    static final int WAITS = 1000;    // of 7 ms
    static final int GARBAGE = 256 << 10;

    /** Longer than the time from one line to the next. */
    static class Work {
        public static void main(String[] args) throws Exception {
            int waits = Integer.parseInt(args[0]);
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                Thread thread = new Thread(() -> {
                    for (int i = 0; i < waits; i++) {
                        byte[][] latest = new byte[8][];    // or a compiler leaves the garbage out
                        for (int j = 0; j < GARBAGE / 1024; j++) {
                            latest[j & 7] = new byte[1024 - 16];
                        }
                        Asserts.assertNotNull(latest[i & 7]);
                        LockSupport.parkNanos(7_000_000);
                    }
                });
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    private static final Pattern LINE = Pattern.compile(
        "\\[gc *\\] Local collections: (\\d+) in (\\d+\\.\\d)s, (\\d+)M freed, (\\d+)M survived, " +
        "the longest \\d+\\.\\d{3}ms, by processor time \\d+\\.\\d{3}ms, processor time \\d+\\.\\d{3}ms in all$");
    private static final Pattern TOTAL = Pattern.compile("\\[gc,local *\\] Local collections: (\\d+), of them");

    private static OutputAnalyzer run(String log, int waits) throws Exception {
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava("-XX:+UseLullGC", "-Xmx64m", log, Work.class.getName(), "" + waits);
        output.shouldHaveExitValue(0);
        return output;
    }

    public static void main(String[] args) throws Exception {
        long sum = 0;
        long total = 0;
        int lines = 0;
        for (String line : run("-Xlog:gc,gc+local:stdout:uptime,tags", WAITS).stdoutAsLines()) {
            Matcher matcher = LINE.matcher(line);
            if (matcher.find()) {
                lines++;
                sum += Long.parseLong(matcher.group(1));
            }
            matcher = TOTAL.matcher(line);
            if (matcher.find()) {
                total = Long.parseLong(matcher.group(1));
            }
        }
        Asserts.assertGTE(total, (long) THREADS * WAITS * 9 / 10, "collections");
        // The thread that ends the VM may collect once more between the two.
        Asserts.assertLTE(Math.abs(sum - total), 2L, "each collection is in one line: " + sum + " of " + total);
        Asserts.assertGTE(lines, 2, "one by time, and the rest at the end");
        Asserts.assertLT(lines, 1000, "not a line for each");
        run("-Xlog:gc=warning", WAITS / 20).shouldNotContain("Local collections");
    }
}
