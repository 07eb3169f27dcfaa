// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a report needs of a flight recording. {@link RecordingReader} fills it, and it is not changed after. Times are seconds since the
 * first
 * event, sizes are bytes.
 */
final class Recording {
    /** The file, for messages. */
    final Path file;
    /** When the recording begins, by the first event that has ended in it, in seconds since 1970. */
    double epoch;
    /** When the last event ended. */
    double end;

    // The JVM.
    String version = "";
    String jvmArguments = "";
    String javaArguments = "";
    /** When it started, or NaN. Below 0 if the recording began later. */
    double jvmStart = Double.NaN;
    String youngCollector = "";
    String oldCollector = "";
    int hardwareThreads;
    int concurrentThreads;
    long maxHeap;

    /** Of any JVM, by their number. */
    final Map<Integer, Collection> collections = new TreeMap<>();
    final List<Pause> pauses = new ArrayList<>();
    /** Seconds of collector's work beside the application, by the end of each phase. */
    final List<Span> concurrentPhases = new ArrayList<>();
    final List<HeapSize> heap = new ArrayList<>();
    /** The heap's parts in use over time. */
    final Map<String, List<Size>> pools = new TreeMap<>();
    /** How busy the JVM kept the machine. */
    final List<Load> loads = new ArrayList<>();
    /** Seconds that the compilers have worked. */
    final Counter compilation = new Counter();
    /** What platform threads have allocated, by each of them. */
    final ThreadAllocation threadAllocation = new ThreadAllocation();
    /** Platform threads that were started since the JVM was. */
    final Counter threadsStarted = new Counter();

    // Of Lull. Counts are since the JVM started.
    final Counter allocated = new Counter();
    final Counter published = new Counter();
    final Counter publishedObjects = new Counter();
    final Counter slowCalls = new Counter();
    final Counter enteredPublicMode = new Counter();
    final Counter localCollections = new Counter();
    final Counter beforeWait = new Counter();
    final Counter requests = new Counter();
    final Counter locallyFreed = new Counter();
    final Counter locallySurvived = new Counter();
    final Counter locallyTenured = new Counter();
    /** In seconds. */
    final Counter localTime = new Counter();
    /** In seconds. */
    final Counter localProcessorTime = new Counter();
    double longestLocal;
    final Map<Long, ThreadPublication> threads = new HashMap<>();
    /** Local collections that were recorded one by one, by reason. */
    final Map<String, Long> localTriggers = new TreeMap<>();
    /** What survived of what was allocated, of those collections after which a request, or a part of it, has ended. */
    final Shares survival = new Shares();
    /** What was published of what was allocated, of the same. Only newer JVMs say so. */
    final Shares publication = new Shares();
    /** How often threads have changed between private and public mode, by direction and reason. */
    final Map<String, Long> modeChanges = new TreeMap<>();
    final Map<String, Place> places = new HashMap<>();

    /** Of a JVM whose heap has a budget ({@code -XX:+UseHeapBudget}). */
    final List<BudgetDecision> budget = new ArrayList<>();

    Recording(Path file) {
        this.file = file;
    }

    /** A collection of the whole heap, or of a generation. A concurrent one has pauses in it. */
    static final class Collection {
        String name = "";
        String cause = "";
        double start;
        double pauseSeconds;
        /** Of its pauses, in whole clock ticks; NaN if the collector does not say. */
        double processorSeconds = Double.NaN;
        double usedBefore = Double.NaN;
        double usedAfter = Double.NaN;
        /** When {@link #usedAfter} was so; NaN if the collection does not say. */
        double end = Double.NaN;

        /** Whether threads have allocated while it went on, so that it does not say what it has freed. */
        boolean isConcurrent() {
            return end > start + pauseSeconds + 1e-4;
        }

        /** When {@link #usedAfter} was so, which is behind its begin. */
        double endOrPause() {
            return Double.isNaN(end) ? start + Math.max(pauseSeconds, 1e-9) : Math.max(end, start + 1e-9);
        }
    }

    /** What threads say that they have allocated, added up. A thread that ends takes with it what it has allocated since the last look at it. */
    static final class ThreadAllocation {
        private final Map<Long, Double> last = new HashMap<>();
        private double sum;
        private double firstLook = Double.NaN;
        /** The sum at each look at all threads. */
        final Counter allocated = new Counter();
        /** How often a thread was found to have allocated since the look before. */
        long grown;

        /** Adds a look at one thread; all threads are looked at at the same time. */
        void add(double time, long thread, double total) {
            if (Double.isNaN(firstLook)) {
                firstLook = time;
            }
            Double before = last.put(thread, total);
            // One that was not there at the first look has started since.
            double more = before != null ? Math.max(0, total - before) : time > firstLook ? total : 0;
            sum += more;
            grown += more > 0 ? 1 : 0;
            allocated.add(time, sum);
        }
    }

    /** A time in which all threads were stopped for the collector. */
    record Pause(int collection, double start, double seconds) { }

    /** A time. */
    record Span(double start, double seconds) { }

    /** The heap at a time; {@code committed} is NaN where it was not said. */
    record HeapSize(double time, double used, double committed, boolean afterCollection) { }

    /** A size at a time. */
    record Size(double time, double bytes) { }

    /** The share of all the machine's processors that the JVM has used since the look before. */
    record Load(double time, double share) { }

    /**
     * What the heap budget has measured and decided. {@code collections} is processors that collections took from the program's threads,
     * {@code stalls} is how many of them were waiting for I/O at a time; {@code available} is what the memory limit leaves for the heap.
     */
    record BudgetDecision(double time, String action, String reason, double collections, double stalls, double heap, double live,
            double available) {
        /** Whether the heap is to grow or to shrink. */
        boolean isStep() {
            return !action.equals("hold");
        }
    }

    /** What a thread has allocated and published, and in which mode it was. */
    static final class ThreadPublication {
        private double lastAllocated = Double.NaN;
        double allocated;
        double allocatedInPublicMode;

        /** Adds a look; what was allocated since the last one counts for the mode of now. */
        void add(double total, boolean publicMode) {
            if (!Double.isNaN(lastAllocated)) {
                double more = Math.max(0, total - lastAllocated);
                allocated += more;
                allocatedInPublicMode += publicMode ? more : 0;
            }
            lastAllocated = total;
        }
    }

    /** Whether the JVM ran the Lull collector. */
    boolean isLull() {
        return oldCollector.startsWith("Lull") || allocated.size() > 0;
    }

    /** Whether private objects were known, so that publication was counted. */
    boolean isTracking() {
        return allocated.size() > 0;
    }

    /** The collector's name as users know it. */
    String collector() {
        if (isLull()) {
            return "Lull";
        }
        if (oldCollector.startsWith("G1")) {
            return "G1";
        }
        if (oldCollector.equals("SerialOld")) {
            return "Serial";
        }
        if (oldCollector.equals("ParallelOld")) {
            return "Parallel";
        }
        // "ZGC Major", "Shenandoah Old": of two generations the recorder names the old one.
        return oldCollector.isEmpty() ? "an unknown collector" : oldCollector.replaceFirst(" ?(Old|Major)$", "");
    }
}
