#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Which waits for a lock the flight recorder of a stock JDK 25.0.3 has, of platform and of virtual threads: 30 threads
# at the same time, each of which holds the lock for 10 ms; jdk.JavaMonitorEnter, jdk.ThreadPark and
# jdk.JavaMonitorWait without a threshold. Beside it async-profiler's `lock` (tools.profiler:async-profiler 4.5).
#
#   guessed   of each kind some 29 waits, by both, whatever the threads are: since JDK 24 (JEP 491) a monitor does not
#             pin a virtual thread, but that it waits is the same
#   seen                                    flight recorder    async-profiler
#             platform  synchronized               20 to 29          20 to 29
#                       ReentrantLock              20 to 29          20 to 29
#                       Object.wait                      30     not asked for
#             virtual   synchronized                      0          13 to 29
#                       ReentrantLock                     0                 0
#                       Object.wait                       0     not asked for
#             The events are of code by which a platform thread blocks. A virtual thread that can unmount does not
#             come there, and jdk.VirtualThreadPinned is for those that can not. So a service that is moved to virtual
#             threads has no contention in its recording, however long its requests wait. One run of JDK 27 had none
#             of monitors and ReentrantLock, either
#
# Needs a JDK 25 for Linux on x86-64 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
  -Dartifact=tools.profiler:async-profiler:4.5 -DoutputDirectory=. > errors 2>&1 || { cat errors; exit 1; }
"$java/jar" --extract --file async-profiler-4.5.jar linux-x64/libasyncProfiler.so
cat > Waits.java << 'JAVA'
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

public class Waits {
    static final int THREADS = 30;
    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();

    static void hold() {
        try {
            Thread.sleep(10);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void inMonitor() {
        synchronized (MONITOR) {
            hold();
        }
    }

    static void inLock() {
        LOCK.lock();
        try {
            hold();
        } finally {
            LOCK.unlock();
        }
    }

    static void waiting() {
        synchronized (Thread.currentThread()) {
            try {
                Thread.currentThread().wait(10);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Is it a wait in the method `inMonitor`, `inLock` or `waiting`? */
    static boolean isOurs(RecordedEvent event) {
        return event.getStackTrace() != null && event.getStackTrace().getFrames().stream().anyMatch(frame ->
            frame.getMethod().getType().getName().equals("Waits")
                && frame.getMethod().getName().matches("inMonitor|inLock|waiting"));
    }

    /** Waits platform|virtual synchronized|lock|wait [FILE]: with a file prints how many waits were recorded. */
    public static void main(String[] args) throws Exception {
        Runnable use = switch (args[1]) {
            case "synchronized" -> Waits::inMonitor;
            case "lock" -> Waits::inLock;
            default -> Waits::waiting;
        };
        Recording recording = new Recording();
        for (String event : List.of("JavaMonitorEnter", "ThreadPark", "JavaMonitorWait")) {
            recording.enable("jdk." + event).withThreshold(Duration.ZERO).withStackTrace();
        }
        if (args.length > 2) {
            recording.start();
        }
        CountDownLatch all = new CountDownLatch(THREADS);
        Runnable body = () -> {
            all.countDown();
            try {
                all.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            use.run();
        };
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            threads.add((args[0].equals("virtual") ? Thread.ofVirtual() : Thread.ofPlatform()).start(body));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (args.length > 2) {
            recording.stop();
            recording.dump(Path.of(args[2]));
            System.out.println(RecordingFile.readAllEvents(Path.of(args[2])).stream().filter(Waits::isOurs).count());
        }
    }
}
JAVA
"$java/javac" Waits.java
bad=0
printf '%-10s %-14s %16s %16s\n' threads lock 'flight recorder' async-profiler
# row THREADS LOCK LEAST MOST LEAST MOST: how many waits each has is in these bounds
row() {
  local recorded profiled=-1
  recorded=$("$java/java" -Xmx128m -XX:+UseSerialGC Waits "$1" "$2" recording.jfr)
  if [[ $2 != wait ]]; then
    rm -f profile
    "$java/java" -Xmx128m -XX:+UseSerialGC \
      -agentpath:linux-x64/libasyncProfiler.so=start,event=lock,lock=0,collapsed,file=profile \
      Waits "$1" "$2" > errors 2>&1 || { cat errors; exit 1; }
    profiled=$(awk '/Waits.in(Monitor|Lock)/ { n += $NF } END { print n + 0 }' profile)
  fi
  printf '%-10s %-14s %16d %16s\n' "$1" "$2" "$recorded" "${profiled/-1/-}"
  ((recorded >= $3 && recorded <= $4 && profiled >= $5 && profiled <= $6)) || bad=1
}
row platform synchronized 10 60 10 60
row platform lock 10 60 10 60
row platform wait 30 30 -1 -1
row virtual synchronized 0 0 1 60
row virtual lock 0 0 0 0
row virtual wait 0 0 -1 -1
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
