#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# async-profiler's converter (tools.profiler:jfr-converter 4.5) on a recording of a stock JDK 25.0.3 with both of its
# profiles of CPU: the samples of jdk.ExecutionSample and of jdk.CPUTimeSample (JEP 509), as `collapsed` stacks.
#
#   guessed   --cpu, whose help says `CPU profile (ExecutionSample)`, has the samples of jdk.ExecutionSample;
#             --cpu-time those of jdk.CPUTimeSample; without an option it is one of the two
#   seen      --cpu-time: so it is. --cpu: not one sample, no message, and exit 0, for it takes samples of a thread that
#             is in a state which async-profiler writes and the JDK does not; `--state runnable` has them. Without an
#             option: the sum of both, so each moment of CPU counts twice, and a setting of the recording doubles the
#             profile
#
# Needs a JDK 25 for Linux (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>converted</artifactId><version>1</version><dependencies><dependency>
<groupId>tools.profiler</groupId><artifactId>jfr-converter</artifactId><version>4.5</version>
</dependency></dependencies></project>
POM
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Busy.java <<'JAVA'
import java.nio.file.Path;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

public class Busy {
    static volatile double sum;

    /** Is busy for three seconds, and prints how many samples of both kinds the JDK's own parser finds. */
    public static void main(String[] args) throws Exception {
        Path file = Path.of(args[0]);
        try (Recording recording = new Recording()) {
            recording.enable("jdk.ExecutionSample").with("period", "10 ms");
            recording.enable("jdk.CPUTimeSample").with("throttle", "10ms");
            recording.start();
            for (long end = System.nanoTime() + 3_000_000_000L; System.nanoTime() < end;) {
                sum += Math.sqrt(sum + 1);
            }
            recording.stop();
            recording.dump(file);
        }
        int execution = 0;
        int time = 0;
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            boolean stack = event.getStackTrace() != null;
            execution += stack && event.getEventType().getName().equals("jdk.ExecutionSample") ? 1 : 0;
            time += stack && event.getEventType().getName().equals("jdk.CPUTimeSample") ? 1 : 0;
        }
        System.out.println(execution + " " + time);
    }
}
JAVA
"$java/javac" Busy.java
read -r execution time <<< "$("$java/java" -cp . Busy cpu.jfr)"
converted() {
  "$java/java" -jar lib/jfr-converter-4.5.jar "$@" -o collapsed cpu.jfr stacks > errors 2>&1 || { cat errors; exit 1; }
  awk '{ samples += $NF } END { print samples + 0 }' stacks
}
by_cpu=$(converted --cpu)
by_time=$(converted --cpu-time)
by_default=$(converted)
echo "recorded: jdk.ExecutionSample $execution, jdk.CPUTimeSample $time;" \
  "converted: --cpu $by_cpu, --cpu-time $by_time, without an option $by_default"
((execution > 50 && time > 50 && by_cpu == 0 && by_time == time && by_default == execution + time)) ||
  { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
