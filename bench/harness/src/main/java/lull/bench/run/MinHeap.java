// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Consumer;
import lull.bench.proc.CpuSplit;
import lull.bench.util.Json;

/**
 * Finds the smallest heap in which a collector runs a service, by bisection to {@link #STEP} megabytes.
 *
 * <p>A check starts the server and sends every different request once, in a closed loop of as many clients as the server works on at
 * once. It passes if the server lives, all answers are right, and it uses at most {@link #MOST_CPU} times the processor time that it
 * uses in an ample heap, the median of three: a server that only collects does not run. Compilers' time does not count, as it
 * differs from run to run; wall-clock time does not either, as it depends on what else the machine does. The heap that is found has
 * passed three checks.
 * Results are kept in a file with all checks, per Java, machine, state of the service and collector.
 */
public final class MinHeap {
    private static final int AMPLE = 1024;
    private static final int LOW = 8;
    private static final int STEP = 2;
    private static final double MOST_CPU = 3;
    /** Bounds of a check that hangs, in wall-clock seconds. */
    private static final int READY_SECONDS = 300;
    private static final double ROUND_SECONDS = 900;
    private static final int PASSES = 3;

    private final Settings settings;
    private final Workload workload;
    private final Collector collector;
    private final Path directory;
    private final Consumer<String> say;
    private final List<Object> checks = new ArrayList<>();
    /** What the last check took. */
    private CpuSplit.Seconds last;
    /** What an ample heap takes; null until that is known. */
    private CpuSplit.Seconds ample;

    private MinHeap(Settings settings, Workload workload, Collector collector, Path directory, Consumer<String> say) {
        this.settings = settings;
        this.workload = workload;
        this.collector = collector;
        this.directory = directory;
        this.say = say;
    }

    /**
     * Returns the smallest heap in megabytes, from the file if it is known.
     *
     * @throws IOException if the service does not even run in an ample heap
     */
    public static int find(Settings settings, Workload workload, Collector collector, Consumer<String> say) throws IOException, InterruptedException {
        Path file = settings.build().resolve("demo/minheap.json");
        Files.createDirectories(file.getParent());
        Map<String, Object> known = Files.exists(file) ? Json.readObject(file) : new LinkedHashMap<>();
        String key = key(settings, workload, collector);
        if (known.get(key) instanceof Map<?, ?> found) {
            int heap = ((Number) found.get("megabytes")).intValue();
            say.accept("smallest heap of " + collector.label() + ": " + heap + " MB (measured before, see " + file + ")");
            return heap;
        }
        MinHeap search = new MinHeap(settings, workload, collector, settings.build().resolve("demo/minheap-" + collector.name()), say);
        int heap = search.search();
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("megabytes", heap);
        found.put("checks", search.checks);
        known.put(key, found);
        Json.write(file, known);
        say.accept("smallest heap of " + collector.label() + ": " + heap + " MB");
        return heap;
    }

    /** The same, with a line for each step; empty, with a warning, if the service does not even run in an ample heap. */
    static OptionalInt findOrWarn(Settings settings, Workload workload, Collector collector) throws InterruptedException {
        try {
            return OptionalInt.of(find(settings, workload, collector, System.out::println));
        } catch (IOException e) {
            System.err.println("warning: " + e.getMessage());
            return OptionalInt.empty();
        }
    }

    /** What the smallest heap depends on. */
    static String key(Settings settings, Workload workload, Collector collector) throws IOException, InterruptedException {
        return String.join(" | ", (workload.service() + " " + workload.options()).trim(), collector.name(), Jdk.of(collector.java()).text().replace("\n", ", "),
                String.join(" ", settings.flags()), settings.threads() + " clients", Machine.here().toString(),
                "at most " + MOST_CPU + " times the processor time", build(collector), "service " + workload.identity());
    }

    /** Tells builds of Lull apart, whose version stays the same while it is worked on. */
    private static String build(Collector collector) throws IOException {
        Path libjvm = collector.java().toRealPath().resolveSibling("../lib/server/libjvm.so");
        return collector.flags().contains("-XX:+UseLullGC") && Files.exists(libjvm) ? "libjvm of " + Files.getLastModifiedTime(libjvm) : "";
    }

