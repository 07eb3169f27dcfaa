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

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import jdk.test.lib.Asserts;
import jdk.test.lib.Utils;
import jdk.test.lib.dcmd.JMXExecutor;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;
import jdk.test.whitebox.WhiteBox;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.jvmti
 * @summary What Lull tells the pager of a far heap is what it does: which pages are young, old, private or free,
 *          before, while and after threads allocate and collect and the heap grows and shrinks; which blocks are taken,
 *          given back, pinned.
 * @library /test/lib /
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/native gc.lull.TestFarHeap whole
 */

/*
 * @test id=slides
 * @requires vm.gc.Lull & vm.debug & vm.jvmti
 * @summary The same while each third collection slides all objects together.
 * @library /test/lib /
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/native gc.lull.TestFarHeap slides
 */

/*
 * @test id=faults
 * @requires vm.gc.Lull & vm.debug & vm.jvmti
 * @summary Each thing that the heap tells the pager wrongly, or leaves out, is noticed.
 * @library /test/lib /
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/native gc.lull.TestFarHeap faults
 */

public class TestFarHeap {
    private static final int M = 1 << 20;
    private static final int PAGE = 4096;
    private static final int PAGES_PER_BLOCK = 8;
    private static final int MIN = 16 * M;
    private static final int MAX = 64 * M;
    private static final int TRIES = 200;

    /** As in libLullFarPager.cpp. */
    private static final int OTHER = 0;
    private static final int YOUNG = 1;
    private static final int UNUSED = 2;

    private static native void startAsking();
    private static native void stopAsking();
    private static native long pagesOf(long start, long bytes, int use);
    private static native long heapStart();
    private static native long heapPages();
    private static native long epoch();
    private static native long wiped();
    private static native long forgotten();
    private static native long trims();
    private static native long answers(int use);
    private static native long held();
    private static native String complaint();
    private static native int critical(byte[] array);

    // ---- In the program whose heap is far

    /** While nothing else allocates: what is said of each kind of page is just what is so. */
    static class Quiet {
        private static final WhiteBox WB = WhiteBox.getWhiteBox();
        private static final int SMALL = 4000;
        private static final int LARGE = 3 * M;

        static volatile Object shared;

        private static long pages(int use) {
            return pagesOf(heapStart(), heapPages() * PAGE, use);
        }

        /** Until it could be looked at without a pause, or a thread that takes a block, between: once at least. */
        private static void whenQuiet(String what, BooleanSupplier check) {
            for (int i = 0; i < TRIES; i++) {
                long epoch = epoch();
                long forgotten = forgotten();
                long unused = pages(UNUSED);
                if (check.getAsBoolean() && epoch == epoch() && forgotten == forgotten() && unused == pages(UNUSED)) {
                    return;
                }
            }
            throw new AssertionError(what + ": it is not so, or never quiet");
        }

        private static Map<String, Double> info() {
            Map<String, Double> numbers = new TreeMap<>();
            String said = new JMXExecutor().execute("Lull.info", true).getStdout();
            Matcher lines = Pattern.compile("(?m)^(\\S+): (\\d+(\\.\\d+)?)").matcher(said);
            while (lines.find()) {
                numbers.put(lines.group(1), Double.parseDouble(lines.group(2)));
            }
            return numbers;
        }

        /** Free are the blocks that Lull.info counts, and what is not committed; young is at least what is private. */
        private static void checkSums(String when) {
            whenQuiet("The sums " + when, () -> {
                Map<String, Double> info = info();
                long uncommitted = heapPages() - Runtime.getRuntime().totalMemory() / PAGE;
                long free = info.get("blocks.free").longValue() * PAGES_PER_BLOCK + uncommitted;
                long young = pages(YOUNG);
                double own = (info.get("blocks.private") + info.get("blocks.mixed")) * PAGES_PER_BLOCK;
                return pages(UNUSED) == free && young >= own && young + free + pages(OTHER) == heapPages();
            });
        }

        /** How many of the pages on which an object lies are of this use. */
        private static long pagesOfObject(Object object, int bytes, int use) {
            for (int i = 0; i < TRIES; i++) {
                long epoch = epoch();
                long address = WB.getObjectAddress(object);
                long count = pagesOf(address, bytes, use);
                if (epoch == epoch() && address == WB.getObjectAddress(object)) {
                    return count;
                }
            }
            throw new AssertionError("pauses, all the time");
        }

