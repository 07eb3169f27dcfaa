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
import java.util.stream.Stream;
import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;
import jdk.test.whitebox.WhiteBox;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary A young collection sweeps as many blocks as there are young ones, and looks at the cards of as many as
 *          were stored to, however large the heap is that is old.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run driver gc.lull.young.TestVisitedBlocks
 */

public class TestVisitedBlocks {
    private static final int ROUNDS = 4;
    private static final int BLOCK = 32 * 1024;
    private static final int STORED_TO = 40;    // old objects that get a young one in a round, blocks apart
    private static final Pattern SWEPT =
        Pattern.compile("Swept: (\\d+) blocks of (\\d+), those with something young; (\\d+) got free");
    private static final Pattern CARDS =
        Pattern.compile("Dirty cards: (\\d+), remembered objects: \\d+, in (\\d+) stretches of cards");
    private static final String ROUND_ENDS = "Pause Young (WhiteBox Initiated Young GC)";

    /** MB that are old, MB that are allocated between two collections. */
    static class Program {
        private static Object[][] old;
        private static volatile Object published;

        // One by a store, more by the stub that copies arrays.
        private static void store(Object[] array, int at, Object[] values, int count) {
            if (count == 1) {
                array[at] = values[0];
            } else {
                System.arraycopy(values, 0, array, at, count);
            }
        }

        public static void main(String[] args) {
            WhiteBox wb = WhiteBox.getWhiteBox();
            old = new Object[Integer.parseInt(args[0]) * 64][];
            for (int i = 0; i < old.length; i++) {
                old[i] = new Object[4080];    // two of them fill a block
            }
            wb.fullGC();
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < STORED_TO; i++) {
                    // In other blocks than in the rounds before, and nothing else is stored into what lies there.
                    store(old[8 * i + 2 * round], i, new Object[] {new byte[16], new byte[16]}, 1 + i % 2);
                }
                for (int k = 0; k < Integer.parseInt(args[1]) * 512; k++) {
                    published = new byte[2000];
                }
                wb.youngGC();
            }
            System.out.println("Collected");
        }
    }

    /**
     * What each round counted. The VM may collect by itself before a round ends, and after the last one; what such a
     * collection swept counts for the round that it falls into.
     */
    private static final class Counts {
        private long blocks;
        private final List<Long> swept = new ArrayList<>();
        private final List<Long> dirty = new ArrayList<>();
        private final List<Long> stretches = new ArrayList<>();

        Counts(int heap, int old, int young) throws Exception {
            OutputAnalyzer output = ProcessTools.executeLimitedTestJava(
                "-Xbootclasspath/a:.", "-XX:+UnlockDiagnosticVMOptions", "-XX:+WhiteBoxAPI", "-XX:+UseLullGC",
                "-XX:+UnlockExperimentalVMOptions", "-XX:LullReferencePausePercent=0",
                "-XX:-LullConcurrentMarking",    // a remark would stand for one of the young collections
                "-Xms" + heap + "m", "-Xmx" + heap + "m", "-Xlog:gc,gc+heap=debug",
                "-Xcomp", "-XX:CompileCommand=quiet",
                "-XX:CompileCommand=compileonly," + Program.class.getName() + "::store",
                Program.class.getName(), String.valueOf(old), String.valueOf(young));
            output.shouldHaveExitValue(0);
            output.shouldContain("Collected");
            read(output.asLines());
            System.out.println(heap + " MB, " + old + " old, " + young + " young: " + blocks + " blocks; swept " + swept +
                               "; dirty cards " + dirty + " in stretches " + stretches);
            Asserts.assertEquals(swept.size(), ROUNDS, "rounds that a young collection ended");
        }

        private void read(List<String> lines) {
            long sweptInRound = 0;
            long dirtyInRound = 0;
            long stretchesInRound = 0;
            for (String line : lines) {
                Matcher sweep = SWEPT.matcher(line);
                Matcher cards = CARDS.matcher(line);
                if (sweep.find()) {
                    sweptInRound += Long.parseLong(sweep.group(1));
                    blocks = Long.parseLong(sweep.group(2));
                } else if (cards.find()) {
                    dirtyInRound += Long.parseLong(cards.group(1));
                    stretchesInRound += Long.parseLong(cards.group(2));
                } else if (line.contains(ROUND_ENDS)) {
                    swept.add(sweptInRound);
                    dirty.add(dirtyInRound);
                    stretches.add(stretchesInRound);
                    sweptInRound = dirtyInRound = stretchesInRound = 0;
                }
            }
        }

        // The heap may have been collected while it was filled, and what is young in the first round is that of the
        // start, too.
        private static Stream<Long> ofLast(List<Long> counts) {
            return counts.stream().skip(counts.size() - (ROUNDS - 1));
        }

        private static long most(List<Long> counts) {
            return ofLast(counts).max(Long::compare).get();
        }

        private static long least(List<Long> counts) {
            return ofLast(counts).min(Long::compare).get();
        }

        long mostSwept()      { return most(swept); }
        long leastSwept()     { return least(swept); }
        long mostStretches()  { return most(stretches); }
        long leastStretches() { return least(stretches); }
    }

    public static void main(String[] args) throws Exception {
        Counts small = new Counts(40, 16, 4);
        Counts large = new Counts(192, 128, 4);
        Counts younger = new Counts(192, 128, 16);
        Asserts.assertGTE(large.blocks, 4 * small.blocks, "blocks of the larger heap");

        // What is young, as blocks, at least; beside it what else runs in the VM, and blocks that were begun.
        long young = 4L * 1024 * 1024 / BLOCK;
        for (Counts counts : List.of(small, large)) {
            Asserts.assertGTE(counts.leastSwept(), young, "swept of " + counts.blocks);
            Asserts.assertLTE(counts.mostSwept(), 2 * young + 256, "swept of " + counts.blocks);
            // A stored-to array may lie in two blocks, and the table of arrays, statics and the archive are old, too.
            Asserts.assertGTE(counts.leastStretches(), (long) STORED_TO / 2, "stretches of " + counts.blocks);
            Asserts.assertLTE(counts.mostStretches(), 2L * STORED_TO + 40, "stretches of " + counts.blocks);
        }
        Asserts.assertGTE(younger.leastSwept(), 4 * young, "swept where four times as much is young");
        Asserts.assertLTE(younger.mostSwept(), 8 * young + 256, "swept where four times as much is young");
        Asserts.assertLTE(younger.mostStretches(), 2L * STORED_TO + 40, "stretches where four times as much is young");
    }
}
