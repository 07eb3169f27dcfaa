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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;
import jdk.test.whitebox.WhiteBox;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary While a cache is filled young collections copy nothing but at first; when little survives again they copy,
 *          and what is dead gets free. All is as it was.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run driver gc.lull.young.TestFilledCache
 */

public class TestFilledCache {
    private static final int FILL_ROUNDS = 8;
    private static final int CHURN_ROUNDS = 9;
    private static final int ROUND_OBJECTS = 40_000;      // of a filling round, some 3 MB
    private static final int CHURN_OBJECTS = 100_000;     // of one with garbage, of which each twentieth lives on
    private static final int LATE = 3;                    // rounds by which it is noticed that little survives again

    private static final Pattern MARKED = Pattern.compile("Marked: (\\d+) objects, \\d+K; evacuated: (\\d+) objects");
    private static final Pattern USED = Pattern.compile("Pause Young \\(WhiteBox Initiated Young GC\\) \\d+M->(\\d+)M");

    static class Program {
        private static final class Entry {
            private final int number;
            private final Entry before;
            private final byte[] body = new byte[24];

            Entry(int number, Entry before) {
                this.number = number;
                this.before = before;
                body[number % body.length] = (byte) number;
            }

            void check(int expected) {
                if (number != expected || body[number % body.length] != (byte) number) {
                    throw new AssertionError(number + ", expected was " + expected);
                }
            }
        }

        private static final WhiteBox WB = WhiteBox.getWhiteBox();
        private static final Entry[] cache = new Entry[FILL_ROUNDS * ROUND_OBJECTS];
        private static volatile Object published;

        private static void check(int count) {
            for (int i = 0; i < count; i++) {
                cache[i].check(i);
                if (i % 8 != 0) {
                    cache[i].before.check(i - 1);
                }
            }
        }

        private static void fill() {
            for (int round = 0; round < FILL_ROUNDS; round++) {
                for (int i = round * ROUND_OBJECTS; i < (round + 1) * ROUND_OBJECTS; i++) {
                    cache[i] = new Entry(i, i % 8 == 0 ? null : cache[i - 1]);
                }
                WB.youngGC();
                check((round + 1) * ROUND_OBJECTS);
            }
        }

        private static void churn() {
            for (int round = 0; round < CHURN_ROUNDS; round++) {
                for (int i = 0; i < CHURN_OBJECTS; i++) {
                    published = new byte[32];
                    if (i % 20 == 0) {
                        // The neighbours refer to the one before.
                        int at = (round * CHURN_OBJECTS + i) / 20 * 8 % cache.length;
                        cache[at] = new Entry(at, null);
                    }
                }
                WB.youngGC();
                check(cache.length);
            }
        }

        public static void main(String[] args) {
            WB.fullGC();
            System.out.println("Fill");
            fill();
            System.out.println("Churn");
            churn();
            System.out.println("Done");
        }
    }

    private static final class Counts {
        private final List<Long> marked = new ArrayList<>();
        private final List<Long> evacuated = new ArrayList<>();
        private final List<Long> used = new ArrayList<>();
    }

    private static Counts read(List<String> lines, String from, String to) {
        Counts counts = new Counts();
        boolean reading = false;
        Matcher last = null;
        for (String line : lines) {
            if (line.equals(from) || line.equals(to)) {
                reading = line.equals(from);
                continue;
            }
            Matcher marked = MARKED.matcher(line);
            Matcher used = USED.matcher(line);
            if (reading && marked.find()) {
                last = marked;
            } else if (reading && used.find()) {
                counts.marked.add(Long.parseLong(last.group(1)));
                counts.evacuated.add(Long.parseLong(last.group(2)));
                counts.used.add(Long.parseLong(used.group(1)));
            }
        }
        System.out.println(from + ": marked " + counts.marked + "; evacuated " + counts.evacuated +
                           "; in use, MB " + counts.used);
        return counts;
    }

    private static List<String> run(String mode) throws Exception {
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(
            "-Xbootclasspath/a:.", "-XX:+UnlockDiagnosticVMOptions", "-XX:+WhiteBoxAPI", "-XX:+UseLullGC",
            "-XX:+UnlockExperimentalVMOptions", "-XX:LullReferencePausePercent=0", "-XX:MaxGCPauseMillis=60000", mode,
            "-XX:-LullConcurrentMarking",    // a remark would stand for one of the young collections
            "-Xms160m", "-Xmx160m", "-Xlog:gc,gc+heap", Program.class.getName());
        output.shouldHaveExitValue(0);
        output.shouldContain("Done");
        return output.asLines();
    }

    private static Counts checkFill(List<String> lines) {
        Counts fill = read(lines, "Fill", "Churn");
        Asserts.assertEquals(fill.marked.size(), FILL_ROUNDS, "rounds of filling");
        for (int i = 0; i < FILL_ROUNDS; i++) {
            Asserts.assertGTE(fill.marked.get(i), 2L * ROUND_OBJECTS, "entries and their bodies, round " + i);
        }
        long rounds = fill.evacuated.stream().filter(count -> count > 0).count();
        Asserts.assertLTE(rounds, 1L, "rounds that have copied though all survives");
        return fill;
    }

    private static void checkChurn(List<String> lines) {
        Counts churn = read(lines, "Churn", "Done");
        Asserts.assertEquals(churn.marked.size(), CHURN_ROUNDS, "rounds with garbage");
        for (int i = LATE; i < CHURN_ROUNDS; i++) {
            Asserts.assertGT(churn.evacuated.get(i), churn.marked.get(i) / 2,
                             "little survives, and is copied, round " + i);
        }
        // Of each round some 4.8 MB are garbage. What survives are 0.4 MB, which take the place of others that are old.
        long grown = churn.used.get(CHURN_ROUNDS - 1) - churn.used.get(LATE);
        Asserts.assertLTE(grown, CHURN_ROUNDS - LATE + 4L, "MB more in use after rounds with copies");
    }

    public static void main(String[] args) throws Exception {
        List<String> lines = run("-XX:+LullAlwaysPublic");
        Counts fill = checkFill(lines);
        Asserts.assertGT(fill.evacuated.get(0), 0L, "copied before anything is known");
        checkChurn(lines);
        // What lies in blocks of the thread that has made it is not copied in any case.
        checkFill(run("-XX:-LullAlwaysPublic"));
    }
}
