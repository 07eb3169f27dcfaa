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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary The log tells what of the heap in use holds nothing: the ends of blocks of large objects. It is free once
 *          these have slid.
 * @library /test/lib /
 * @run driver gc.lull.TestSlack
 */

public class TestSlack {
    private static final int COUNT = 500;
    private static final int LENGTH = 16 << 10;
    private static final long LINE = 256;
    private static final long LINES = 128;     // of a block
    private static final long USED_LINES = LENGTH / LINE + 1;

    static class Work {
        static final List<Object> live = new ArrayList<>();

        public static void main(String[] args) throws Exception {
            for (int i = 0; i < COUNT; i++) {
                live.add(new byte[LENGTH]);
            }
            System.gc();
            // Too large for what is free in blocks: all slides.
            live.add(new byte[Integer.parseInt(args[0])]);
            System.gc();
        }
    }

    private static final Pattern USED = Pattern.compile("Used: (\\d+)K, of it (\\d+)K of slack");

    public static void main(String[] args) throws Exception {
        // Blocks of arrays: 15.6 of 32 MB, of which half is slack.
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava("-XX:+UseLullGC", "-Xms32m", "-Xmx32m",
            "-XX:+UnlockExperimentalVMOptions", "-XX:LullReferencePausePercent=0", "-XX:MaxGCPauseMillis=60000",    // no other collection is first
            "-Xlog:gc+heap*=debug", Work.class.getName(), Integer.toString(16 << 20));
        output.shouldHaveExitValue(0);
        List<long[]> collections = new ArrayList<>();
        for (String line : output.stdoutAsLines()) {
            Matcher matcher = USED.matcher(line);
            if (matcher.find()) {
                collections.add(new long[] {Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2))});
            }
        }
        Asserts.assertGTE(collections.size(), 3, "a collection that is asked for, one that slides, and the last one");
        long expected = COUNT * (LINES - USED_LINES) * LINE >> 10;
        long[] first = collections.get(0);
        // Of a few, for which there was room in an allocation buffer, there is none.
        Asserts.assertGTE(first[1], expected - 100, "slack of " + COUNT + " arrays in a block each");
        Asserts.assertLTE(first[1], expected + 512, "slack of some others");
        Asserts.assertGTE(first[0] - first[1], COUNT * (long) LENGTH >> 10,
                          "what is used and no slack has room for the arrays");
        long[] last = collections.get(collections.size() - 1);
        Asserts.assertLT(last[1], expected / 10, "all has slid");
        Asserts.assertLTE(last[0], first[0] - expected / 2 + (17 << 10), "and half of each array's block is free");
        output.shouldMatch("of what is used hold nothing: \\d+K behind the ends of large objects, " +
                           "\\d+K in holes that are too short");
    }
}
