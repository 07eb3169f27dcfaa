// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * What keeps a safepoint waiting: threads make garbage, some keep megabytes alive that are private, so that a local
 * collection has to copy them, and some publish large graphs at once; meanwhile the VM is stopped again and again. For each
 * state in which a thread was when it was asked to stop: how many arrived, and how many of them later than so many
 * milliseconds; and the same of the threads that were last.
 */
public class Safepoints {
    private static final int THREADS = 8;
    private static final int SAFEPOINTS = Integer.getInteger("safepoints", 300);
    private static final int[] LATE = {1, 5, 20, 100};

    static volatile boolean done;
    static volatile Object shared;

    /** A chain of so many objects, which one store publishes. */
    private static Object graph(int objects) {
        Object[] first = null;
        for (int i = 0; i < objects; i++) {
            first = new Object[] {first, new byte[16]};
        }
        return first;
    }

    private static void work(int kind) {
        List<Object> kept = new ArrayList<>();
        while (!done) {
            for (int i = 0; i < 200; i++) {
                Object garbage = graph(10);
                if (kind == 1 && kept.size() < 40_000) {
                    kept.add(garbage);
                }
            }
            if (kind == 1 && kept.size() >= 40_000) {
                kept = new ArrayList<>();    // some MB that were private all along
            }
            if (kind == 2) {
                shared = graph(20_000);
            }
            LockSupport.parkNanos(200_000);
        }
    }

    private record Count(int[] late) {
        void add(double millis) {
            late[0]++;
            for (int i = 0; i < LATE.length; i++) {
                late[i + 1] += millis > LATE[i] ? 1 : 0;
            }
        }
    }

    private static void tell(String title, Map<String, Count> counts) {
        counts.forEach((state, count) -> {
            StringBuilder line = new StringBuilder(title + " " + state + ": " + count.late[0]);
            for (int i = 0; i < LATE.length; i++) {
                line.append(", ").append(count.late[i + 1]).append(" over ").append(LATE[i]).append(" ms");
            }
            System.out.println(line);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Path file = Path.of(arguments[0]);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int kind = i % 4;
            Thread thread = new Thread(() -> work(kind), "worker-" + i);
            thread.start();
            threads.add(thread);
        }
        try (Recording recording = new Recording()) {
            recording.enable("jdk.SafepointLatency").withoutThreshold();
            recording.enable("jdk.ExecutionSample").with("period", "5 ms");    // each sample asks a thread to stop at its next poll
            recording.enable("jdk.SafepointStateSynchronization").withoutThreshold();
            recording.start();
            for (int i = 0; i < SAFEPOINTS; i++) {
                ManagementFactory.getThreadMXBean().findDeadlockedThreads();    // at a safepoint
                Thread.sleep(5);
            }
            recording.stop();
            recording.dump(file);
        }
        done = true;
        for (Thread thread : threads) {
            thread.join();
        }
        Map<String, Count> states = new TreeMap<>();
        Map<String, Count> synchronizations = new TreeMap<>();
        try (RecordingFile events = new RecordingFile(file)) {
            while (events.hasMoreEvents()) {
                RecordedEvent event = events.readEvent();
                boolean isLatency = event.getEventType().getName().equals("jdk.SafepointLatency");
                String state = isLatency ? event.getString("threadState") : "all threads";
                (isLatency ? states : synchronizations).computeIfAbsent(state, s -> new Count(new int[LATE.length + 1]))
                    .add(event.getDuration().toNanos() / 1e6);
            }
        }
        tell("asked in", states);
        tell("stopped", synchronizations);
    }
}