        private static void checkObject(byte[] object, String what) {
            int bytes = object.length + 16;
            Asserts.assertEQ(pagesOfObject(object, bytes, UNUSED), 0L, "nothing that is alive is of no use: " + what);
            if (!WB.isObjectInOldGen(object)) {
                Asserts.assertEQ(pagesOfObject(object, bytes, OTHER), 0L, "what is not old is young: " + what);
            }
        }

        private static byte[][] small() {
            byte[][] arrays = new byte[SMALL][];
            for (int i = 0; i < SMALL; i++) {
                arrays[i] = Data.bytes(1000, i);
            }
            return arrays;
        }

        private static void checkAges() {
            byte[][] arrays = small();
            byte[] large = Data.bytes(LARGE, 7);
            long whole = LARGE / PAGE;
            Asserts.assertGTE(pagesOfObject(large, LARGE, YOUNG), whole, "all parts of a new large object");
            for (int pause = 0; pause < 4; pause++) {
                Asserts.assertTrue(pause == 0 || WB.isObjectInOldGen(arrays[0]) || pause < 3, "old after three pauses");
                for (byte[] array : arrays) {
                    checkObject(array, "a small one after " + pause + " pauses");
                }
                checkObject(large, "a large one after " + pause + " pauses");
                shared = arrays;    // for the next pause it is public, and survives as such
                if (pause < 2) {
                    WB.youngGC();
                } else {
                    WB.fullGC();
                }
            }
            Asserts.assertTrue(WB.isObjectInOldGen(large));
            Asserts.assertGTE(pagesOfObject(large, LARGE, OTHER), whole, "all parts of an old large object");
            long old = Arrays.stream(arrays).filter(array -> pagesOfObject(array, 1, OTHER) == 1).count();
            Asserts.assertGTE(old, SMALL * 3L / 4, "few new objects lie among old ones");
            checkSums("with old objects");
            long unused = pages(UNUSED);
            large = null;
            WB.fullGC();
            Asserts.assertGTE(pages(UNUSED) - unused, whole / 2, "what a dead object leaves is free");
            for (int i = 0; i < SMALL; i++) {
                Data.check(arrays[i], i);
            }
            shared = null;
        }

        /** Who takes blocks that are free says so. What is allocated may lie in holes of others first: the next tries find these full. */
        private static void checkTaken() {
            List<byte[]> kept = new ArrayList<>();
            for (int i = 0; i < TRIES; i++) {
                long epoch = epoch();
                long forgotten = forgotten();
                long unused = pages(UNUSED);
                for (int j = 0; j < 2000; j++) {
                    kept.add(new byte[1000]);
                }
                long taken = unused - pages(UNUSED);
                LockSupport.parkNanos(20_000_000);    // who has taken one by now has said so
                if (epoch == epoch()) {
                    Asserts.assertGTE(forgotten() - forgotten, taken, "pages that are taken are forgotten");
                    if (taken >= 1_000_000L / PAGE) {
                        return;
                    }
                }
                kept.clear();
            }
            throw new AssertionError("pauses, or holes that are filled, all the time");
        }

        private static void checkSizes() {
            for (int round = 0; round < 2; round++) {
                long forgotten = forgotten();
                List<byte[]> live = new ArrayList<>();
                for (int i = 0; i < 4000; i++) {
                    live.add(Data.bytes(10_000, i));
                }
                Asserts.assertGTE(Runtime.getRuntime().totalMemory(), 38L * M, "it has grown");
                Asserts.assertGTE(forgotten() - forgotten, 38L * M / PAGE);
                checkSums("of a heap that has grown");
                for (int i = 0; i < live.size(); i++) {
                    Data.check(live.get(i), i);
                }
                live.clear();
                long trims = trims();
                for (int i = 0; i < 3; i++) {
                    System.gc();
                }
                Asserts.assertLTE(Runtime.getRuntime().totalMemory(), 32L * M, "it has shrunk");
                Asserts.assertGT(trims(), trims, "what is given back is trimmed");
                checkSums("of a heap that has shrunk");
            }
        }

