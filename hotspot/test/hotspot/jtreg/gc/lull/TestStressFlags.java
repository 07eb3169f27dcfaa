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

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull & vm.debug & os.family == "linux"
 * @summary Each stress flag that other tests rely on does what it says: without that they would pass, and test less.
 * @library / /test/lib
 * @run driver gc.lull.TestStressFlags
 */

public class TestStressFlags {
    private static final int ROUNDS = 5;
    private static final Pattern LOCAL = Pattern.compile("Local collections: (\\d+), of them");

    /** Where it is asked for: what memory of this process may be read and written. */
    private static void printMaps() throws Exception {
        if (Boolean.getBoolean("maps")) {
            Files.readAllLines(Path.of("/proc/self/maps")).forEach(System.out::println);
        }
    }

    static class Work {
        static volatile Object published;

        /** Each round replaces every second object of the live ones, so that there are holes, makes garbage, and publishes some. */
        public static void main(String[] args) throws Exception {
            Object[] live = new Object[4000];
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = round % 2; i < live.length; i += 2) {
                    live[i] = new byte[1000];
                    byte[][] latest = new byte[8][];
                    for (int j = 0; j < 16; j++) {
                        latest[j & 7] = new byte[100];
                    }
                    published = new Object[] {latest[i & 7]};
                }
                System.gc();
            }
            System.out.println("Rounds: " + ROUNDS + ", " + live.length);
            printMaps();
        }
    }

    /** One thread makes garbage that nobody else has seen, and collects it by itself. */
    static class Garbage {
        public static void main(String[] args) throws Exception {
            byte[][] latest = new byte[16][];
            for (int i = 0; i < 1_000_000; i++) {
                latest[i % latest.length] = new byte[100];
            }
            System.out.println("Rounds: " + ROUNDS);
            printMaps();
        }
    }

    private static List<String> run(String... flags) throws Exception {
        return run(Work.class, flags);
    }

    private static List<String> run(Class<?> main, String... flags) throws Exception {
        List<String> command = new ArrayList<>(List.of("-Xms64m", "-Xmx64m", "-XX:+UseLullGC", "-XX:MaxGCPauseMillis=60000",
            "-XX:+UnlockExperimentalVMOptions",
            "-XX:+LullAlwaysPrivate", "-Xlog:gc,gc+heap,gc+ergo=debug,gc+publish=debug,gc+local"));
        command.addAll(List.of(flags));
        command.add(main.getName());
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(command);
        output.shouldHaveExitValue(0);
        output.shouldContain("Rounds: " + ROUNDS);
        return output.stdoutAsLines();
    }

    private static long count(List<String> lines, String regex) {
        Pattern pattern = Pattern.compile(regex);
        return lines.stream().filter(line -> pattern.matcher(line).find()).count();
    }

    private static long localCollections(List<String> lines) {
        Matcher last = null;
        for (String line : lines) {
            Matcher matcher = LOCAL.matcher(line);
            if (matcher.find()) {
                last = matcher;
            }
        }
        Asserts.assertNotNull(last, "nothing is said of local collections");
        return Long.parseLong(last.group(1));
    }

    /** Returns how many bytes of the heap nobody may read or write. The size of the heap is that with which it begins. */
    private static long protectedBytes(List<String> lines) {
        Pattern address = Pattern.compile("Heap address: 0x(\\p{XDigit}+), size: (\\d+) MB");
        Pattern mapping = Pattern.compile("^(\\p{XDigit}+)-(\\p{XDigit}+) (....) ");
        long start = 0;
        long end = 0;
        long bytes = 0;
        long mappings = 0;
        for (String line : lines) {
            Matcher heap = address.matcher(line);
            if (heap.find()) {
                start = Long.parseUnsignedLong(heap.group(1), 16);
                end = start + (Long.parseLong(heap.group(2)) << 20);
            }
            Matcher matcher = mapping.matcher(line);
            if (matcher.find()) {
                mappings++;
                long from = Math.max(start, Long.parseUnsignedLong(matcher.group(1), 16));
                long to = Math.min(end, Long.parseUnsignedLong(matcher.group(2), 16));
                bytes += matcher.group(3).startsWith("---") && from < to ? to - from : 0;
            }
        }
        Asserts.assertTrue(start > 0 && mappings > 0, "the log says where the heap is, the process what it has mapped");
        return bytes;
    }

    private static final String GLOBAL = "Pause Full .*ms$";
    private static final String SLID = "GC\\(\\d+\\) Slid: [1-9]";
    private static final String ALL_MOVES = "Evacuation: all [1-9]\\d* blocks";
    private static final String MOVED = "; evacuated: [1-9]";
    private static final String STRESS = "public mode, stress";

    public static void main(String[] args) throws Exception {
        List<String> plain = run();
        Asserts.assertEQ(count(plain, SLID + "|" + ALL_MOVES + "|" + STRESS), 0L, "without a stress flag");

        List<String> slides = run("-XX:LullSlideALot=1");
        Asserts.assertGTE(count(slides, GLOBAL), (long) ROUNDS);
        Asserts.assertEQ(count(slides, SLID), count(slides, GLOBAL), "each global collection slides");

        List<String> evacuates = run("-XX:LullEvacuateALot=1");
        Asserts.assertGTE(count(evacuates, ALL_MOVES), (long) ROUNDS, "each global collection moves what may be moved");
        Asserts.assertGTE(count(evacuates, MOVED), (long) ROUNDS, "collections that have moved objects");

        // Nearly each allocation is slow then.
        long few = localCollections(plain);
        long many = localCollections(run("-XX:LullLocalCollectALot=1"));
        System.out.println(few + " local collections, with the flag " + many);
        Asserts.assertGTE(many, 10 * few + 1000, "local collections");

        Asserts.assertGTE(count(run("-XX:LullFlipModeALot=1"), STRESS), 10L, "changes to public mode by LullFlipModeALot");
        Asserts.assertGTE(count(run("-XX:LullPublishAllALot=10"), STRESS), 1L, "changes to public mode by LullPublishAllALot");

        // Nearly all of 64 MB is free at the end. Without a pause local collections alone have freed anything: what the thread keeps, and what goes back.
        String[] maps = {"-Dmaps=true", "-Xlog:gc+heap+coops=debug"};
        String[] protects = {maps[0], maps[1], "-XX:+LullProtectFree"};
        Asserts.assertEQ(protectedBytes(run(maps)), 0L, "protected bytes without the flag");
        long afterGlobal = protectedBytes(run(protects));
        String[] noPause = {protects[0], protects[1], protects[2], "-XX:LullReferencePausePercent=0"};
        List<String> garbage = run(Garbage.class, noPause);
        long afterLocal = protectedBytes(garbage);
        System.out.println("With LullProtectFree " + afterGlobal + " bytes are protected after global collections, " + afterLocal + " after local ones");
        Asserts.assertGTE(afterGlobal, 32L << 20, "protected bytes after global collections");
        Asserts.assertEQ(count(garbage, "Pause (Young|Full|Remark)"), 0L, "pauses where local collections suffice");
        Asserts.assertGTE(afterLocal, 256L << 10, "protected bytes after local collections");
    }
}