    private int search() throws IOException, InterruptedException {
        say.accept("looking for the smallest heap in which " + collector.label() + " runs the service (kept for later runs)");
        List<CpuSplit.Seconds> inAmple = new ArrayList<>();
        for (int i = 0; i < PASSES; i++) {
            if (!passes(AMPLE)) {
                throw new IOException(collector.label() + " does not run the service in " + AMPLE + " MB: " + checks.getLast());
            }
            inAmple.add(last);
        }
        ample = median(inAmple);
        int low = LOW;
        int high = 128;
        while (!passes(high)) {
            low = high;
            high *= 2;
            if (high > AMPLE) {
                return AMPLE;
            }
        }
        while (high - low > STEP) {
            int middle = (low + high) / 2 / STEP * STEP;
            if (passes(middle)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        int passed = 1;
        while (passed < PASSES) {
            if (passes(high)) {
                passed++;
            } else {
                high += STEP;
                passed = 0;
            }
        }
        return high;
    }

    private boolean passes(int heap) throws IOException, InterruptedException {
        CpuSplit.Seconds cpu = new CpuSplit.Seconds(0, 0, 0);
        String failure = null;
        try {
            double allowed = ample == null ? Double.POSITIVE_INFINITY : MOST_CPU * (ample.gc() + ample.mutator() + ample.jit());
            Trial trial = Trial.run(workload, collector, heap, new Load(0, ROUND_SECONDS, "round", 0, "1", 3600),
                    new Server.Allowance(READY_SECONDS, allowed), directory, line -> { });
            cpu = trial.cpu();
            if (trial.errors() > 0) {
                failure = trial.errors() + " errors, the first: " + ((List<?>) trial.phase("closed").get("errorSamples")).getFirst();
            } else if (trial.number("closed", "answers") < trial.variety()) {
                failure = String.format(Locale.ROOT, "%.0f of %d answers in %.0f s", trial.number("closed", "answers"), trial.variety(), ROUND_SECONDS);
            } else if (ample != null && cpu.gc() + cpu.mutator() > MOST_CPU * (ample.gc() + ample.mutator())) {
                failure = String.format(Locale.ROOT, "%.1f s of processor time, %.1f s of them in the collector; at most %.1f s are allowed",
                        cpu.gc() + cpu.mutator(), cpu.gc(), MOST_CPU * (ample.gc() + ample.mutator()));
            }
        } catch (Server.ServerFailedException e) {
            failure = e.getMessage();
        }
        last = cpu;
        Map<String, Object> check = new LinkedHashMap<>();
        check.put("megabytes", heap);
        check.put("passed", failure == null);
        check.put("collectorSeconds", cpu.gc());
        check.put("mutatorSeconds", cpu.mutator());
        check.put("compilerSeconds", cpu.jit());
        check.put("failure", failure);
        checks.add(check);
        say.accept(failure == null ? String.format(Locale.ROOT, "  %5d MB: runs, %.1f s of processor time, %.1f s of them in the collector", heap,
                cpu.gc() + cpu.mutator(), cpu.gc())
                : String.format(Locale.ROOT, "  %5d MB: does not run: %s", heap, failure.substring(0, Math.min(120, failure.length()))));
        return failure == null;
    }

    /** The one in the middle, by what counts: on a machine whose speed changes, one run says little. */
    static CpuSplit.Seconds median(List<CpuSplit.Seconds> runs) {
        return runs.stream().sorted(Comparator.comparingDouble(cpu -> cpu.gc() + cpu.mutator())).toList().get(runs.size() / 2);
    }

    /** Describes the check, for reports. */
    public static String method(Settings settings) {
        return "bisection to " + STEP + " MB; a heap is large enough if a fresh server in it answers every different request once to " + settings.threads()
                + " closed-loop clients without OutOfMemoryError or error, with at most " + Math.round(MOST_CPU) + " times the processor time (without compilers) that it uses in " + AMPLE
                + " MB (the median of " + PASSES + "), " + PASSES + " times in a row";
    }
}
