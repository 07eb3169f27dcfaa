#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# The flight recorder's event jdk.SafepointLatency of a stock JDK 25, beside jdk.SafepointStateSynchronization.
#
#   guessed   it says which thread has held up a safepoint, as its name and its field threadState suggest: at 100 safepoints
#             at which busy threads are stopped there are events of it
#   seen      none at 100 safepoints. It is the delay of a sample: with jdk.ExecutionSample enabled there are some, without
#             a safepoint, too, and each says _thread_in_Java. A thread that keeps the VM waiting is not named by it
#
# Needs a JDK 25 (JAVA_HOME). Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > Latency.java <<'JAVA'
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;

public class Latency {
    static volatile boolean done;
    static volatile long count;

    public static void main(String[] arguments) throws Exception {
        boolean sample = arguments[0].equals("sample");
        int safepoints = Integer.parseInt(arguments[1]);
        for (int i = 0; i < 2; i++) {
            Thread busy = new Thread(() -> {
                while (!done) {
                    count += Integer.toString((int) count).hashCode();
                }
            });
            busy.setDaemon(true);
            busy.start();
        }
        Path file = Path.of(arguments[0] + ".jfr");
        try (Recording recording = new Recording()) {
            recording.enable("jdk.SafepointLatency").withoutThreshold();
            recording.enable("jdk.SafepointStateSynchronization").withoutThreshold();
            if (sample) {
                recording.enable("jdk.ExecutionSample").with("period", "10 ms");
            }
            recording.start();
            for (int i = 0; i < safepoints; i++) {
                ManagementFactory.getThreadMXBean().findDeadlockedThreads();    // at a safepoint
            }
            Thread.sleep(3000);
            recording.stop();
            recording.dump(file);
        }
        done = true;
        int latencies = 0;
        int synchronizations = 0;
        Set<String> states = new TreeSet<>();
        for (var event : RecordingFile.readAllEvents(file)) {
            if (event.getEventType().getName().equals("jdk.SafepointLatency")) {
                latencies++;
                states.add(event.getString("threadState"));
            } else if (event.getEventType().getName().equals("jdk.SafepointStateSynchronization")) {
                synchronizations++;
            }
        }
        System.out.println(latencies + " " + synchronizations + " " + states);
    }
}
JAVA
"$java/javac" Latency.java
run() { "$java/java" -XX:+UseSerialGC -Xlog:disable -cp . Latency "$@"; }
read -r none safepoints _ < <(run none 100)
read -r some _ states < <(run sample 0)
echo "100 asked for: $safepoints safepoints, $none jdk.SafepointLatency; none asked for, samples taken: $some, $states"
((none == 0 && safepoints >= 100 && some > 2)) && [[ $states == '[_thread_in_Java]' ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
