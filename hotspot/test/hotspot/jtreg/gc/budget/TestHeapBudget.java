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


package gc.budget;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test id=limit-g1
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary The heap shrinks below a memory limit that becomes smaller, even if nothing is allocated.
 * @library /test/lib /
 * @modules jdk.jfr java.management jdk.management
 * @build gc.budget.Service
 * @run driver/timeout=300 gc.budget.TestHeapBudget limit G1GC
 */

/*
 * @test id=limit-lull
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary The same with Lull.
 * @library /test/lib /
 * @modules jdk.jfr java.management jdk.management
 * @build gc.budget.Service
 * @run driver/timeout=300 gc.budget.TestHeapBudget limit LullGC
 */

/*
 * @test id=garbage
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary A heap full of garbage shrinks below a limit before anything has been collected.
 * @library /test/lib /
 * @modules jdk.jfr java.management jdk.management
 * @build gc.budget.Service
 * @run driver/timeout=300 gc.budget.TestHeapBudget garbage LullGC
 */

/*
 * @test id=held-g1
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary A heap that had to grow is as large as the budget made it again when that is not needed any more.
 * @library /test/lib /
 * @modules jdk.jfr java.management jdk.management
 * @build gc.budget.Service
 * @run driver/timeout=300 gc.budget.TestHeapBudget held G1GC
 */

/*
 * @test id=held-lull
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary The same with Lull.
 * @library /test/lib /
 * @modules jdk.jfr java.management jdk.management
 * @build gc.budget.Service
 * @run driver/timeout=300 gc.budget.TestHeapBudget held LullGC
 */

/*
 * @test id=unknown
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary Where I/O is not known a heap that was taken below a limit stays there.
 * @library /test/lib /
 * @modules jdk.jfr java.management jdk.management
 * @build gc.budget.Service
 * @run driver/timeout=300 gc.budget.TestHeapBudget unknown G1GC
 */

/*
 * @test id=brief
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary Stalls of threads that live less than an interval count.
 * @library /test/lib /
 * @modules jdk.jfr java.management jdk.management
 * @build gc.budget.Service
 * @run driver/timeout=300 gc.budget.TestHeapBudget brief LullGC
 */

/*
 * @test id=others
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary Without I/O of mutators the heap keeps its size: stalls of other threads do not count.
 * @library /test/lib /
 * @modules jdk.jfr java.management jdk.management
 * @build gc.budget.Service
 * @run driver/timeout=300 gc.budget.TestHeapBudget others G1GC
 */

/*
 * @test id=fragmented
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary A heap in whose every granule something is alive shrinks nevertheless: by one collection that the budget asks for, after which
 *          all objects slide together.
 * @library /test/lib /
 * @modules jdk.jfr java.management jdk.management
 * @build gc.budget.Service
 * @run driver/timeout=300 gc.budget.TestHeapBudget fragmented LullGC
 */

/*
 * @test id=files
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary What is no file of this process's sensor is not used, with a warning that says why, until one comes.
 * @library /test/lib /
 * @modules jdk.jfr java.management jdk.management
 * @build gc.budget.Service
 * @run driver/timeout=300 gc.budget.TestHeapBudget files LullGC
 */

/*
 * @test id=rows
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary A sensor's file with more rows than the VM has memory for is not used, and does not end the VM.
 * @library /test/lib /
 * @modules jdk.jfr java.management jdk.management
 * @build gc.budget.Service
 * @run driver/timeout=300 gc.budget.TestHeapBudget rows LullGC
 */

public class TestHeapBudget {
    private static final int ATTEMPTS = 4;
    private static final String LOG = "budget.log";     // for the service: what the VM says of the file

    private static OutputAnalyzer run(String collector, String mode, String... flags) throws Exception {
        String file = "stall-" + collector + "-%p";
        List<String> command = new ArrayList<>(List.of(
            "-XX:+Use" + collector, "-Xmx512m", "-XX:MinHeapSize=16m", "-XX:InitialHeapSize=400m", "-XX:+UseHeapBudget", "-XX:HeapBudgetFile=" + file, "-Xlog:gc,gc+budget=debug"));
        command.addAll(List.of(flags));
        command.addAll(List.of("-Xlog:gc+budget:file=" + LOG, Service.class.getName(), mode, file, LOG));
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(command);
        System.out.println(output.getStdout());
        output.shouldHaveExitValue(0);
        output.shouldContain("The service has ended");
        return output;
    }

    /** "shrink, wait-shrink: why" of each step. */
    private static List<String> steps(OutputAnalyzer output) {
        return output.stdoutAsLines().stream().filter(line -> line.matches(".*\\] (grow|shrink), wait-.*"))
            .map(line -> line.replaceFirst(".*\\] ", "").replaceFirst("; .*", "")).toList();
    }

