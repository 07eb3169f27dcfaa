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

package gc.lull.publication;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.test.lib.Asserts;
import jdk.test.lib.dcmd.PidJcmdExecutor;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull & vm.debug
 * @summary What gc+publish and the performance counters say of threads that publish a known number of objects: per thread,
 *          in total, of threads that have ended, and of changes of mode. Without tracking there is nothing of it.
 * @library / /test/lib
 * @modules java.base/jdk.internal.misc java.management
 * @run driver gc.lull.publication.TestPublicationStatistics
 */

public class TestPublicationStatistics {
    static final int THREADS = 3;
    static final int CLOSURES = 1000;
    static final int STORES_OF_PUBLIC = 5000;
    static final int LIST = 500;
    static final int LIMIT = 1000;
    static final int LONG = 5 * LIMIT;
    // What the library publishes in the same thread.
    static final int OTHERS = 50;

    static class Item {
        Item next;
        long a, b;
    }

    /** Publishes closures of 4 objects: an array of 4 and 3 items, 32 + 3 * 32 bytes. And once a list. */
    static class Work {
        static volatile Object sink;

        static void publish() {
            for (int i = 0; i < CLOSURES; i++) {
                sink = new Item[] { new Item(), new Item(), new Item(), null };
            }
            Object isPublic = sink;
            for (int i = 0; i < STORES_OF_PUBLIC; i++) {
                sink = isPublic;
            }
            Item list = null;
            for (int i = 0; i < LIST; i++) {
                Item item = new Item();
                item.next = list;
                list = item;
            }
            sink = list;
        }

        static void publishMuch() {
            for (int i = 0; i < 100_000; i++) {
                sink = new Item();
            }
        }

        static Item[] longArray() {
            Item[] array = new Item[LONG];
            for (int i = 0; i < LONG; i++) {
                array[i] = new Item();
            }
            return array;
        }

        /** Each by a thread of its own, for the first to be published takes its thread into public mode. */
        static void publishLongArrays() throws InterruptedException {
            Item[] isPublic = new Item[LONG];
            sink = isPublic;
            for (Runnable publication : List.<Runnable>of(() -> sink = longArray(), () -> System.arraycopy(longArray(), 0, isPublic, 0, LONG))) {
                Thread thread = new Thread(publication, "long");
                thread.start();
                thread.join();
                System.gc();    // which verifies that all of it is public
            }
        }

        static void collect(String name) {
            System.out.println("Moment " + name);
            System.out.flush();
            System.gc();
            String counters = new PidJcmdExecutor().execute("PerfCounter.print", true).getOutput();
            counters.lines().filter(line -> line.contains("sun.gc.lull.publication.")).forEach(System.out::println);
        }

