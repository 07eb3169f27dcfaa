// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedObject;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * Reads a flight recording. It asks for each field whether it is there, for JVMs of several versions have written them: a number that is not
 * there is 0, or NaN where the page must tell the two apart, a text is empty.
 */
final class RecordingReader {
    private static final int MAGIC = 0x464c5200;   // "FLR\0"
    private static final int HEADER = 68;

    /** Of a local collection that has less to do the VM does not ask how much has survived: it was for the thread's map, not for garbage. */
    private static final long LEAST_ALLOCATED = 64 << 10;

    private final Recording recording;
    private Instant first = Instant.MAX;
    private Instant last = Instant.MIN;

    private RecordingReader(Path file) {
        recording = new Recording(file);
    }

    /** Reads a file. @throws InputException if it is missing, no recording, cut off, or has no event of a collector */
    static Recording read(Path file) throws InputException {
        checkChunks(file);
        RecordingReader reader = new RecordingReader(file);
        try {
            reader.readAll();
        } catch (IOException | RuntimeException e) {
            throw new InputException(InputException.UNREADABLE, file + " is damaged: the JDK's reader of flight recordings says: " + e);
        }
        Recording recording = reader.recording;
        if (recording.oldCollector.isEmpty() && recording.collections.isEmpty() && recording.heap.isEmpty() && !recording.isTracking()) {
            throw new InputException(InputException.TOO_LITTLE, file + " has no event of a collector. Record with "
                    + "-XX:StartFlightRecording:settings=default "
                    + "or by `lull doctor -- java ...`, which records what a page needs");
        }
        return recording;
    }

