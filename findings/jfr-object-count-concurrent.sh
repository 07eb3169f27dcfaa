#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# JFR's count of objects by class, jdk.ObjectCount (`jfr view object-statistics`), with each collector of a stock
# JDK 25.0.3.
#
#   guessed   each collector gives it, by a collection of its own at the begin and the end of a chunk
#   seen      Serial, Parallel and G1 give it. ZGC and Shenandoah, both generations or one, do the whole collection
#             for it (cause `Heap Inspection Initiated GC`, twice) and write no event at all: all of its cost,
#             nothing of its use, and no warning. `jcmd GC.class_histogram` works with all of them
#
# Needs a JDK 25 with Shenandoah (JAVA_HOME). Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > Alive.java <<'JAVA'
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import javax.management.ObjectName;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;

public class Alive {
    static final class Mine { long value; }

    public static void main(String[] args) throws Exception {
        Mine[] alive = new Mine[500_000];
        for (int i = 0; i < alive.length; i++) {
            alive[i] = new Mine();
        }
        Path file = Path.of("r.jfr");
        try (var recording = new Recording()) {
            recording.enable("jdk.ObjectCount");
            recording.enable("jdk.GarbageCollection").withoutThreshold();
            recording.start();
            recording.stop();
            recording.dump(file);
        }
        int counts = 0;
        int collections = 0;
        try (var events = new RecordingFile(file)) {
            while (events.hasMoreEvents()) {
                var event = events.readEvent();
                if (event.getEventType().getName().equals("jdk.ObjectCount")) {
                    counts++;
                } else if (event.getString("cause").equals("Heap Inspection Initiated GC")) {
                    collections++;
                }
            }
        }
        String histogram = (String) ManagementFactory.getPlatformMBeanServer().invoke(
            new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
            new Object[] {new String[0]}, new String[] {String[].class.getName()});
        long listed = histogram.lines().filter(l -> l.contains("Alive$Mine") && l.contains("500000")).count();
        System.out.println(counts + " " + collections + " " + (alive[0] != null ? listed : -1));
    }
}
JAVA
"$java/javac" Alive.java
bad=0
printf '%-68s %7s %12s %10s\n' '' events collections histogram
# `some` or `none`: events expected; the flags of the collector
check() {
  local expected=$1 counts collections listed
  shift
  read -r counts collections listed < <("$java/java" "$@" -Xmx200m -Xlog:disable -cp . Alive)
  printf '%-68s %7s %12s %10s\n' "$*" "$counts" "$collections" "$listed"
  [ "$collections" -ge 1 ] && [ "$listed" = 1 ] || bad=1
  if [ "$expected" = some ]; then [ "$counts" -gt 0 ] || bad=1; else [ "$counts" = 0 ] || bad=1; fi
}
check some -XX:+UseSerialGC
check some -XX:+UseParallelGC
check some -XX:+UseG1GC
check none -XX:+UseZGC
check none -XX:+UseShenandoahGC
check none -XX:+UseShenandoahGC -XX:ShenandoahGCMode=generational
[ "$bad" = 0 ] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
