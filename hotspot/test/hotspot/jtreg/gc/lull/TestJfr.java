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

package gc.lull;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedObject;
import jdk.jfr.consumer.RecordingFile;

/*
 * @test
 * @requires vm.gc.Lull & vm.hasJFR
 * @summary JFR sees each collection: its cause, pauses, phases, heap before and after, references, objects; the
 *          configuration; and the way from a root to an object that leaks.
 * @modules jdk.jfr
 * @run main/othervm -Xms128m -Xmx128m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullReferencePausePercent=0 -XX:MaxGCPauseMillis=60000 gc.lull.TestJfr
 */

public class TestJfr {
    private static final int COLLECTIONS = 3;
    private static final int LEAKS = 20_000;

    static class Leak {
        final byte[] memory = new byte[2000];
    }

    static List<Leak> leaks = new ArrayList<>();
    static Object sink;

    public static void main(String[] args) throws Exception {
        Path file = Path.of("lull.jfr");
        try (Recording recording = new Recording()) {
            for (String name : List.of("GarbageCollection", "OldGarbageCollection", "GCPhasePause", "GCPhasePauseLevel1",
                                       "GCHeapSummary", "MetaspaceSummary", "GCReferenceStatistics", "GCConfiguration",
                                       "GCHeapConfiguration", "GCCPUTime", "ObjectCountAfterGC")) {
                recording.enable("jdk." + name).withoutThreshold();
            }
            recording.enable("jdk.OldObjectSample").withStackTrace().with("cutoff", "infinity");
            recording.start();
            for (int i = 0; i < LEAKS; i++) {
                leaks.add(new Leak());
                sink = new byte[1000];
            }
            for (int i = 0; i < COLLECTIONS; i++) {
                System.gc();
            }
            recording.stop();
            recording.dump(file);
        }
        Map<String, List<RecordedEvent>> events = RecordingFile.readAllEvents(file).stream()
                .collect(Collectors.groupingBy(event -> event.getEventType().getName()));
        Files.delete(file);

        checkCollections(events);
        checkHeapSummaries(events);
        checkConfiguration(events);
        checkObjectCounts(events);
        checkLeaks(events);
    }

    private static List<RecordedEvent> of(Map<String, List<RecordedEvent>> events, String name) {
        List<RecordedEvent> found = events.get("jdk." + name);
        check(found != null, "no event " + name + ", only " + events.keySet());
        return found;
    }

    private static void check(boolean right, String otherwise) {
        if (!right) {
            throw new AssertionError(otherwise);
        }
    }

    private static void checkCollections(Map<String, List<RecordedEvent>> events) {
        Set<Integer> collections = new HashSet<>();
        int bySystem = 0;
        for (RecordedEvent event : of(events, "GarbageCollection")) {
            check(event.getString("name").equals("LullGlobal"), "another collector: " + event);
            check(collections.add(event.getInt("gcId")), "two collections of the same number: " + event);
            Duration pauses = event.getDuration("sumOfPauses");
            Duration longest = event.getDuration("longestPause");
            check(!pauses.isZero() && !longest.isZero() && longest.compareTo(pauses) <= 0, "no pauses, or not their sum: " + event);
            bySystem += event.getString("cause").equals("System.gc()") ? 1 : 0;
        }
        check(bySystem == COLLECTIONS, bySystem + " collections by System.gc() instead of " + COLLECTIONS);
        for (String name : List.of("OldGarbageCollection", "GCPhasePause", "GCPhasePauseLevel1", "GCReferenceStatistics",
                                   "MetaspaceSummary", "GCCPUTime")) {
            Set<Integer> with = of(events, name).stream().map(event -> event.getInt("gcId")).collect(Collectors.toSet());
            check(with.equals(collections), name + " for " + with + ", collections " + collections);
        }
        Set<String> phases = of(events, "GCPhasePauseLevel1").stream().map(event -> event.getString("name")).collect(Collectors.toSet());
        for (String phase : List.of("Mark", "Process References", "Process Weak Roots", "Unload Classes", "Sweep")) {
            check(phases.contains(phase), "no phase " + phase + " in " + phases);
        }
    }

    private static void checkHeapSummaries(Map<String, List<RecordedEvent>> events) {
        Map<Integer, Long> before = new HashMap<>();
        Map<Integer, Long> after = new HashMap<>();
        for (RecordedEvent event : of(events, "GCHeapSummary")) {
            long used = event.getLong("heapUsed");
            RecordedObject space = event.getValue("heapSpace");
            check(used > 0 && used <= space.getLong("committedSize"), "more used than committed: " + event);
            check(space.getLong("committedSize") <= space.getLong("reservedSize"), "more committed than reserved: " + event);
            (event.getString("when").equals("Before GC") ? before : after).put(event.getInt("gcId"), used);
        }
        check(before.keySet().equals(after.keySet()), "before " + before + ", after " + after);
        check(after.values().stream().mapToLong(used -> used).max().getAsLong() > LEAKS * 2000L, "too little used: " + after);
    }

    private static void checkConfiguration(Map<String, List<RecordedEvent>> events) {
        RecordedEvent collector = of(events, "GCConfiguration").getFirst();
        check(collector.getString("youngCollector").equals("LullYoung") && collector.getString("oldCollector").equals("LullGlobal"),
              "another collector: " + collector);
        check(collector.getInt("parallelGCThreads") >= 1, "no threads: " + collector);
        RecordedEvent heap = of(events, "GCHeapConfiguration").getFirst();
        check(heap.getLong("maxSize") == 128L << 20, "-Xmx128m is " + heap);
    }

    private static void checkObjectCounts(Map<String, List<RecordedEvent>> events) {
        long most = 0;
        for (RecordedEvent event : of(events, "ObjectCountAfterGC")) {
            if (event.getClass("objectClass").getName().equals(Leak.class.getName())) {
                most = Math.max(most, event.getLong("count"));
            }
        }
        check(most == LEAKS, most + " leaks counted instead of " + LEAKS);
    }

    private static void checkLeaks(Map<String, List<RecordedEvent>> events) {
        int withRoot = 0;
        for (RecordedEvent event : of(events, "OldObjectSample")) {
            RecordedObject root = event.getValue("root");
            withRoot += root != null ? 1 : 0;
        }
        check(withRoot > 0, "no way from a root to an old object, in " + events.get("jdk.OldObjectSample").size() + " samples");
    }
}
