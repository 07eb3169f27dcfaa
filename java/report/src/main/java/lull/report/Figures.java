// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.util.List;
import java.util.stream.Stream;

/**
 * What is worked out from a recording. Each figure is named with the events that it comes from; NaN where they are not in the recording.
 * Figures of
 * processor time are of the time between the first and the last look at the JVM's load, for only there the whole is known.
 */
final class Figures {
    /** Pieces of time for the interval of a ratio. */
    static final int SLICES = 10;
    /** Recordings shorter than this, in seconds, have no intervals: slices would be too short. */
    static final double SHORTEST = 20;
    /** The clock by which HotSpot measures a collection's processor time ticks so often; it is read by times(2). */
    private static final double TICK = 0.01;

    final Recording recording;
    /** Seconds of the recording. */
    final double seconds;
    private final double from;
    private final double to;

    Figures(Recording recording) {
        this.recording = recording;
        seconds = recording.end;
        List<Recording.Load> loads = recording.loads;
        from = loads.isEmpty() ? 0 : loads.get(0).time();
        to = loads.isEmpty() ? 0 : loads.get(loads.size() - 1).time();
    }

    // Pauses: jdk.GCPhasePause.

    double pausedSeconds() {
        return recording.pauses.stream().mapToDouble(Recording.Pause::seconds).sum();
    }

    double longestPause() {
        return recording.pauses.stream().mapToDouble(Recording.Pause::seconds).max().orElse(0);
    }

    double pausedShare() {
        return seconds > 0 ? pausedSeconds() / seconds : Double.NaN;
    }

    // Processor time: jdk.CPULoad and jdk.CPUInformation; jdk.GCCPUTime, jdk.GCPhaseConcurrent, jdk.LullLocalCollectionStatistics.

    /** Seconds in which processor time is known. */
    double loadSeconds() {
        return to - from;
    }

    boolean isLoadKnown() {
        return to > from && recording.hardwareThreads > 0;
    }

    /** Seconds of processor time of the whole JVM. */
    double processorSeconds() {
        return processorSeconds(from, to);
    }

    private double processorSeconds(double begin, double end) {
        if (!isLoadKnown()) {
            return Double.NaN;
        }
        double sum = 0;
        for (int i = 1; i < recording.loads.size(); i++) {
            double low = Math.max(begin, recording.loads.get(i - 1).time());
            double high = Math.min(end, recording.loads.get(i).time());
            sum += Math.max(0, high - low) * recording.loads.get(i).share() * recording.hardwareThreads;
        }
        return sum;
    }

    /** Whether the collector says what its pauses cost. ZGC and Shenandoah do not. */
    boolean isCollectorTimeKnown() {
        return recording.collections.isEmpty() && recording.isTracking()
                || recording.collections.values().stream().anyMatch(c -> !Double.isNaN(c.processorSeconds));
    }

    /** Of the collector's pauses. */
    double pauseProcessorSeconds() {
        return pauseProcessorSeconds(from, to);
    }

    private double pauseProcessorSeconds(double begin, double end) {
        return collections(begin, end).mapToDouble(c -> Double.isNaN(c.processorSeconds) ? 0 : c.processorSeconds).sum();
    }

    private Stream<Recording.Collection> collections(double begin, double end) {
        return recording.collections.values().stream().filter(c -> c.start >= begin && c.start < end);
    }

    /**
     * How far the ticks of the clock may be off, in seconds, at 95 %: each of user and system time is a difference of two readings, so that
     * a time below a tick is 0 or a tick. Its variance is at most a quarter of a tick squared.
     */
    double tickError() {
        return 2 * TICK / 2 * Math.sqrt(2.0 * collections(from, to).count());
    }

    /** Of local collections, by their threads. */
    double localProcessorSeconds() {
        return recording.localProcessorTime.between(from, to);
    }

    /**
     * The most that concurrent phases can have cost: all threads for concurrent work, all the time. Events do not say how many have worked.
     */
    double mostConcurrentSeconds() {
        return mostConcurrentSeconds(from, to);
    }

    private double mostConcurrentSeconds(double begin, double end) {
        return Math.max(1, recording.concurrentThreads) * recording.concurrentPhases.stream()
                .mapToDouble(s -> Math.max(0, Math.min(end, s.start() + s.seconds()) - Math.max(begin, s.start()))).sum();
    }

    /** What is sure of the collector's time. */
    double leastCollectorSeconds() {
        return isCollectorTimeKnown() ? Math.max(0, pauseProcessorSeconds() - tickError()) + localProcessorSeconds() : Double.NaN;
    }

    /** The most that the collector's time can be by what the recording says. G1's refinement and other service threads have no events. */
    double mostCollectorSeconds() {
        return isCollectorTimeKnown() ? pauseProcessorSeconds() + tickError() + localProcessorSeconds() + mostConcurrentSeconds()
                : Double.NaN;
    }

    /** The collector's share of all processor time: counted, and its least and most. */
    Estimate collectorShare() {
        if (!isCollectorTimeKnown() || !isLoadKnown() || !(processorSeconds() > 0)) {
            return Estimate.bare(Double.NaN);
        }
        double all = processorSeconds();
        return new Estimate(Math.min(1, (pauseProcessorSeconds() + localProcessorSeconds()) / all), Math.min(1,
                leastCollectorSeconds() / all),
                Math.min(1, mostCollectorSeconds() / all));
    }

