// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gclog;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The pauses and heap sizes of a HotSpot gc log, as {@code -Xlog:gc*,safepoint:file=F:uptime,level,tags} writes it, of Serial,
 * Parallel, G1, ZGC, Shenandoah and Lull. The lines it reads:
 * <pre>
 *   [2.850s][info][gc          ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 15M->3M(48M) 63.233ms
 *   [1.390s][info][gc,phases   ] GC(0) Y: Pause Mark Start (Major) 0.015ms
 *   [1.429s][info][gc          ] GC(0) Major Collection (Warmup) 6M(12%)->6M(12%) 0.039s
 *   [1.613s][info][gc          ] GC(0) Concurrent cleanup (unload classes) 13M->13M(48M) 0.020ms
 *   [1.281s][info][safepoint   ] Safepoint "G1CollectForAllocation", Time since last: 5 ns, Reaching safepoint: 9 ns, ..., Total: 15 ns, Threads: ...
 * </pre>
 * Other lines are passed over. A line's time is the end of what it tells.
 *
 * @param pauses in order of time
 * @param heap used and capacity over time, in order of time
 * @param safepoints stops of any kind, each with the time to reach it, in order of time
 */
public record GcLog(List<Pause> pauses, List<HeapSize> heap, List<Pause> safepoints) {
    private static final String HEAD = "^\\[(\\d+)[.,](\\d{3})s\\](?:\\[[^\\]]*\\])*\\s+";
    private static final Pattern PAUSE = Pattern.compile(
            HEAD + "GC\\(\\d+\\) (?:[YyO]: )?Pause (.*?)(?: (\\d+)([BKMG])->(\\d+)([BKMG])\\((\\d+)([BKMG])\\))? (\\d+)[.,](\\d+)ms$");
    private static final Pattern SIZES = Pattern.compile(
            HEAD + "GC\\(\\d+\\) Concurrent .*? (\\d+)([BKMG])->(\\d+)([BKMG])\\((\\d+)([BKMG])\\) (\\d+)[.,](\\d+)ms$");
    private static final Pattern CYCLE = Pattern.compile(
            HEAD + "GC\\(\\d+\\) (?:Minor|Major) Collection .*? (\\d+)([BKMG])\\((\\d+)%\\)->(\\d+)([BKMG])\\((\\d+)%\\) (\\d+)[.,](\\d+)s$");
    private static final Pattern SAFEPOINT = Pattern.compile(HEAD + "Safepoint \"([^\"]*)\".*\\bTotal: *(\\d+) ns\\b");

    /**
     * A time in which the application stood still.
     *
     * @param uptime its end, in seconds of the JVM's uptime
     * @param what kind and cause, for instance {@code Young (Normal) (G1 Evacuation Pause)}
     * @param millis how long it took
     */
    public record Pause(double uptime, String what, double millis) {
        /** Whether the whole heap was collected in the pause. */
        public boolean full() {
            return what.startsWith("Full");
        }
    }

    /**
     * The heap at one time.
     *
     * @param uptime in seconds of the JVM's uptime
     * @param used in megabytes
     * @param capacity in megabytes: what the heap has committed; NaN where the log does not say
     */
    public record HeapSize(double uptime, double used, double capacity) { }

    /** Reads the log {@code file}; a missing file is an error, an incomplete last line is not. */
    public static GcLog read(Path file) throws IOException {
        // Latin-1: a log cut in the middle of a character must not stop us.
        try (Stream<String> lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
            return parse(lines);
        }
    }

    /** Parses the lines of a log. */
    public static GcLog parse(Stream<String> lines) {
        List<Pause> pauses = new ArrayList<>();
        List<HeapSize> heap = new ArrayList<>();
        List<Pause> safepoints = new ArrayList<>();
        lines.forEach(line -> {
            Matcher m;
            if (line.contains("] GC(")) {
                if (line.contains("Pause ") && (m = PAUSE.matcher(line)).find()) {
                    double end = seconds(m, 1);
                    double millis = Double.parseDouble(m.group(10) + "." + m.group(11));
                    pauses.add(new Pause(end, m.group(3), millis));
                    if (m.group(4) != null) {
                        double capacity = megabytes(m, 8);
                        heap.add(new HeapSize(end - millis / 1000, megabytes(m, 4), capacity));
                        heap.add(new HeapSize(end, megabytes(m, 6), capacity));
                    }
                } else if ((m = SIZES.matcher(line)).find()) {
                    double end = seconds(m, 1);
                    double millis = Double.parseDouble(m.group(9) + "." + m.group(10));
                    heap.add(new HeapSize(end - millis / 1000, megabytes(m, 3), megabytes(m, 7)));
                    heap.add(new HeapSize(end, megabytes(m, 5), megabytes(m, 7)));
                } else if ((m = CYCLE.matcher(line)).find()) {
                    double end = seconds(m, 1);
                    double seconds = Double.parseDouble(m.group(9) + "." + m.group(10));
                    heap.add(new HeapSize(end - seconds, megabytes(m, 3), Double.NaN));
                    heap.add(new HeapSize(end, megabytes(m, 6), Double.NaN));
                }
            } else if (line.contains("Safepoint \"") && (m = SAFEPOINT.matcher(line)).find()) {
                safepoints.add(new Pause(seconds(m, 1), m.group(3), Long.parseLong(m.group(4)) / 1e6));
            }
        });
        return new GcLog(List.copyOf(pauses), List.copyOf(heap), List.copyOf(safepoints));
    }

    private static double seconds(Matcher m, int group) {
        return Double.parseDouble(m.group(group) + "." + m.group(group + 1));
    }

    /** Returns the size in groups {@code group} (number) and {@code group + 1} (unit). */
    private static double megabytes(Matcher m, int group) {
        double number = Double.parseDouble(m.group(group));
        return switch (m.group(group + 1)) {
            case "B" -> number / (1 << 20);
            case "K" -> number / (1 << 10);
            case "M" -> number;
            default -> number * (1 << 10);
        };
    }

    /** Returns the log's part with ends in [from, to), in seconds of uptime. */
    public GcLog between(double from, double to) {
        return new GcLog(pauses.stream().filter(p -> p.uptime >= from && p.uptime < to).toList(),
                heap.stream().filter(h -> h.uptime >= from && h.uptime < to).toList(),
                safepoints.stream().filter(p -> p.uptime >= from && p.uptime < to).toList());
    }

    /** Returns the longest pause in milliseconds; 0 without pauses. */
    public double longestMillis() {
        return pauses.stream().mapToDouble(Pause::millis).max().orElse(0);
    }

    /** Returns the longest safepoint in milliseconds; 0 without safepoints. */
    public double longestSafepointMillis() {
        return safepoints.stream().mapToDouble(Pause::millis).max().orElse(0);
    }

    /** Returns the sum of all pauses in milliseconds. */
    public double totalMillis() {
        return pauses.stream().mapToDouble(Pause::millis).sum();
    }

    /** Returns the seconds of pauses within [from, to), in seconds of uptime; of a pause at an end, the part inside. */
    public double pausedSeconds(double from, double to) {
        return pauses.stream().mapToDouble(p -> Math.max(0, Math.min(p.uptime, to) - Math.max(p.uptime - p.millis / 1000, from))).sum();
    }

    /**
     * Returns how much was allocated in [from, to), in megabytes: the sum of what the heap grew by from the end of each collection to the
     * beginning of the next one, for those that begin in this time. What is allocated while a collection goes on is not seen.
     */
    public double allocatedMegabytes(double from, double to) {
        double sum = 0;
        // Sizes come in twos, before and after a collection.
        for (int i = 2; i < heap.size(); i += 2) {
            HeapSize before = heap.get(i);
            if (before.uptime >= from && before.uptime < to) {
                sum += Math.max(0, before.used - heap.get(i - 1).used);
            }
        }
        return sum;
    }
}