        public static void main(String[] args) throws Exception {
            if (args[0].equals("much")) {
                publishMuch();
                return;
            }
            if (args[0].equals("long")) {
                publishLongArrays();
                return;
            }
            collect("before");
            CountDownLatch done = new CountDownLatch(THREADS);
            CountDownLatch end = new CountDownLatch(1);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Thread thread = new Thread(() -> {
                    publish();
                    done.countDown();
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }, "publisher-" + i);
                thread.start();
                threads.add(thread);
            }
            done.await();
            collect("alive");
            end.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
            // A thread is in the VM's list a little longer than join() waits.
            long limit = System.nanoTime() + 60_000_000_000L;
            while (new PidJcmdExecutor().execute("Thread.print", true).getOutput().contains("\"publisher-") && System.nanoTime() < limit) {
                Thread.sleep(100);
            }
            collect("ended");
        }
    }

    private static final Pattern COUNTS = Pattern.compile(
        "llocated: (\\d+)K, published: (\\d+)K \\((\\d+\\.\\d)%\\), (\\d+) objects in (\\d+) closures, the longest of (\\d+); slow calls: (\\d+)");
    private static final Pattern CALLS = Pattern.compile("slow calls: (\\d+) \\(private destination: (\\d+), public value: (\\d+), published: (\\d+)\\)");
    private static final Pattern MODES = Pattern.compile("public mode: entered (\\d+) times, left (\\d+) times");

    private static long number(Pattern pattern, int group, String line) {
        Matcher matcher = pattern.matcher(line);
        Asserts.assertTrue(matcher.find(), "not of the expected form: " + line);
        return Long.parseLong(matcher.group(group));
    }

    private static long allocated(String line)  { return number(COUNTS, 1, line); }
    private static long published(String line)  { return number(COUNTS, 2, line); }
    private static long objects(String line)    { return number(COUNTS, 4, line); }
    private static long closures(String line)   { return number(COUNTS, 5, line); }
    private static long longest(String line)    { return number(COUNTS, 6, line); }

    private static void between(String what, long value, long least, long more) {
        Asserts.assertTrue(least <= value && value <= least + more, what + ": " + value + ", at least " + least + ", at most " + more + " more");
    }

    /** The lines from one moment to the next. */
    private static List<String> at(String moment, List<String> lines) {
        List<String> found = new ArrayList<>();
        boolean inside = false;
        for (String line : lines) {
            if (line.startsWith("Moment ")) {
                inside = line.equals("Moment " + moment);
            } else if (inside) {
                found.add(line);
            }
        }
        return found;
    }

    private static String one(String text, List<String> lines) {
        List<String> found = lines.stream().filter(line -> line.contains(text)).toList();
        Asserts.assertFalse(found.isEmpty(), "no line with " + text + " in " + lines);
        return found.getFirst();
    }

    private static long counter(String name, List<String> lines) {
        return Long.parseLong(one("sun.gc.lull.publication." + name + "=", lines).split("=")[1].trim());
    }

    private static OutputAnalyzer run(String work, String... flags) throws Exception {
        List<String> command = new ArrayList<>(List.of("-Xmx64m", "-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions", "-Xint",
            "-XX:ObjectAlignmentInBytes=8", "-XX:+UsePerfData", "-Dtest.jdk=" + System.getProperty("test.jdk")));   // for jcmd
        command.addAll(List.of(flags));
        command.addAll(List.of(Work.class.getName(), work));
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(command);
        output.shouldHaveExitValue(0);
        return output;
    }

    private static void counts() throws Exception {
        List<String> lines = run("known", "-XX:-LullLocalCollections", "-XX:+LullAlwaysPrivate", "-Xlog:gc+publish=debug").stdoutAsLines();
        List<String> before = at("before", lines);
        List<String> alive = at("alive", lines);
        List<String> ended = at("ended", lines);

        long bytes = CLOSURES * (32 + 3 * 32) + LIST * 32;
        for (int i = 0; i < THREADS; i++) {
            String line = one("\"publisher-" + i + "\"", alive);
            Asserts.assertTrue(line.contains("private mode"), line);
            between("closures of " + line, closures(line), CLOSURES + 1, OTHERS);
            between("objects of " + line, objects(line), CLOSURES * 4 + LIST, OTHERS * 4);
            between("published by " + line, published(line), bytes / 1024, 20);
            Asserts.assertEQ(longest(line), (long) LIST, line);
            Asserts.assertGTE(allocated(line), published(line), line);
            // A store into a new object is slow if something in its line is public already.
            between("slow calls of " + line, number(COUNTS, 7, line), CLOSURES + 1 + STORES_OF_PUBLIC, 3 * CLOSURES + LIST + 1000);
        }

        String totalBefore = one("Allocated:", before);
        String totalAlive = one("Allocated:", alive);
        String totalEnded = one("Allocated:", ended);
        // And what other threads publish meanwhile.
        between("closures in total", closures(totalAlive) - closures(totalBefore), THREADS * (CLOSURES + 1), 20_000);
        Asserts.assertGTE(objects(totalEnded), objects(totalAlive), "threads have ended");
        Asserts.assertGTE(allocated(totalEnded), allocated(totalAlive), "threads have ended");
        Asserts.assertTrue(ended.stream().noneMatch(line -> line.contains("\"publisher-")), "threads have ended: " + ended);
        long calls = number(CALLS, 1, totalEnded);
        Asserts.assertEQ(calls, number(CALLS, 2, totalEnded) + number(CALLS, 3, totalEnded) + number(CALLS, 4, totalEnded), totalEnded);
        Asserts.assertGTE(number(CALLS, 3, totalEnded), (long) THREADS * STORES_OF_PUBLIC, totalEnded);
        Asserts.assertGTE(number(CALLS, 4, totalEnded), (long) THREADS * CLOSURES, totalEnded);

        // The counters are set before the line is written.
        Asserts.assertEQ(counter("closures", alive), closures(totalAlive));
        Asserts.assertEQ(counter("objects", alive), objects(totalAlive));
        Asserts.assertEQ(counter("published", alive) / 1024, published(totalAlive));
        Asserts.assertEQ(counter("allocated", alive) / 1024, allocated(totalAlive));
        Asserts.assertEQ(counter("longestClosure", alive), longest(totalAlive));
        Asserts.assertEQ(counter("slowCalls", alive), number(CALLS, 1, totalAlive));
        Asserts.assertEQ(counter("publicModeEntered", alive), number(MODES, 1, totalAlive));
        Asserts.assertEQ(counter("publicModeLeft", alive), number(MODES, 2, totalAlive));
        between("published in total", counter("published", alive) - counter("published", before), THREADS * bytes, 4 << 20);

        // And there is a line at the end.
        Asserts.assertGTE(closures(lines.stream().filter(line -> line.contains("Allocated:")).toList().getLast()), closures(totalEnded));
    }

    private static void modes() throws Exception {
        OutputAnalyzer output = run("much", "-XX:-LullLocalCollections", "-XX:LullPublicModeWindow=32k", "-XX:LullPublicModeWindows=1",
            "-Xlog:gc+publish=debug");
        output.shouldMatch("Thread \\d+: public mode, much is published \\(\\d+% published\\)");
        output.shouldMatch("Thread \\d+: private mode, tries again");
        String last = output.stdoutAsLines().stream().filter(line -> line.contains("Allocated:")).toList().getLast();
        long entered = number(MODES, 1, last);
        long left = number(MODES, 2, last);
        Asserts.assertGTE(left, 2L, last);
        Asserts.assertGTE(entered, left, "each thread began in private mode: " + last);
    }

    /** Neither a long array nor a copy of many elements is published object by object beyond the limit. */
    private static void longArrays() throws Exception {
        String only = "-XX:CompileCommand=compileonly,*TestPublicationStatistics*::*";
        for (List<String> mode : List.of(List.of("-Xint"), List.of("-Xcomp", only, "-XX:TieredStopAtLevel=1"),
                                         List.of("-Xcomp", only, "-XX:-TieredCompilation"))) {
            List<String> flags = new ArrayList<>(List.of("-XX:-LullLocalCollections", "-XX:+LullAlwaysPrivate", "-XX:LullPublicationLimit=" + LIMIT,
                "-Xlog:gc+publish=debug"));
            flags.addAll(mode);
            OutputAnalyzer output = run("long", flags.toArray(new String[0]));
            output.shouldMatch("Thread \\d+: public mode, long closure");
            output.shouldMatch("Thread \\d+: public mode, long copy");
            String last = output.stdoutAsLines().stream().filter(line -> line.contains("Allocated:")).toList().getLast();
            Asserts.assertLTE(longest(last), LIMIT + 1L, last);
        }
    }

    private static void off() throws Exception {
        OutputAnalyzer output = run("known", "-XX:-LullTracking", "-XX:LullPublicationSampling=1", "-Xlog:gc+publish=trace");
        output.shouldContain("Moment ended");
        output.shouldNotContain("Allocated:");
        output.shouldNotContain("sun.gc.lull.publication.");
        output.shouldNotContain("stored by");
    }

    public static void main(String[] args) throws Exception {
        counts();
        modes();
        longArrays();
        off();
    }
}
