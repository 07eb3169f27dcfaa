#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# The flight recorder's event jdk.ObjectAllocationSample, whose weights are meant to add up to what was allocated, on a
# stock JDK 25.0.3: 600 MB by 3,000 threads one after the other, 200 KB each, at the default throttle of 150 a second
# and at 100,000.
#
#   guessed   the weights add up to nine tenths and more, as they do for threads that live on
#   seen      platform threads: less than a tenth, mostly a hundredth, with each collector and at each throttle. A
#             weight is what its own thread has allocated since the last sample of it, so what a thread allocates after
#             that goes with it. Virtual threads: all of it, for their carriers live on. So in a program that starts
#             a thread for each request, allocation profiles by JFR show those who stay, and no request
#
# Needs a JDK 25 (JAVA_HOME). Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > Short.java <<'JAVA'
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

public class Short {
    static volatile Object last;

    static void allocate() {
        for (int i = 0; i < 400; i++) {
            last = new byte[496];
        }
    }

    static boolean byUs(RecordedEvent event) {
        List<RecordedFrame> frames = event.getStackTrace() == null ? List.of() : event.getStackTrace().getFrames();
        return frames.stream().anyMatch(frame -> frame.getMethod().getName().equals("allocate"));
    }

    /** Prints which share of what threads of a kind allocate is in the samples. */
    public static void main(String[] args) throws Exception {
        var bean = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (Recording recording = new Recording()) {
            recording.enable("jdk.ObjectAllocationSample").with("throttle", args[1]);
            recording.start();
            long before = bean.getTotalThreadAllocatedBytes();
            for (int i = 0; i < 3000; i++) {
                (args[0].equals("virtual") ? Thread.ofVirtual() : Thread.ofPlatform()).start(Short::allocate).join();
            }
            double allocated = bean.getTotalThreadAllocatedBytes() - before;
            recording.stop();
            recording.dump(Path.of("short.jfr"));
            if (allocated < 3000 * 400 * 500) {
                throw new AssertionError("allocated " + allocated);
            }
            double weights = 0;
            for (RecordedEvent event : RecordingFile.readAllEvents(Path.of("short.jfr"))) {
                if (event.getEventType().getName().equals("jdk.ObjectAllocationSample") && byUs(event)) {
                    weights += event.getLong("weight");
                }
            }
            double share = weights / allocated;
            System.out.println(share < 0.1 ? "hardly any" : share > 0.85 && share < 1.15 ? "all" : "%.2f".formatted(share));
        }
    }
}
JAVA
"$java/javac" Short.java
{
  for collector in Serial Parallel G1 Z Shenandoah; do
    echo "$collector: $("$java/java" -Xmx256m "-XX:+Use${collector}GC" Short platform 150/s)"
  done
  echo "at 100,000 a second: $("$java/java" -Xmx256m Short platform 100000/s)"
  echo "virtual threads: $("$java/java" -Xmx256m Short virtual 100000/s)"
} | tee seen
diff seen - << 'SEEN'
Serial: hardly any
Parallel: hardly any
G1: hardly any
Z: hardly any
Shenandoah: hardly any
at 100,000 a second: hardly any
virtual threads: all
SEEN
