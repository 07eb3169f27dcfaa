// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report.gclog;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What a HotSpot gc log says, as {@code -Xlog:gc*,safepoint:file=F:uptime,level,tags} writes it, of Serial, Parallel,
 * G1, ZGC, Shenandoah and Lull: pauses, the heap's sizes, and what Lull's global collections have found alive. The
 * lines it reads:
 * <pre>
 *   [2.850s][info][gc          ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 15M->3M(48M) 63.233ms
 *   [1.390s][info][gc,phases   ] GC(0) Y: Pause Mark Start (Major) 0.015ms
 *   [1.429s][info][gc          ] GC(0) Major Collection (Warmup) 6M(12%)->6M(12%) 0.039s
 *   [1.613s][info][gc          ] GC(0) Concurrent cleanup (unload classes) 13M->13M(48M) 0.020ms
 *   [1.520s][info][gc,heap     ] GC(0) Marked: 100 objects, 2048K; evacuated: ...
 *   [1.520s][info][gc,heap     ] GC(0) Still private, of the marked: 10 objects, 512K
 *   [1.281s][info][safepoint   ] Safepoint "G1CollectForAllocation", Time since last: 5 ns, Reaching safepoint: 9 ns, ..., Total: 15 ns, Threads: ...
 * </pre>
 * Other lines are passed over. A line's time is the end of what it tells.
 *
 * @param pauses in order of time
 * @param heap used and capacity over time, in order of time
 * @param safepoints stops of any kind, each with the time to reach it, in order of time
 * @param found what global collections have found alive, in order of time
 * @param lines how many lines begin with the JVM's uptime
 */
public record GcLog(List<Pause> pauses, List<HeapSize> heap, List<Pause> safepoints, List<Found> found, int lines) {
    private static final Pattern LINE = Pattern.compile(
            "^\\[(\\d+)[.,](\\d{3})s\\](?:\\[[^\\]]*\\])*\\s*(GC\\(\\d+\\) )?(.*)$");
    private static final Pattern PAUSE = Pattern.compile(
            "(?:[YyO]: )?Pause (.*?)(?: (\\d+)([BKMG])->(\\d+)([BKMG])\\((\\d+)([BKMG])\\))? (\\d+)[.,](\\d+)ms");
    private static final Pattern SIZES = Pattern.compile(
            "Concurrent .*? (\\d+)([BKMG])->(\\d+)([BKMG])\\((\\d+)([BKMG])\\) (\\d+)[.,](\\d+)ms");
    private static final Pattern CYCLE = Pattern.compile(
            "(?:Minor|Major) Collection .*? (\\d+)([BKMG])\\((\\d+)%\\)->(\\d+)([BKMG])\\((\\d+)%\\) (\\d+)[.,](\\d+)s");
    private static final Pattern MARKED = Pattern.compile("Marked: \\d+ objects, (\\d+)K;.*");
    private static final Pattern PRIVATE = Pattern.compile("Still private, of the marked: \\d+ objects, (\\d+)K");
    private static final Pattern SAFEPOINT = Pattern.compile("Safepoint \"([^\"]*)\".*\\bTotal: *(\\d+) ns\\b.*");

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

    /**
     * What a global collection has found.
     *
     * @param uptime in seconds of the JVM's uptime
     * @param live bytes that are alive
     * @param ofOneThread those of them that only one thread knows
     */
    public record Found(double uptime, double live, double ofOneThread) { }

    /** Reads the log {@code file}; a missing file is an error, an incomplete last line is not. */
    public static GcLog read(Path file) throws IOException {
        // Latin-1: a log cut in the middle of a character must not stop us.
        try (Stream<String> lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
            return parse(lines);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /** Looks at one line after the other: a log may be larger than the memory. */
    public static GcLog parse(Stream<String> lines) {
        Reader reader = new Reader();
        lines.forEach(reader::line);
        return new GcLog(List.copyOf(reader.pauses), List.copyOf(reader.heap), List.copyOf(reader.safepoints),
                List.copyOf(reader.found), reader.lines);
    }

    /** What has been read. */
    private static final class Reader {
        private final List<Pause> pauses = new ArrayList<>();
        private final List<HeapSize> heap = new ArrayList<>();
        private final List<Pause> safepoints = new ArrayList<>();
        private final List<Found> found = new ArrayList<>();
        private int lines;

        void line(String line) {
            Matcher m = LINE.matcher(line);
            if (!m.matches()) {
                return;
            }
            lines++;
            double uptime = number(m, 1);
            String text = m.group(4);
            if (m.group(3) != null) {
                collection(uptime, text);
            } else if (text.startsWith("Safepoint") && (m = SAFEPOINT.matcher(text)).matches()) {
                safepoints.add(new Pause(uptime, m.group(1), Long.parseLong(m.group(2)) / 1e6));
            }
        }

        private void collection(double end, String text) {
            Matcher m;
            if (text.contains("Pause ") && (m = PAUSE.matcher(text)).matches()) {
                double millis = number(m, 8);
                pauses.add(new Pause(end, m.group(1), millis));
                if (m.group(2) != null) {
                    sizes(end, millis / 1000, megabytes(m, 2), megabytes(m, 4), megabytes(m, 6));
                }
            } else if ((m = SIZES.matcher(text)).matches()) {
                sizes(end, number(m, 7) / 1000, megabytes(m, 1), megabytes(m, 3), megabytes(m, 5));
            } else if ((m = CYCLE.matcher(text)).matches()) {
                sizes(end, number(m, 7), megabytes(m, 1), megabytes(m, 4), Double.NaN);
            } else if ((m = MARKED.matcher(text)).matches()) {
                found.add(new Found(end, Double.parseDouble(m.group(1)) * 1024, 0));
            } else if (!found.isEmpty() && (m = PRIVATE.matcher(text)).matches()) {
                Found whole = found.remove(found.size() - 1);
                found.add(new Found(whole.uptime, whole.live, Double.parseDouble(m.group(1)) * 1024));
            }
        }

        private void sizes(double end, double seconds, double before, double after, double capacity) {
            heap.add(new HeapSize(end - seconds, before, capacity));
            heap.add(new HeapSize(end, after, capacity));
        }

        /** The number whose digits before and behind the point are group {@code group} and the next one. */
        private static double number(Matcher m, int group) {
            return Double.parseDouble(m.group(group) + "." + m.group(group + 1));
        }

        /** The size in groups {@code group} (number) and {@code group + 1} (unit). */
        private static double megabytes(Matcher m, int group) {
            double number = Double.parseDouble(m.group(group));
            return switch (m.group(group + 1)) {
                case "B" -> number / (1 << 20);
                case "K" -> number / (1 << 10);
                case "M" -> number;
                default -> number * (1 << 10);
            };
        }
    }

    /** Returns the log's part with ends in [from, to), in seconds of uptime. */
    public GcLog between(double from, double to) {
        return new GcLog(pauses.stream().filter(p -> p.uptime >= from && p.uptime < to).toList(),
                heap.stream().filter(h -> h.uptime >= from && h.uptime < to).toList(),
                safepoints.stream().filter(p -> p.uptime >= from && p.uptime < to).toList(),
                found.stream().filter(f -> f.uptime >= from && f.uptime < to).toList(), lines);
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
