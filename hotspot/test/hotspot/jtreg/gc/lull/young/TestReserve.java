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

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary A young collection leaves a reserve for copies, so that the next global collection can evacuate; a heap whose old
 *          objects die here and there stays usable.
 * @library / /test/lib
 * @run driver gc.lull.young.TestReserve
 */

public class TestReserve {
    private static final int COLLECTIONS = 5;
    private static final Pattern KEPT = Pattern.compile("kept for copies: (\\d+) free, (\\d+) recyclable");

    /** A table of 6 MB, of which arbitrary entries are replaced. */
    static class Table {
        private static final int ENTRIES = 12_000;
        private static final byte[][] entries = new byte[ENTRIES][];

        public static void main(String[] args) {
            Random random = new Random(1);
            for (long i = 0; i < 2_000_000; i++) {
                entries[random.nextInt(ENTRIES)] = new byte[64 + random.nextInt(960)];
            }
            System.out.println("Replaced");
        }
    }

    public static void main(String[] args) throws Exception {
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava("-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions",
                "-XX:+LullYoungCollections", "-Xms32m", "-Xmx32m", "-Xlog:gc,gc+heap=debug", Table.class.getName());
        output.shouldHaveExitValue(0);
        output.shouldContain("Replaced");
        List<String> without = new ArrayList<>();
        int young = 0;
        long kept = -1;   // none was said since the last pause
        for (String line : output.asLines()) {
            Matcher matcher = KEPT.matcher(line);
            if (matcher.find()) {
                kept = Long.parseLong(matcher.group(1)) + Long.parseLong(matcher.group(2));   // before the collection, then after it
            } else if (line.contains("Pause ") && line.endsWith("ms")) {
                Asserts.assertGTE(kept, 0L, "nothing is said of a reserve before " + line);
                if (line.contains("Pause Young")) {
                    young++;
                    if (kept == 0) {
                        without.add(line);
                    }
                }
                kept = -1;
            }
        }
        System.out.println(young + " young collections");
        Asserts.assertGTE(young, COLLECTIONS, "young collections");
        Asserts.assertTrue(without.isEmpty(), "no reserve after " + without);
    }
}
