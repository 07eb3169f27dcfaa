// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import one.profiler.AsyncProfiler;

/** What the profiler says was allocated, or with -Dlive=true is alive, beside what was. */
public class AsyncProfilerTool implements Load.Tool {
    private static final boolean LIVE = Boolean.getBoolean("live");

    private final Path file = Path.of("async-profiler.jfr");
    private AsyncProfiler profiler;
    private long before;

    private static long allocated() {
        return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean()).getTotalThreadAllocatedBytes();
    }

    @Override
    public void begin() throws Exception {
        profiler = AsyncProfiler.getInstance(System.getProperty("library"));
        before = allocated();
        profiler.execute("start,event=alloc,alloc=64k," + (LIVE ? "live," : "") + "jfr,file=" + file);
    }

    @Override
    public void end() throws Exception {
        long after = allocated();
        profiler.execute("stop,file=" + file);
        long bytes = 0;
        int alive = 0;
        try (RecordingFile recording = new RecordingFile(file)) {
            while (recording.hasMoreEvents()) {
                RecordedEvent event = recording.readEvent();
                switch (event.getEventType().getName()) {
                    case "jdk.ObjectAllocationInNewTLAB" -> bytes += event.getLong("tlabSize");
                    case "jdk.ObjectAllocationOutsideTLAB" -> bytes += event.getLong("allocationSize");
                    case "profiler.LiveObject" -> alive++;
                    default -> {
                    }
                }
            }
        }
        Load.say(bytes / 1_000_000 + " MB allocated" + (LIVE ? ", " + alive + " samples are alive" : ""));
        System.out.println("true allocated by threads: " + (after - before) / 1_000_000 + " MB; alive of the samples of one in 64 KB: "
            + Load.ALIVE / 65536);
    }
}
