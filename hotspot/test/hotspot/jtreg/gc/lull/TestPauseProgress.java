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

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.test.lib.Asserts;
import jdk.test.lib.dcmd.PidJcmdExecutor;
import jdk.test.lib.process.OutputAnalyzer;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary Performance counters say how much a pause had to do, and that it is done.
 * @library /test/lib /
 * @modules java.management
 * @run main/othervm -Xms128m -Xmx128m -XX:+UseLullGC -XX:+UsePerfData gc.lull.TestPauseProgress true
 */

/*
 * @test id=noCounters
 * @requires vm.gc.Lull
 * @summary Without performance counters collections do without.
 * @library /test/lib /
 * @modules java.management
 * @run main/othervm -Xms128m -Xmx128m -XX:+UseLullGC -XX:-UsePerfData gc.lull.TestPauseProgress false
 */

public class TestPauseProgress {
    private static final long LIVE = 40L << 20;

    private static Object[] live;

    private static long counter(String name, String output) {
        Matcher matcher = Pattern.compile("^sun\\.gc\\.lull\\.pause\\." + name + "=(\\d+)$", Pattern.MULTILINE).matcher(output);
        Asserts.assertTrue(matcher.find(), "there is no counter " + name);
        return Long.parseLong(matcher.group(1));
    }

    /** What pauses were expected to have to do: the least of some, for a disturbed one counts in those after it. */
    private static long expected(boolean counted) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 8; i++) {
            System.gc();
            OutputAnalyzer output = new PidJcmdExecutor().execute("PerfCounter.print", true /* silent */);
            if (!counted) {
                output.shouldNotContain("sun.gc.lull.pause");
                continue;
            }
            Asserts.assertEQ(counter("done", output.getStdout()), counter("work", output.getStdout()), "all is done");
            if (i >= 3) {
                least = Math.min(least, counter("expected", output.getStdout()));
            }
        }
        System.out.println(least / 1024 + " KB");
        return least;
    }

    public static void main(String[] args) {
        boolean counted = Boolean.parseBoolean(args[0]);
        long without = expected(counted);
        live = new Object[(int) (LIVE / 1024)];
        for (int i = 0; i < live.length; i++) {
            live[i] = new byte[1024 - 16];
        }
        long with = expected(counted);
        live = null;
        long after = expected(counted);
        if (counted) {
            // What is done besides tracing is part of it, as so many bytes more.
            Asserts.assertGTE(with, LIVE, "with " + LIVE + " bytes alive");
            Asserts.assertGT(with, without + LIVE / 2, "before and with " + LIVE + " bytes alive");
            Asserts.assertLT(after, with - LIVE / 2, "after they have died");
        }
    }
}