    /** In so large a heap that there is room for a step up: an allocation that would fail makes it grow, too, and may do so before the budget does. */
    static void phases(String collector) throws Exception {
        String recording = collector + ".jfr";
        OutputAnalyzer output = run(collector, "phases", "-XX:StartFlightRecording:filename=" + recording, "-Xmx2g");
        output.shouldContain("source bpf, of each thread");
        output.shouldMatch("shrink, wait-shrink: a try against the larger cost; lost: collections .* processors, I/O .* threads; heap [45][0-9]*M, live .*, to be ");
        output.shouldMatch("grow, wait-grow: ");

        List<String> recorded = new ArrayList<>();
        for (RecordedEvent event : RecordingFile.readAllEvents(Path.of(recording))) {
            if (event.getEventType().getName().equals("jdk.HeapBudgetDecision")) {
                long size = event.getLong("heapSize");
                long target = event.getLong("target");
                String action = event.getString("action");
                switch (action) {
                    case "shrink" -> {
                        Asserts.assertTrue(target < size, "a step down from " + size + " to " + target);
                        Asserts.assertTrue(target >= event.getLong("live"), "a step below what is alive");
                    }
                    case "grow" -> {
                        Asserts.assertTrue(target > size, "a step up from " + size + " to " + target);
                        Asserts.assertTrue(target <= event.getLong("available"), "a step above what is available");
                    }
                    case "hold" -> { }
                    default -> Asserts.fail(event.toString());
                }
                if (!action.equals("hold")) {
                    recorded.add(action + ", " + event.getString("state") + ": " + event.getString("reason"));
                }
            }
        }
        // The recording ends before the VM does.
        List<String> logged = steps(output);
        Asserts.assertEquals(recorded, logged.subList(0, Math.min(recorded.size(), logged.size())));
        Asserts.assertTrue(recorded.stream().anyMatch(step -> step.startsWith("shrink")), "no step down in " + recorded);
        Asserts.assertTrue(recorded.stream().anyMatch(step -> step.startsWith("grow")), "no step up in " + recorded);
    }

    private static void limit(String collector) throws Exception {
        OutputAnalyzer output = run(collector, "limit");
        output.shouldMatch("shrink, wait-shrink: the memory limit leaves less; .* at most 28[0-9]M \\(limit 300M, ");
        output.shouldMatch("shrink, wait-shrink: the memory limit leaves less; .* at most 1[0-9][0-9]M \\(limit 200M, ");
        output.shouldContain("(Heap Budget)");
    }

    private static void garbage(String collector) throws Exception {
        OutputAnalyzer output = run(collector, "garbage");
        output.shouldContain("Asking for a collection, as the heap of 400M is to be at most ");
        output.shouldMatch("shrink, wait-shrink: the memory limit leaves less; .* \\(limit 150M, ");
    }

    /** On a slow machine so many collections may have come before the limit that the heap has free granules: then there was nothing to see. */
    private static void fragmented(String collector) throws Exception {
        for (int i = 0; i < ATTEMPTS; i++) {
            OutputAnalyzer output = run(collector, "fragmented", "-Xlog:gc+heap");
            output.shouldMatch("shrink, wait-shrink: the memory limit leaves less; .* \\(limit 280M, ");
            long asked = output.asLines().stream().filter(line -> line.matches(".*Pause Full \\(Heap Budget\\) .*ms")).count();
            Asserts.assertTrue(asked >= 1 && asked <= 2, asked + " collections that the budget has asked for");
            if (output.getStdout().contains("Asking for a collection that makes room")) {
                output.shouldMatch("GC\\(\\d+\\) Slid: \\d+ objects");
                return;
            }
        }
        Asserts.fail("in none of " + ATTEMPTS + " runs a collection had to make room");
    }

    private static void held(String collector) throws Exception {
        OutputAnalyzer output = run(collector, "held");
        List<String> steps = steps(output);
        Asserts.assertTrue(steps.stream().allMatch(step -> step.equals("shrink, wait-shrink: the memory limit leaves less")), "other steps in " + steps);
        output.shouldContain("The heap has grown for an array");
    }

    private static void unknown(String collector) throws Exception {
        OutputAnalyzer output = run(collector, "unknown");
        output.shouldContain("is not used, and I/O is not known, until it can be: No such file or directory");
        output.shouldContain("hold, stable: I/O is not known");
        List<String> steps = steps(output);
        Asserts.assertTrue(steps.size() <= 5 && steps.stream().allMatch(step -> step.equals("shrink, wait-shrink: the memory limit leaves less")),
                           "other steps, or many, in " + steps);
    }

    private static void brief(String collector) throws Exception {
        OutputAnalyzer output = run(collector, "brief");
        output.shouldMatch("shrink, wait-shrink: a try against the larger cost; ");
    }

    private static void others(String collector) throws Exception {
        OutputAnalyzer output = run(collector, "others");
        output.shouldContain("hold, stable: both costs are small");
        Asserts.assertEquals(steps(output), List.of());
    }

    private static void files(String collector) throws Exception {
        OutputAnalyzer output = run(collector, "files");
        List<String> warnings = output.asLines().stream().filter(line -> line.contains("is not used, and I/O is not known, until it can be: "))
            .map(line -> line.substring(line.lastIndexOf(": ") + 2)).distinct().toList();    // between two there may be none
        List<String> expected = new ArrayList<>(List.of("No such file or directory", "it is too short", "it is no file of a sensor",
            "Is a directory", "it is of another process, or of one that had the same id before",
            "all may write to it", "its group may write to it"));
        if (output.getStdout().contains(Service.HAS_OTHER_OWNER)) {
            expected.add("it belongs neither to root nor to this process's user, as one of whom lull-stall must run");
        }
        Asserts.assertEquals(warnings, expected);
        output.shouldMatch("Stalls on I/O are measured by the sensor of stall-.*: source bpf, of each thread");
    }

    /** The limit leaves room for what the collector needs, and not for 64 MB of rows. */
    private static void rows(String collector) throws Exception {
        OutputAnalyzer output = run(collector, "rows", "-XX:NativeMemoryTracking=summary", "-XX:MallocLimit=gc:60m:oom");
        output.shouldContain("is not used, and I/O is not known, until it can be: there is no memory for its rows");
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "limit"  -> limit(args[1]);
            case "fragmented" -> fragmented(args[1]);
            case "garbage" -> garbage(args[1]);
            case "held"   -> held(args[1]);
            case "unknown" -> unknown(args[1]);
            case "brief"  -> brief(args[1]);
            case "others" -> others(args[1]);
            case "files"  -> files(args[1]);
            case "rows"   -> rows(args[1]);
            default       -> throw new IllegalArgumentException(args[0]);
        }
    }
}
