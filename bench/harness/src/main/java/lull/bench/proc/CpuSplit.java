// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.proc;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Splits the processor time of a HotSpot process by kind of thread: collector (its workers and the VM thread), compilers, and the
 * rest, which is the mutators. Threads are told apart by name, from /proc/PID/task. The rest is the process's total less the other
 * two, so it has the time of threads that have ended. What a mutator does for the collector (barriers, relocation) counts as mutator; but for
 * Lull's local collections, in which a thread collects its own objects: they count their time themselves, and it is the collector's.
 */
public final class CpuSplit {
    private static final double TICKS_PER_SECOND = 100;

    /** Nanoseconds of processor time. */
    private static final String LOCAL_COLLECTIONS = "sun.gc.lull.local.processorTime";

    private final Path process;
    private final PerfCounters counters;
    private final Map<String, Ticks> threads = new HashMap<>();

    private record Ticks(Kind kind, long ticks) { }

    /** The kinds of threads. */
    public enum Kind { GC, JIT, MUTATOR }

    /**
     * Processor seconds since the start of the process.
     *
     * @param local of {@code gc}, in local collections
     */
    public record Seconds(double gc, double jit, double mutator, double local) {
        /** Of a process without local collections. */
        public Seconds(double gc, double jit, double mutator) {
            this(gc, jit, mutator, 0);
        }
    }

    public CpuSplit(long pid, PerfCounters counters) {
        this(Path.of("/proc", Long.toString(pid)), counters);
    }

    CpuSplit(Path process, PerfCounters counters) {
        this.process = process;
        this.counters = counters;
    }

    /** Reads the times so far. @throws IOException if the process is gone */
    public Seconds read() throws IOException {
        long total = ticks(Files.readString(process.resolve("stat")));
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(process.resolve("task"))) {
            for (Path task : tasks) {
                readTask(task);
            }
        }
        long gc = 0;
        long jit = 0;
        for (Ticks thread : threads.values()) {
            switch (thread.kind) {
                case GC -> gc += thread.ticks;
                case JIT -> jit += thread.ticks;
                case MUTATOR -> { }
            }
        }
        double local = counters.value(LOCAL_COLLECTIONS) / 1e9;
        return new Seconds(gc / TICKS_PER_SECOND + local, jit / TICKS_PER_SECOND, Math.max(0, (total - gc - jit) / TICKS_PER_SECOND - local),
                local);
    }

    /** Returns the processor seconds of all threads of a process so far; 0 if it is gone. */
    public static double totalSeconds(long pid) {
        try {
            return ticks(Files.readString(Path.of("/proc", Long.toString(pid), "stat"))) / TICKS_PER_SECOND;
        } catch (IOException e) {
            return 0;
        }
    }

    private void readTask(Path task) {
        try {
            String name = Files.readString(task.resolve("comm")).trim();
            Kind kind = kind(name);
            if (kind != Kind.MUTATOR) {
                // Kept after the thread has ended: compiler threads come and go.
                threads.put(task.getFileName() + " " + name, new Ticks(kind, ticks(Files.readString(task.resolve("stat")))));
            }
        } catch (IOException e) {
            // The thread has ended since its name was listed.
        }
    }

    /** Tells a thread's kind by its name, of which Linux keeps 15 characters. */
    static Kind kind(String name) {
        if (name.startsWith("C1 Comp") || name.startsWith("C2 Comp")) {
            return Kind.JIT;
        }
        boolean gc = name.equals("VM Thread") || name.startsWith("GC Thread") || name.startsWith("G1 ") || name.startsWith("ParGC")
                || name.startsWith("Shenandoah") || name.startsWith("Lull ")
                || (name.length() > 1 && name.charAt(0) == 'Z' && Character.isUpperCase(name.charAt(1)));
        return gc ? Kind.GC : Kind.MUTATOR;
    }

    /** Returns user and system ticks of a stat line; the name in it may hold spaces and parentheses. */
    static long ticks(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }
}
