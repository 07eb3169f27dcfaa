#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# JFR's jdk.ObjectAllocationSample where threads are short-lived, on a stock JDK 25.0.3. 1,016 MB are allocated,
# with the settings `default` and `profile` of the JDK.
#
#   guessed   the sum of the samples' weights, from which `jfr view allocation-by-class` and -by-site have their
#             shares, is half of what is allocated by 5,000 platform threads, 200 KB each; and right for few and
#             longer threads
#   seen      5,000 platform threads: 3 % (31 of 1,016 MB), with settings=profile 6 %; on a busy machine, on which
#             the program takes longer and so has more samples, 15 to 30 %. Ten threads, 100 MB each: 14 to 22 %. One
#             thread: 75 % and more. What a thread has allocated since its last sample is lost when it ends. Virtual
#             threads have 60 % and more, as carriers live on. ThreadMXBean.getTotalThreadAllocatedBytes() is right
#             everywhere. So a site in a short-lived thread weighs 3 to 30 times less than one in a thread of a pool
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
import java.util.ArrayList;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;

public class Short {
    static volatile Object last;

    /** Arguments: the kind of threads, their number, arrays of 1,016 bytes that each allocates, and the settings. */
    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[1]);
        int arrays = Integer.parseInt(args[2]);
        Runnable work = () -> {
            for (int i = 0; i < arrays; i++) {
                last = new byte[1000];
            }
        };
        var bean = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        Path file = Path.of("r.jfr");
        long allocated;
        try (var recording = new Recording(Configuration.getConfiguration(args[3]))) {
            recording.start();
            long before = bean.getTotalThreadAllocatedBytes();
            int together = Math.min(threads, 10);
            for (int i = 0; i < threads; i += together) {
                var started = new ArrayList<Thread>();
                for (int k = 0; k < together; k++) {
                    started.add(args[0].equals("virtual") ? Thread.startVirtualThread(work)
                        : Thread.ofPlatform().start(work));
                }
                for (Thread t : started) {
                    t.join();
                }
            }
            allocated = bean.getTotalThreadAllocatedBytes() - before;
            recording.stop();
            recording.dump(file);
        }
        long weights = 0;
        try (var events = new RecordingFile(file)) {
            while (events.hasMoreEvents()) {
                var event = events.readEvent();
                if (event.getEventType().getName().equals("jdk.ObjectAllocationSample")) {
                    weights += event.getLong("weight");
                }
            }
        }
        System.out.println(allocated / 1_000_000 + " " + weights / 1_000_000);
    }
}
JAVA
"$java/javac" Short.java
bad=0
printf '%-34s %12s %20s\n' '1,016 MB allocated, MB' ThreadMXBean 'weights of samples'
# the least and the largest sum of weights in MB, and the arguments of the program
check() {
  local least=$1 most=$2 bean weights
  shift 2
  read -r bean weights < <("$java/java" -XX:+UseG1GC -Xmx200m -Xlog:disable -cp . Short "$@")
  printf '%-34s %12s %20s\n' "$*" "$bean" "$weights"
  [ "$bean" -ge 1000 ] && [ "$bean" -le 1400 ] && [ "$weights" -ge "$least" ] && [ "$weights" -le "$most" ] || bad=1
}
check 1 600 platform 5000 200 default
check 1 600 platform 5000 200 profile
check 1 800 platform 10 100000 default
check 600 1100 platform 1 1000000 default
check 400 1400 virtual 5000 200 default
[ "$bad" = 0 ] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
