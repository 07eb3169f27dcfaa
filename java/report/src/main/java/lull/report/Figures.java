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
    /** Threads that are started, of the looks at threads, with which what threads say is still nearly all. */
    private static final double MOST_UNSEEN_THREADS = 0.1;
    /** The share of the time in concurrent collections with which what the heap grows by is still nearly all. */
    private static final double MOST_UNKNOWN_TIME = 0.05;
    /** Of what is said of local collections one by one, so many must be in the recording. */
    private static final double LEAST_RECORDED = 0.9;

    final Recording recording;
    /** Seconds of the recording. */
    final double seconds;
    private final double from;
    private final double to;
    private final List<Summary> summaries;

    Figures(Recording recording) {
        this.recording = recording;
        seconds = recording.end;
        List<Recording.Load> loads = recording.loads;
        from = loads.isEmpty() ? 0 : loads.get(0).time();
        to = loads.isEmpty() ? 0 : loads.get(loads.size() - 1).time();
        summaries = summaries(recording);
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

    /**
     * Bytes allocated in a time: jdk.LullPublicationStatistics. Else what threads say, jdk.ThreadAllocationStatistics, or what the heap has grown
     * by between collections, jdk.GCHeapSummary. Both miss some and none invents any, so the larger one counts. NaN if neither is known.
     */
    double allocated(double begin, double end) {
        return recording.isTracking() ? recording.allocated.between(begin, end)
                : isByThreads() ? recording.threadAllocation.allocated.between(begin, end)
                : isGrowthKnown() ? grown(begin, end) : Double.NaN;
    }

    /** Bytes allocated per second, of the time in which that is known; NaN if it is not. */
    double allocationRate() {
        if (recording.isTracking()) {
            return perSecond(recording.allocated);
        }
        if (isByThreads()) {
            return perSecond(recording.threadAllocation.allocated);
        }
        return isGrowthKnown() ? grown(0, seconds + 1) / (summaries.get(summaries.size() - 1).time() - summaries.get(0).time()) : Double.NaN;
    }

    private static double perSecond(Counter counter) {
        return counter.size() > 1 ? counter.total() / (counter.to() - counter.from()) : Double.NaN;
    }

    private boolean isByThreads() {
        return areThreadsKnown()
                && !(isGrowthKnown() && grown(0, seconds + 1) > recording.threadAllocation.allocated.total());
    }

    /**
     * Whether what threads say is nearly all. One that ends takes with it what it has allocated since the last look, so there must be few against
     * the looks that have found anything.
     */
    private boolean areThreadsKnown() {
        return recording.threadAllocation.allocated.size() > 1 && recording.threadsStarted.size() > 1
                && recording.threadsStarted.total() <= MOST_UNSEEN_THREADS * recording.threadAllocation.grown;
    }

    /** Whether nearly all of the time is between collections. Of the time of a concurrent one it is not known what was allocated, for it frees as well. */
    private boolean isGrowthKnown() {
        if (summaries.size() < 3) {
            return false;
        }
        double unknown = 0;
        for (int i = 1; i < summaries.size(); i++) {
            unknown += summaries.get(i).isEndOf(summaries.get(i - 1)) && summaries.get(i).collection().isConcurrent()
                    ? summaries.get(i).time() - summaries.get(i - 1).time() : 0;
        }
        return unknown <= MOST_UNKNOWN_TIME * (summaries.get(summaries.size() - 1).time() - summaries.get(0).time());
    }

    /** What the heap has grown by from look to look. A concurrent collection has others in it, and what is allocated while it goes on. */
    private double grown(double begin, double end) {
        double sum = 0;
        for (int i = 1; i < summaries.size(); i++) {
            Summary before = summaries.get(i - 1);
            Summary now = summaries.get(i);
            if (now.time() > before.time() && !now.isEndOf(before)) {
                double inside = Math.min(end, now.time()) - Math.max(begin, before.time());
                sum += Math.max(0, now.used() - before.used()) * Math.max(0, inside) / (now.time() - before.time());
            }
        }
        return sum;
    }

    /** The heap before or after a collection. */
    private record Summary(Recording.Collection collection, double time, double used, boolean after) {
        /** Whether there was nothing but one collection between the two. */
        boolean isEndOf(Summary begin) {
            return after && !begin.after && begin.collection == collection;
        }
    }

    /** The heap before and after collections, without the looks between. */
    private static List<Summary> summaries(Recording recording) {
        return recording.collections.values().stream().filter(c -> !Double.isNaN(c.usedBefore) && !Double.isNaN(c.usedAfter))
                .flatMap(c -> Stream.of(new Summary(c, c.start, c.usedBefore, false), new Summary(c, c.endOrPause(), c.usedAfter, true)))
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

    /** Local collections that the recording has one by one: jdk.LullLocalCollection. */
    long recordedLocally() {
        return recording.localTriggers.values().stream().mapToLong(n -> n).sum();
    }

    /** All local collections, as far as they are counted. */
    double locally() {
        return Math.max(recordedLocally(), recording.localCollections.total());
    }

    /** Whether the recording has nearly all local collections one by one. With a threshold it has long ones only, which are unlike the rest. */
    boolean areLocalCollectionsRecorded() {
        return recordedLocally() >= LEAST_RECORDED * locally();
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