    /** The chunks of a recording follow each other, and each says how long it is. */
    private static void checkChunks(Path file) throws InputException {
        if (!Files.exists(file)) {
            throw new InputException(InputException.UNREADABLE, "there is no file " + file);
        }
        if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
            throw new InputException(InputException.UNREADABLE, file + " is not a file that can be read");
        }
        try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
            long length = in.length();
            if (length == 0) {
                throw new InputException(InputException.UNREADABLE, file + " is empty: the JVM may still run, or was killed before it "
                        + "wrote the recording");
            }
            for (long at = 0; at < length; ) {
                in.seek(at);
                if (length - at < HEADER || in.readInt() != MAGIC) {
                    throw new InputException(InputException.UNREADABLE, at == 0 ? file + " is not a flight recording (it does not begin "
                            + "with FLR)"
                            : file + " is damaged or cut off: no chunk begins at byte " + at + " of " + length);
                }
                in.readInt();   // version
                long size = in.readLong();
                if (size < HEADER || size > length - at) {
                    throw new InputException(InputException.UNREADABLE, file + " is cut off, or was copied while it was written: the "
                            + "chunk at byte " + at
                            + (size < HEADER ? " was never finished" : " has " + size + " bytes, of which " + (length - at) + " are there")
                            + ". Let the JVM write it whole: `jcmd PID JFR.dump filename=...`");
                }
                at += size;
            }
        } catch (IOException e) {
            throw new InputException(InputException.UNREADABLE, "cannot read " + file + ": " + e.getMessage());
        }
    }

    /** Two passes: the events of a chunk are not in the order of time, and counters and times need the first one. */
    private void readAll() throws IOException {
        List<RecordedEvent> counts = new ArrayList<>();
        try (RecordingFile in = new RecordingFile(recording.file)) {
            while (in.hasMoreEvents()) {
                RecordedEvent event = in.readEvent();
                if (isOfJvm(event.getEventType().getName())) {
                    // By its end: a wait may have begun long before the recording.
                    first = event.getEndTime().isBefore(first) ? event.getEndTime() : first;
                    last = event.getEndTime().isAfter(last) ? event.getEndTime() : last;
                    if (isCount(event.getEventType().getName())) {
                        counts.add(event);
                    }
                }
            }
        }
        if (first == Instant.MAX) {
            return;
        }
        recording.epoch = first.getEpochSecond() + first.getNano() / 1e9;
        recording.end = time(last);
        try (RecordingFile in = new RecordingFile(recording.file)) {
            while (in.hasMoreEvents()) {
                RecordedEvent event = in.readEvent();
                if (!isCount(event.getEventType().getName())) {
                    read(event);
                }
            }
        }
        counts.sort((a, b) -> a.getStartTime().compareTo(b.getStartTime()));
        counts.forEach(this::readCount);
        recording.heap.sort((a, b) -> Double.compare(a.time(), b.time()));
        recording.pauses.sort((a, b) -> Double.compare(a.start(), b.start()));
        recording.pools.values().forEach(sizes -> sizes.sort((a, b) -> Double.compare(a.time(), b.time())));
        recording.budget.sort((a, b) -> Double.compare(a.time(), b.time()));
        recording.loads.sort((a, b) -> Double.compare(a.time(), b.time()));
    }

    private static boolean isOfJvm(String name) {
        // Events of the start of the JVM have its time, not that of the recording.
        return name.startsWith("jdk.") && !name.equals("jdk.ThreadStart");
    }

    private static boolean isCount(String name) {
        switch (name) {
            case "jdk.LullPublicationStatistics":
            case "jdk.LullThreadPublicationStatistics":
            case "jdk.LullLocalCollectionStatistics":
            case "jdk.ThreadAllocationStatistics":
            case "jdk.JavaThreadStatistics":
            case "jdk.CompilerStatistics":
                return true;
            default:
                return false;
        }
    }

    private void read(RecordedEvent event) {
        switch (event.getEventType().getName()) {
            case "jdk.JVMInformation" -> {
                recording.version = string(event, "jvmVersion");
                recording.jvmArguments = string(event, "jvmArguments");
                recording.javaArguments = string(event, "javaArguments");
                recording.jvmStart = event.hasField("jvmStartTime") ? time(event.getInstant("jvmStartTime")) : Double.NaN;
            }
            case "jdk.CPUInformation" -> recording.hardwareThreads = (int) whole(event, "hwThreads");
            case "jdk.GCConfiguration" -> {
                recording.youngCollector = string(event, "youngCollector");
                recording.oldCollector = string(event, "oldCollector");
                recording.concurrentThreads = (int) Math.max(0, whole(event, "concurrentGCThreads"));
            }
            case "jdk.GCHeapConfiguration" -> recording.maxHeap = whole(event, "maxSize");
            case "jdk.CPULoad" -> recording.loads.add(new Recording.Load(time(event.getStartTime()), real(event, "jvmUser")
                    + real(event, "jvmSystem")));
            case "jdk.GarbageCollection" -> {
                Recording.Collection collection = collection(event);
                collection.name = string(event, "name");
                collection.cause = string(event, "cause");
                collection.start = time(event.getStartTime());
                collection.pauseSeconds = seconds(event, "sumOfPauses");
            }
            case "jdk.GCPhasePause" ->
                recording.pauses.add(new Recording.Pause(collectionId(event), time(event.getStartTime()), seconds(event.getDuration())));
            case "jdk.GCPhaseConcurrent" ->
                recording.concurrentPhases.add(new Recording.Span(time(event.getStartTime()), seconds(event.getDuration())));
            case "jdk.GCCPUTime" -> {
                Recording.Collection collection = collection(event);
                double more = seconds(event, "userTime") + seconds(event, "systemTime");
                collection.processorSeconds = Double.isNaN(collection.processorSeconds) ? more : collection.processorSeconds + more;
            }
            case "jdk.GCHeapSummary" -> readHeapSummary(event);
            case "jdk.GCHeapMemoryUsage" -> recording.heap.add(
                    new Recording.HeapSize(time(event.getStartTime()), whole(event, "used"), whole(event, "committed"), false));
            case "jdk.GCHeapMemoryPoolUsage" -> recording.pools.computeIfAbsent(string(event, "name"), name -> new ArrayList<>())
                    .add(new Recording.Size(time(event.getStartTime()), whole(event, "used")));
            case "jdk.HeapBudgetDecision" -> recording.budget.add(new Recording.BudgetDecision(time(event.getStartTime()),
                    string(event, "action"), string(event, "reason"), real(event, "collectionCost"), real(event, "stallCost"),
                    whole(event, "heapSize"), whole(event, "live"), whole(event, "available")));
            case "jdk.LullLocalCollection" -> readLocalCollection(event);
            case "jdk.LullPublicationMode" ->
                recording.modeChanges.merge("to " + string(event, "to") + " mode: " + string(event, "reason"), 1L, Long::sum);
            case "jdk.LullPublicationSample" -> readSample(event);
            default -> { }
        }
    }

    private void readHeapSummary(RecordedEvent event) {
        boolean after = string(event, "when").equals("After GC");
        double used = whole(event, "heapUsed");
        RecordedObject space = event.hasField("heapSpace") ? event.getValue("heapSpace") : null;
        recording.heap.add(new Recording.HeapSize(time(event.getStartTime()), used, space == null || !space.hasField("committedSize") ? Double.NaN
                : space.getLong("committedSize"), after));
        Recording.Collection collection = collection(event);
        if (after) {
            collection.usedAfter = used;
            collection.end = time(event.getStartTime());
        } else if (Double.isNaN(collection.usedBefore)) {
            collection.usedBefore = used;
        }
    }

    private void readLocalCollection(RecordedEvent event) {
        String trigger = string(event, "trigger");
        recording.localTriggers.merge(trigger, 1L, Long::sum);
        long allocated = whole(event, "allocated");
        if (allocated >= LEAST_ALLOCATED && (trigger.equals("before a wait") || trigger.equals("at the end of a request"))) {
            recording.survival.add((double) whole(event, "survived") / allocated);
            if (event.hasField("published")) {
                recording.publication.add((double) whole(event, "published") / allocated);
            }
        }
    }

    private void readSample(RecordedEvent event) {
        List<Place.Frame> stack = new ArrayList<>();
        RecordedStackTrace trace = event.getStackTrace();
        if (trace != null) {
            for (RecordedFrame frame : trace.getFrames()) {
                stack.add(new Place.Frame(frame.getMethod().getType().getName(), frame.getMethod().getName(), frame.getLineNumber()));
            }
        }
        List<Place.Frame> frames = Place.significant(stack);
        RecordedClass type = event.hasField("objectClass") ? event.getValue("objectClass") : null;
        recording.places.computeIfAbsent(frames.toString(), key -> new Place(frames))
                .add(type == null ? "?" : Text.className(type.getName()), whole(event, "objects"), whole(event, "weight"));
    }

    private void readCount(RecordedEvent event) {
        double time = time(event.getStartTime());
        switch (event.getEventType().getName()) {
            case "jdk.LullPublicationStatistics" -> {
                recording.allocated.add(time, whole(event, "allocated"));
                recording.published.add(time, whole(event, "published"));
                recording.publishedObjects.add(time, whole(event, "objects"));
                recording.slowCalls.add(time, whole(event, "slowCalls"));
                recording.enteredPublicMode.add(time, whole(event, "enteredPublicMode"));
            }
            case "jdk.LullThreadPublicationStatistics" -> {
                RecordedThread thread = thread(event);
                if (thread != null) {
                    recording.threads.computeIfAbsent(thread.getId(), id -> new Recording.ThreadPublication())
                            .add(whole(event, "allocated"), event.hasField("publicMode") && event.getBoolean("publicMode"));
                }
            }
            case "jdk.ThreadAllocationStatistics" -> {
                RecordedThread thread = thread(event);
                if (thread != null && event.hasField("allocated")) {
                    recording.threadAllocation.add(time, thread.getId(), whole(event, "allocated"));
                }
            }
            case "jdk.JavaThreadStatistics" -> recording.threadsStarted.add(time, whole(event, "accumulatedCount"));
            case "jdk.LullLocalCollectionStatistics" -> {
                recording.localCollections.add(time, whole(event, "collections"));
                recording.beforeWait.add(time, whole(event, "beforeWait"));
                recording.requests.add(time, whole(event, "requests"));
                recording.locallyFreed.add(time, whole(event, "freed"));
                recording.locallySurvived.add(time, whole(event, "survived"));
                recording.locallyTenured.add(time, whole(event, "tenured"));
                recording.localTime.add(time, seconds(event, "time"));
                recording.localProcessorTime.add(time, seconds(event, "processorTime"));
                recording.longestLocal = Math.max(recording.longestLocal, seconds(event, "longest"));
            }
            default -> recording.compilation.add(time, seconds(event, "totalTimeSpent"));
        }
    }

    private Recording.Collection collection(RecordedEvent event) {
        return recording.collections.computeIfAbsent(collectionId(event), id -> new Recording.Collection());
    }

    private static int collectionId(RecordedEvent event) {
        return (int) whole(event, "gcId");
    }

    private static RecordedThread thread(RecordedEvent event) {
        return event.hasField("thread") ? event.getValue("thread") : null;
    }

    private double time(Instant instant) {
        return seconds(Duration.between(first, instant));
    }

    private static double seconds(Duration duration) {
        return duration.getSeconds() + duration.getNano() / 1e9;
    }

    private static double seconds(RecordedEvent event, String field) {
        return event.hasField(field) ? seconds(event.getDuration(field)) : 0;
    }

    private static long whole(RecordedEvent event, String field) {
        return event.hasField(field) ? event.getLong(field) : 0;
    }

    private static double real(RecordedEvent event, String field) {
        return event.hasField(field) ? event.getDouble(field) : 0;
    }

    private static String string(RecordedEvent event, String field) {
        String value = event.hasField(field) ? event.getString(field) : null;
        return value == null ? "" : value;
    }
}
