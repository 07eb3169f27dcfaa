/*
 * Copyright (c) 2026, the Lull authors. All rights reserved.
 * DO NOT ALTER OR REMOVE COPYRIGHT NOTICES OR THIS FILE HEADER.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation.  The Lull authors designate
 * this particular file as subject to the "Classpath" exception as provided
 * in the LICENSE file that accompanied this code.
 *
 * This code is distributed in the hope that it will be useful, but WITHOUT
 * ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
 * FITNESS FOR A PARTICULAR PURPOSE.  See the GNU General Public License
 * version 2 for more details (a copy is included in the LICENSE file that
 * accompanied this code).
 *
 * You should have received a copy of the GNU General Public License version
 * 2 along with this work; if not, write to the Free Software Foundation,
 * Inc., 51 Franklin St, Fifth Floor, Boston, MA 02110-1301 USA.
 *
 */

package gc.lull.concurrent;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import jdk.test.lib.dcmd.PidJcmdExecutor;
import jdk.test.whitebox.WhiteBox;

/*
 * @test
 * @requires vm.gc.Lull & vm.hasJFR
 * @summary A cycle that somebody waits for does not wait for memory to run out: neither a test that stops it where it
 *          marks, nor System.gc() where that is to stop nobody for long. What dies while a cycle marks, and what is stored
 *          then, is found.
 * @library / /test/lib
 * @modules jdk.jfr
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx256m -XX:+UseLullGC
 *                   -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:+ExplicitGCInvokesConcurrent
 *                   -Xlog:gc*,gc+marking=debug:file=breakpoints.log gc.lull.concurrent.TestBreakpoints
 */

public class TestBreakpoints {
    private static final WhiteBox WB = WhiteBox.getWhiteBox();

    private static final class Node {
        Object next;
    }

    private static Node kept;
    private static Object dead;
    private static volatile Object dropped;

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    private static long count(String what) throws Exception {
        try (var lines = Files.lines(Path.of("breakpoints.log"))) {
            return lines.filter(line -> line.contains(what)).count();
        }
    }

    /** What an operator asks for while it marks. */
    private static String info() throws Exception {
        return new PidJcmdExecutor().execute("Lull.info").getStdout();
    }

    /** As TestConcurrentGCBreakpoints of HotSpot, which knows its collectors by name. */
    private static void stopsWhereItIsTold() throws Exception {
        for (int i = 0; i < 2; i++) {
            WB.concurrentGCRunTo(WB.AFTER_MARKING_STARTED);
            WB.concurrentGCRunTo(WB.BEFORE_MARKING_COMPLETED);
            WB.youngGC();    // ends no marking
            check(info().matches("(?s).*marking.state: +marking\n.*marking.marked: +[1-9].*marking.expected: +[1-9].*marking.left: .*"),
                  "Lull.info does not say how far the cycle is:" + info());
            check(count(" has ended after ") == i, "a cycle has ended at a breakpoint");
            WB.concurrentGCRunToIdle();
            check(count(" has ended after ") == i + 1, "a cycle has not ended");
        }
        WB.concurrentGCRunTo(WB.BEFORE_MARKING_COMPLETED);
        check(!WB.concurrentGCRunTo(WB.AFTER_MARKING_STARTED, false), "a cycle began again");
        WB.concurrentGCRunToIdle();
        check(!WB.concurrentGCRunTo("NO SUCH BREAKPOINT", false), "stopped nowhere");
        WB.concurrentGCRunToIdle();
    }

    /** The only reference to an object moves behind the markers: they have seen its new holder, and never see the old one. */
    private static void findsWhatMoves() throws Exception {
        kept = new Node();
        dead = new Object();
        Node holder = new Node();
        holder.next = new Node();
        dropped = holder;
        WeakReference<Object> moved = new WeakReference<>(holder.next);
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        PhantomReference<Object> phantom = new PhantomReference<>(dead, queue);
        WeakReference<Object> weak = new WeakReference<>(dead);
        holder = null;
        WB.fullGC();    // all is old now
        WB.concurrentGCRunTo(WB.BEFORE_MARKING_COMPLETED);
        kept.next = ((Node) dropped).next;
        ((Node) dropped).next = null;
        dropped = null;
        check(weak.refersTo(dead), "cleared while it is reachable");
        dead = null;
        WB.concurrentGCRunToIdle();
        check(kept.next != null && moved.refersTo(kept.next), "lost");
        WB.concurrentGCRunTo(WB.BEFORE_MARKING_COMPLETED);
        WB.concurrentGCRunToIdle();    // this one has begun after it died
        check(weak.refersTo(null), "kept for two cycles");
        check(queue.remove(10_000) == phantom, "not enqueued");
    }

    private static void runsForSystemGC() throws Exception {
        WeakReference<Object> weak = new WeakReference<>(new Object());
        long ended = count(" has ended after ");
        long full = count("Pause Full");
        long cycles = count("Concurrent Mark Cycle ");
        Path file = Path.of("cycles.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("jdk.GCPhaseConcurrent").withoutThreshold();
            recording.start();
            System.gc();
            recording.stop();
            recording.dump(file);
        }
        Set<String> phases = RecordingFile.readAllEvents(file).stream()
            .map(event -> event.getString("name")).collect(Collectors.toCollection(HashSet::new));
        phases.remove("Concurrent Sweep");    // of the cycle before, or of this one, which is not waited for
        check(phases.equals(Set.of("Concurrent Clear", "Concurrent Mark")), "phases in the flight recorder: " + phases);
        Set<Integer> ids = RecordingFile.readAllEvents(file).stream()
            .map(event -> event.getInt("gcId")).collect(Collectors.toSet());
        // One that had begun before the call may have ended in it, too.
        check(count("GC(" + Collections.max(ids) + ") Concurrent Mark Cycle ") == 1, "the log does not name cycle " + ids);
        check(count("Concurrent Mark Cycle ") > cycles, "cycles in the log");
        check(count(" has ended after ") > ended, "System.gc() came back before the end of a cycle");
        check(count("Pause Full") == full, "System.gc() stopped the program for all of the heap");
        check(weak.refersTo(null), "not cleared by System.gc()");
    }

    public static void main(String[] args) throws Exception {
        check(WB.supportsConcurrentGCBreakpoints(), "no breakpoints");
        WB.concurrentGCAcquireControl();
        try {
            stopsWhereItIsTold();
            findsWhatMoves();
        } finally {
            WB.concurrentGCReleaseControl();
        }
        runsForSystemGC();
    }
}
