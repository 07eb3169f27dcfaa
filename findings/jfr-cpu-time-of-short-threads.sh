#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# The flight recorder's CPU-time profile (JEP 509, event jdk.CPUTimeSample) of a stock JDK 25.0.3, with a period of
# 10 ms: 600 ms of CPU time by one thread, and by 300 threads one after the other, 2 ms each.
#
#   guessed   samples times period give the CPU time in both cases, within 30 %
#   seen      one thread: so it is. 300 threads: no sample at all, and no jdk.CPUTimeSamplesLost for what is missing.
#             Each thread has a timer of its own, which starts with a whole period: a thread that uses less CPU time
#             than that in its life is never seen, however many there are. So in a program that starts a thread for each
#             short request, the profile that claims to count CPU time exactly shows nothing of its work
#
# Needs a JDK 25 for Linux (JAVA_HOME). Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > Cpu.java <<'JAVA'
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

public class Cpu {
    static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
    static long sum;

    static void burn(long nanos) {
        long end = BEAN.getCurrentThreadCpuTime() + nanos;
        while (BEAN.getCurrentThreadCpuTime() < end) {
            for (int i = 0; i < 200; i++) {
                sum += Integer.toString(i).hashCode();
            }
        }
    }

    /** Prints the percentage of CPU time that samples account for. */
    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        long each = 600_000_000L / threads;
        burn(100_000_000L);
        try (Recording recording = new Recording()) {
            recording.enable("jdk.CPUTimeSample").with("throttle", "10ms");
            recording.start();
            for (int i = 0; i < threads; i++) {
                Thread thread = Thread.ofPlatform().start(() -> burn(each));
                thread.join();
            }
            recording.stop();
            Path file = Path.of("cpu.jfr");
            recording.dump(file);
            long seen = 0;
            for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
                if (event.getEventType().getName().equals("jdk.CPUTimeSample") && event.getStackTrace() != null
                        && event.getStackTrace().getFrames().stream()
                            .anyMatch(frame -> frame.getMethod().getName().equals("burn"))) {
                    seen += event.getDuration("samplingPeriod").toNanos();
                }
            }
            System.out.println(seen / 6_000_000);
        }
    }
}
JAVA
"$java/javac" Cpu.java
one=$("$java/java" Cpu 1)
many=$("$java/java" Cpu 300)
echo "CPU time that samples account for: one thread $one %, 300 threads of 2 ms each $many %"
((one >= 70 && one <= 130 && many <= 5)) || { echo "changed" >&2; exit 1; }
echo "as seen"