        /** What libLullFarPager.cpp counts: MB, or pages. */
        private static void checkInfo() {
            boolean old = System.getenv("LULL_TEST_OLD_PAGER") != null;
            Map<String, Double> want = new TreeMap<>(Map.of(
                "far.local", 10.0, "far.local_limit", 30.0, "far.sent", 130.0, "far.dropped_clean", 140.0,
                "far.dropped_free", 150.0, "far.forgotten", 160.0, "far.young_passed", 43520.0, "far.sent_young", 180.0,
                "far.held_left", 48640.0));
            if (!old) {
                want.putAll(Map.of("far.remote", 20.0, "far.first_uses", 51200.0, "far.second_chances", 56320.0,
                                   "far.replica_fetches", 58880.0, "far.copied_again", 240.0,
                                   "far.lost_servers", 64000.0));
            }
            Map<String, Double> said = new TreeMap<>();
            whenQuiet("Lull.info of a far heap", () -> {
                said.clear();
                said.putAll(info());
                return true;
            });
            double inPauses = said.get("far.fetched_in_pauses");
            Asserts.assertGTE(inPauses, (double) GCBean.collections(), "1 MB at least comes in a pause");
            Asserts.assertLT(inPauses, said.get("far.fetched"));
            Asserts.assertEQ(said.get("far.waits_in_pauses"), old ? null : (Double) inPauses, "1 MB for each wait");
            Asserts.assertEQ(said.get("far.waits"), old ? null : said.get("far.fetched"));
            said.keySet().removeIf(key -> !key.startsWith("far.") || key.contains("fetched") || key.contains("waits"));
            Asserts.assertEQ(said, want);
        }

        static void run() {
            Asserts.assertEQ(heapPages(), (long) MAX / PAGE);
            checkSums("at the start");
            checkAges();
            checkTaken();
            checkSizes();
            checkInfo();
            for (int length : new int[] { 100, 50_000, 300_000 }) {
                Asserts.assertEQ(critical(new byte[length]), 0, "pages that were not held");
            }
            Asserts.assertEQ(held(), 0L);
            Asserts.assertGT(wiped(), 0L);
        }
    }

    /** While all goes on, and the pager asks. */
    static class Busy {
        private static final int THREADS = 3;
        private static final int KEPT = 150;
        private static final WhiteBox WB = WhiteBox.getWhiteBox();

        static volatile Object[] shared = new Object[THREADS];
        static volatile boolean stop;
        static volatile Throwable wrong;

        private static int length(int number) {
            return number % 97 == 0 ? 100_000 : number % 13 == 0 ? 9_000 : number % 1500;
        }

        /** Some of it is private, some is old, most is garbage. */
        private static void work(int me) {
            Object[] kept = new Object[KEPT];
            int[] numbers = new int[KEPT];
            byte[] pinned = new byte[70_000];
            for (int i = 0; !stop; i++) {
                int number = me * 1_000_000 + i;
                int slot = i * 31 % KEPT;
                if (kept[slot] != null) {
                    Data.check(kept[slot], numbers[slot]);
                }
                int length = length(number);
                kept[slot] = i % 3 == 0 ? Data.references(length / 4, number) : Data.bytes(length, number);
                numbers[slot] = number;
                if (i % 1000 == 0) {
                    shared[me] = i % 2000 == 0 ? kept.clone() : null;
                    Asserts.assertEQ(critical(pinned), 0, "pages that were not held");
                    LockSupport.parkNanos(1);
                }
            }
            for (int slot = 0; slot < KEPT; slot++) {
                if (kept[slot] != null) {
                    Data.check(kept[slot], numbers[slot]);
                }
            }
        }

