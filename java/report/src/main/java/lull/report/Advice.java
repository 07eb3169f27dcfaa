// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What to do, and why. The limits are those by which the collector itself chooses a thread's mode
 * ({@code lullPublicModePolicy.hpp}).
 *
 * @param heading the advice in a few words
 * @param reasons sentences
 * @param flags flags to set, or none
 */
record Advice(Mode mode, String heading, List<String> reasons, List<Flag> flags) {
    /** Of all threads. */
    enum Mode { PRIVATE, PUBLIC, UNKNOWN }

    /** A flag and why. */
    record Flag(String flag, String why) { }

    private static final double MOST_PUBLISHED = 0.40;
    static final double LEAST_FREED_PER_PUBLISHED = 2;
    private static final double MOST_IN_PUBLIC_MODE = 0.5;
    /** Less allocation than this says nothing: a thread looks at its share once in 4 MB. */
    private static final double LEAST_ALLOCATED = 16 << 20;
    private static final double MUCH_IN_PAUSES = 0.02;

    static Advice of(Figures figures) {
        Recording recording = figures.recording;
        if (!recording.isLull()) {
            return unknown("Record the service on Lull", List.of("This recording is of " + recording.collector()
                    + ": it says what the collector costs, but not how much of a request's data becomes public. That decides whether "
                    + "Lull pays.",
                    "Run the same service with the same load once more: `lull doctor -o lull.html -- build/jdk/bin/java -XX:+UseLullGC "
                            + "...`, then `lull doctor "
                    + "--recording ITS.jfr --baseline " + recording.file.getFileName() + "`."), List.of());
        }
        if (!recording.isTracking()) {
            return unknown("Record once more with tracking", List.of("Private objects were not known in this run (`-XX:-LullTracking`), "
                    + "or the recording has no "
                    + "`jdk.LullPublicationStatistics`. Leave the flag out and record by `lull doctor`."), flags(figures, Mode.UNKNOWN));
        }
        if (recording.allocated.size() < 2 || recording.allocated.total() < LEAST_ALLOCATED) {
            return unknown("Record longer, under load", List.of(recording.allocated.size() < 2
                    ? "The recording has only one look at what the threads have allocated. Let it run for some seconds under load."
                    : "The threads have allocated only " + Text.bytes(recording.allocated.total())
                    + ": too little to judge a service."), List.of());
        }
        List<String> reasons = new ArrayList<>();
        Mode mode = mode(figures, reasons);
        String heading = switch (mode) {
            case PRIVATE -> "Lull suits these requests: they keep their objects to themselves";
            case PUBLIC -> "Tracking does not pay: run with `-XX:+UseLullGC -XX:-LullTracking`, or stay with another collector";
            case UNKNOWN -> "Record once more without what has disturbed this run";
        };
        return new Advice(mode, heading, reasons, flags(figures, mode));
    }

    private static Advice unknown(String heading, List<String> reasons, List<Flag> flags) {
        return new Advice(Mode.UNKNOWN, heading, reasons, flags);
    }

    private static Mode mode(Figures figures, List<String> reasons) {
        double inPublicMode = figures.publicModeShare();
        double published = figures.publishedShareInPrivateMode();
        double freed = figures.freedPerPublished();
        if (inPublicMode > MOST_IN_PUBLIC_MODE) {
            reasons.add("Threads that allocate " + Text.percent(inPublicMode) + " of all bytes were in public mode.");
            if (mainReason(figures.recording).matches(".*a new object was published.*")) {
                reasons.add("What took most of them there was not the service: " + mainReason(figures.recording) + ". Record without "
                        + "agents that look at new objects, as allocation profilers do.");
                return Mode.UNKNOWN;
            }
            reasons.add(mainReason(figures.recording).isEmpty()
                    ? "They went there before the recording began, and have stayed: why, `jcmd PID Lull.info` says while the JVM runs. If it "
                    + "was by themselves, tracking costs them barriers and gains nothing."
                    : "They went there by themselves (" + mainReason(figures.recording) + "), so tracking costs them barriers and "
                    + "gains nothing.");
            return Mode.PUBLIC;
        }
        if (published > MOST_PUBLISHED) {
            reasons.add("Of what is allocated in private mode " + Text.percent(published) + " is published; above "
                    + Text.percent(MOST_PUBLISHED) + " tracking does not pay.");
            return Mode.PUBLIC;
        }
        if (freed < LEAST_FREED_PER_PUBLISHED) {
            reasons.add(String.format(Locale.ROOT, "Local collections free %s bytes for each byte that is published; below %.0f they do "
                    + "not pay.",
                    Text.number(freed), LEAST_FREED_PER_PUBLISHED));
            return Mode.PUBLIC;
        }
        Estimate saved = Gain.local(figures);
        if (saved.high() < 0) {
            reasons.add("Local collections cost more processor time than they save: " + Text.percent(saved) + " of all.");
            return Mode.PUBLIC;
        }
        reasons.add(Text.percent(figures.publishedShare()) + " of the allocated bytes become public. Local collections have freed "
                + Text.bytes(figures.locallyFreed()) + (Double.isFinite(freed) ? ", " + Text.number(freed)
                + " bytes for each that was published" : "")
                + ", while no other thread waited.");
        if (inPublicMode > 0.1) {
            reasons.add("Threads that allocate " + Text.percent(inPublicMode) + " of all bytes are in public mode; they chose it by "
                    + "themselves, which is right for them.");
        }
        return Mode.PRIVATE;
    }

    /** Why threads have gone to public mode most often; empty if none has while it was recorded. */
    static String mainReason(Recording recording) {
        return recording.modeChanges.entrySet().stream().filter(e -> e.getKey().startsWith("to public mode: "))
                .max(Map.Entry.comparingByValue()).map(e -> e.getKey().substring("to public mode: ".length())).orElse("");
    }

    private static List<Flag> flags(Figures figures, Mode mode) {
        Recording recording = figures.recording;
        List<Flag> flags = new ArrayList<>();
        if (mode == Mode.PUBLIC) {
            flags.add(new Flag("-XX:-LullTracking", "No barriers, no local collections."));
        }
        double live = figures.live();
        if (figures.pausedShare() > MUCH_IN_PAUSES && recording.maxHeap > 0 && live < recording.maxHeap) {
            double room = recording.maxHeap - live;
            flags.add(new Flag("-Xmx" + Math.round((recording.maxHeap + room) / (1 << 20)) + "m", "Pauses take "
                    + Text.percent(figures.pausedShare())
                    + " of the time. After a collection " + Text.bytes(live) + " are in use, which leaves " + Text.bytes(room)
                    + ". Twice that room halves the number of global collections; their length stays."));
        }
        // All of them: with a threshold the recording has long ones only, which come in the middle of requests more often.
        double local = figures.locally();
        long late = recording.localTriggers.entrySet().stream().filter(e -> e.getKey().matches("at the end of the budget|for lack of "
                + "memory"))
                .mapToLong(Map.Entry::getValue).sum();
        if (mode == Mode.PRIVATE && local >= 100 && late * 2 > local && recording.requests.total() == 0) {
            flags.add(new Flag("lull.Requests", "Not a flag: " + (figures.areLocalCollectionsRecorded() ? "" : "at least ") + Text.percent(late / local)
                    + " of the local collections came in the middle of requests. "
                    + "If the program says where a request ends (`docs/guides/requests.md`), less survives them."));
        }
        return flags;
    }
}