    // Allocation.

    /** Bytes allocated in a time: jdk.LullPublicationStatistics, else what the heap has grown by between collections, jdk.GCHeapSummary. */
    double allocated(double begin, double end) {
        return recording.isTracking() ? recording.allocated.between(begin, end) : grown(begin, end);
    }

    /** Bytes allocated per second, of the time in which that is known; NaN if it is not. */
    double allocationRate() {
        if (recording.isTracking()) {
            return recording.allocated.size() > 1 ? recording.allocated.total() / (recording.allocated.to() - recording.allocated.from())
                    : Double.NaN;
        }
        List<Recording.HeapSize> summaries = summaries();
        return summaries.size() < 3 ? Double.NaN
                : grown(0, seconds + 1) / (summaries.get(summaries.size() - 1).time() - summaries.get(0).time());
    }

    /** What the heap has grown by from the end of a collection to the beginning of the next one. */
    private double grown(double begin, double end) {
        double sum = 0;
        Recording.HeapSize before = null;
        for (Recording.HeapSize now : summaries()) {
            if (before != null && before.afterCollection() && !now.afterCollection() && now.time() > before.time()) {
                double inside = Math.min(end, now.time()) - Math.max(begin, before.time());
                sum += Math.max(0, now.used() - before.used()) * Math.max(0, inside) / (now.time() - before.time());
            }
            before = now;
        }
        return sum;
    }

    /** The heap before and after collections, without the looks between. */
    private List<Recording.HeapSize> summaries() {
        return recording.collections.values().stream().filter(c -> !Double.isNaN(c.usedBefore) && !Double.isNaN(c.usedAfter))
                .flatMap(c -> Stream.of(new Recording.HeapSize(c.start, c.usedBefore, Double.NaN, false),
                        new Recording.HeapSize(c.start + Math.max(c.pauseSeconds, 1e-9), c.usedAfter, Double.NaN, true)))
                .sorted((a, b) -> Double.compare(a.time(), b.time())).toList();
    }

    /** Processor time per megabyte that was allocated, in milliseconds, of all or of the collector, by slices of time. */
    Estimate perMegabyte(boolean collectorOnly) {
        if (!isLoadKnown() || collectorOnly && !isCollectorTimeKnown()) {
            return Estimate.bare(Double.NaN);
        }
        int slices = loadSeconds() >= SHORTEST ? SLICES : 1;
        double[] cost = new double[slices];
        double[] work = new double[slices];
        for (int i = 0; i < slices; i++) {
            double begin = from + (to - from) * i / slices;
            double end = from + (to - from) * (i + 1) / slices;
            cost[i] = 1000 * (collectorOnly
                    ? pauseProcessorSeconds(begin, end) + recording.localProcessorTime.between(begin, end)
                    + mostConcurrentSeconds(begin, end) / 2
                    : processorSeconds(begin, end));
            work[i] = allocated(begin, end) / (1 << 20);
        }
        return Estimate.ratio(cost, work);
    }

    // Publication and local collections.

    /** Bytes published of bytes allocated, of all threads: jdk.LullPublicationStatistics. */
    double publishedShare() {
        return recording.published.total() / recording.allocated.total();
    }

    /** Bytes of threads in public mode, of those of threads that were there at two looks: jdk.LullThreadPublicationStatistics. */
    double publicModeShare() {
        double all = recording.threads.values().stream().mapToDouble(t -> t.allocated).sum();
        return all > 0 ? recording.threads.values().stream().mapToDouble(t -> t.allocatedInPublicMode).sum() / all : Double.NaN;
    }

    /** Bytes published of those that threads in private mode have allocated; of all, if the modes are not known. */
    double publishedShareInPrivateMode() {
        double privately = Double.isNaN(publicModeShare()) ? 1 : 1 - publicModeShare();
        return privately > 0.001 ? Math.min(1, publishedShare() / privately) : Double.NaN;
    }

    /** Bytes that local collections have freed. Not more than was allocated and not published, which is counted at other moments. */
    double locallyFreed() {
        return Math.min(recording.locallyFreed.total(), Math.max(0, recording.allocated.total() - recording.published.total()));
    }

    /** Bytes that local collections have freed for each that was published. */
    double freedPerPublished() {
        return locallyFreed() / recording.published.total();
    }

    /** Seconds of the counts of local collections. */
    double localSeconds() {
        return recording.localCollections.size() > 1 ? recording.localCollections.to() - recording.localCollections.from() : Double.NaN;
    }

    // The heap.

    /** In use after collections of the whole heap, the middle one of them; NaN if there were none. */
    double live() {
        double[] after = recording.collections.values().stream().filter(this::isWhole).mapToDouble(c -> c.usedAfter)
                .filter(used -> !Double.isNaN(used)).sorted().toArray();
        return after.length == 0 ? Double.NaN : after[after.length / 2];
    }

    /** Whether a collection was of the whole heap. */
    boolean isWhole(Recording.Collection collection) {
        return collection.name.equals("LullGlobal") || collection.name.equals("G1Full") || collection.name.equals("SerialOld")
                || collection.name.equals("ParallelOld");
    }
}