        static void run(int rounds) throws Exception {
            List<byte[]> grown = new ArrayList<>();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int me = i;
                Thread thread = new Thread(() -> work(me));
                thread.setUncaughtExceptionHandler((which, error) -> wrong = error);
                threads.add(thread);
                thread.start();
            }
            for (int round = 0; round < rounds; round++) {
                if (round % 8 < 4) {
                    WB.youngGC();
                    for (int i = 0; i < 300; i++) {
                        grown.add(Data.bytes(10_000, i));
                    }
                } else {
                    for (int i = 0; i < grown.size(); i++) {
                        Data.check(grown.get(i), i % 300);
                    }
                    grown.subList(round % 8 == 7 ? 0 : grown.size() * 3 / 4, grown.size()).clear();
                    System.gc();
                }
                Thread.sleep(20);
                Asserts.assertNull(complaint());
            }
            stop = true;
            for (Thread thread : threads) {
                thread.join();
            }
            Asserts.assertNull(wrong, "" + wrong);
            Asserts.assertEQ(held(), 0L);
        }
    }

    static class Program {
        public static void main(String[] args) throws Exception {
            System.load(args[0]);
            Quiet.run();
            startAsking();
            // On a busy machine it may begin when all is over.
            while (answers(OTHER) + answers(YOUNG) + answers(UNUSED) == 0) {
                Thread.sleep(1);
            }
            Busy.run(Integer.parseInt(args[1]));
            stopAsking();
            Asserts.assertNull(complaint());
            System.out.println("Asked: other " + answers(OTHER) + ", young " + answers(YOUNG) + ", of no use " +
                               answers(UNUSED) + "; wiped " + wiped() + ", forgotten " + forgotten() + ", trims " +
                               trims() + ", local " + GCBean.localCollections() + ", pauses " + GCBean.collections());
            for (int use = OTHER; use <= UNUSED; use++) {
                Asserts.assertGT(answers(use), 0L, "answers of use " + use);
            }
            Asserts.assertGT(GCBean.localCollections(), 0L);
            System.out.println("As it should be");
        }
    }

    // ---- In the test

    private static OutputAnalyzer run(boolean old, int rounds, String... flags) throws Exception {
        String pager = Path.of(Utils.TEST_NATIVE_PATH, System.mapLibraryName("LullFarPager")).toString();
        List<String> command = new ArrayList<>(List.of("-Xbootclasspath/a:.", "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+WhiteBoxAPI", "-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UseLullGC", "-Xms" + MIN, "-Xmx" + MAX,
            "-XX:AllocateHeapAt=.", "-Xlog:gc+init,gc+heap=debug",
            "-XX:-ZapUnusedHeapArea",    // or free blocks are written to once more
            "-XX:-CreateCoredumpOnCrash", "--enable-native-access=ALL-UNNAMED"));
        command.addAll(List.of(flags));
        command.addAll(List.of(Program.class.getName(), pager, "" + rounds));
        ProcessBuilder builder = ProcessTools.createLimitedTestJavaProcessBuilder(command);
        builder.environment().put("LD_PRELOAD", pager);
        if (old) {
            builder.environment().put("LULL_TEST_OLD_PAGER", "1");
        }
        return new OutputAnalyzer(builder.start());
    }

    private static void checkWhole(OutputAnalyzer output) {
        output.shouldHaveExitValue(0).shouldContain("As it should be").shouldNotContain("complains");
        output.shouldContain("Far heap: 64M on memory servers, of which 30M may be local");
        output.shouldMatch("Far: 10M of 30M local; this pause has fetched \\d+M in \\d+ waits; so far fetched \\d+M, " +
                           "sent 130M, of it young 180M; not sent for being free 150M, not fetched for that 160M");
        System.out.println(output.firstMatch("Asked: .*"));
    }

    /** A fault, and what tells of it. */
    private static void checkFault(String fault, String noticed) throws Exception {
        OutputAnalyzer output = run(false, 2, "-XX:LullBreakInvariant=" + fault);
        output.shouldNotHaveExitValue(0).shouldNotContain("As it should be");
        String said = output.firstMatch(noticed);
        Asserts.assertNotNull(said, fault + ": not '" + noticed + "' in " + output.getOutput());
        System.out.println(fault + ": " + said);
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "whole" -> {
                checkWhole(run(false, 16));
                checkWhole(run(true, 2));
            }
            case "slides" -> checkWhole(run(false, 12, "-XX:LullSlideALot=3"));
            case "faults" -> {
                checkFault("FarFree", "The pager complains: Taken: .*");
                checkFault("FarYoung", "The sums at the start: it is not so.*");
                checkFault("FarForgets", "pages that are taken are forgotten.*");
                checkFault("FarTrims", "The pager complains: Taken: blocks were given back .*");
                checkFault("FarHolds", "pages that were not held.*");
            }
            default -> throw new IllegalArgumentException(args[0]);
        }
    }
}
