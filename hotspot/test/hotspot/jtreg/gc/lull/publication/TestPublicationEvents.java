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

package gc.lull.publication;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import gc.lull.StayingThread;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;
import jdk.test.lib.Asserts;

/*
 * @test id=interpreter
 * @requires vm.gc.Lull & vm.hasJFR & vm.debug
 * @summary The flight recorder's events about publication: totals, per thread, changes of mode, samples with class and stack.
 * @library / /test/lib
 * @modules jdk.jfr
 * @run main/othervm -Xmx64m -Xint -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:LullPublicationSampling=1
 *      -XX:LullPublicModeWindow=32k -XX:LullPublicModeWindows=1 gc.lull.publication.TestPublicationEvents on
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull & vm.hasJFR & vm.debug
 * @library / /test/lib
 * @modules jdk.jfr
 * @run main/othervm -Xmx64m -Xcomp -XX:TieredStopAtLevel=1 -XX:CompileCommand=compileonly,gc.lull.publication.TestPublicationEvents::publish*
 *      -XX:CompileCommand=dontinline,gc.lull.publication.TestPublicationEvents::publish*
 *      -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:LullPublicationSampling=1
 *      -XX:LullPublicModeWindow=32k -XX:LullPublicModeWindows=1 gc.lull.publication.TestPublicationEvents on
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull & vm.hasJFR & vm.debug
 * @library / /test/lib
 * @modules jdk.jfr
 * @run main/othervm -Xmx64m -Xcomp -XX:-TieredCompilation -XX:CompileCommand=compileonly,gc.lull.publication.TestPublicationEvents::publish*
 *      -XX:CompileCommand=dontinline,gc.lull.publication.TestPublicationEvents::publish*
 *      -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:LullPublicationSampling=1
 *      -XX:LullPublicModeWindow=32k -XX:LullPublicModeWindows=1 gc.lull.publication.TestPublicationEvents on
 */

/*
 * @test id=off
 * @requires vm.gc.Lull & vm.hasJFR
 * @library / /test/lib
 * @modules jdk.jfr
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullTracking gc.lull.publication.TestPublicationEvents off
 */

public class TestPublicationEvents {
    static final int CLOSURES = 50;
    static final int OTHERS = 200;

    static class Item {
        long a, b;
    }

    static volatile Object sink;

    static void publishOne(Item[] items) {
        sink = items;
    }

    /** Fewer bytes than are looked at for a change of mode. */
    static void few() {
        for (int i = 0; i < CLOSURES; i++) {
            publishOne(new Item[] { new Item(), new Item(), new Item(), null });
        }
    }

    static void much() {
        for (int i = 0; i < 3000; i++) {
            publishOne(new Item[] { new Item(), new Item(), new Item(), null });
        }
    }

    private static Map<String, List<RecordedEvent>> record() throws Exception {
        // As a user would have it: the names are known, and the settings that come with the JDK enable them.
        List<String> names = FlightRecorder.getFlightRecorder().getEventTypes().stream().map(type -> type.getName()).toList();
        for (String name : List.of("LullPublicationStatistics", "LullThreadPublicationStatistics", "LullPublicationMode", "LullPublicationSample")) {
            Asserts.assertTrue(names.contains("jdk." + name), "no event " + name);
        }
        Path file = Path.of("publication.jfr");
        try (StayingThread few = new StayingThread("few", TestPublicationEvents::few);
                Recording recording = new Recording(jdk.jfr.Configuration.getConfiguration("default"))) {
            recording.start();
            few.work();
            Thread much = new Thread(TestPublicationEvents::much, "much");
            much.start();
            much.join();
            recording.stop();   // sends the periodic events
            recording.dump(file);
        }
        Map<String, List<RecordedEvent>> events = RecordingFile.readAllEvents(file).stream()
                .collect(Collectors.groupingBy(event -> event.getEventType().getName()));
        Files.delete(file);
        return events;
    }

    private static List<RecordedEvent> of(Map<String, List<RecordedEvent>> events, String name) {
        List<RecordedEvent> found = events.get("jdk." + name);
        Asserts.assertNotNull(found, "no event " + name + ", only " + events.keySet());
        return found;
    }

    private static void between(String what, long value, long least, long more) {
        Asserts.assertTrue(least <= value && value <= least + more, what + ": " + value + ", at least " + least + ", at most " + more + " more");
    }

    private static void checkStatistics(Map<String, List<RecordedEvent>> events) {
        List<RecordedEvent> totals = of(events, "LullPublicationStatistics");
        RecordedEvent total = totals.getLast();
        Asserts.assertGTE(total.getLong("closures"), (long) CLOSURES, total.toString());
        Asserts.assertGTE(total.getLong("objects"), total.getLong("closures"), total.toString());
        Asserts.assertGTE(total.getLong("published"), total.getLong("objects") * 16, total.toString());
        Asserts.assertGTE(total.getLong("allocated"), total.getLong("published"), total.toString());
        Asserts.assertEQ(total.getLong("slowCalls"),
                         total.getLong("callsPrivateDestination") + total.getLong("callsPublicValue") + total.getLong("callsPublished"),
                         total.toString());
        Asserts.assertGTE(total.getLong("closures"), totals.getFirst().getLong("closures"), "counts grow");

        RecordedEvent few = of(events, "LullThreadPublicationStatistics").stream()
                .filter(event -> event.getThread("thread") != null && "few".equals(event.getThread("thread").getJavaName())).toList().getLast();
        between("closures of " + few, few.getLong("closures"), CLOSURES, OTHERS);
        between("objects of " + few, few.getLong("objects"), CLOSURES * 4, OTHERS * 4);
        Asserts.assertFalse(few.getBoolean("publicMode"), few.toString());
    }

    private static void checkModes(Map<String, List<RecordedEvent>> events) {
        List<String> changes = new ArrayList<>();
        for (RecordedEvent event : of(events, "LullPublicationMode")) {
            if (event.getThread() != null && "much".equals(event.getThread().getJavaName())) {
                changes.add(event.getString("from") + "->" + event.getString("to") + ": " + event.getString("reason"));
                Asserts.assertGT(event.getFloat("publishedShare"), 0.4f, event.toString());
            }
        }
        Asserts.assertGTE(changes.size(), 2, "changes of mode: " + changes);
        Asserts.assertEQ(changes.get(0), "private->public: much is published");
        Asserts.assertEQ(changes.get(1), "public->private: tries again");
    }

    private static void checkSamples(Map<String, List<RecordedEvent>> events) {
        int right = 0;
        for (RecordedEvent event : of(events, "LullPublicationSample")) {
            Asserts.assertGT(event.getLong("weight"), 0L, event.toString());
            if (event.getThread() == null || !"few".equals(event.getThread().getJavaName()) ||
                !event.getClass("objectClass").getName().equals(Item[].class.getName())) {
                continue;
            }
            Asserts.assertEQ(event.getLong("objects"), 4L, event.toString());
            between("bytes", event.getLong("size"), 32 + 3 * 24, 3 * 8 + 8);
            Asserts.assertNotNull(event.getStackTrace(), "no stack: " + event);
            List<String> methods = event.getStackTrace().getFrames().stream().map(RecordedFrame::getMethod)
                    .map(method -> method.getType().getName() + "." + method.getName()).toList();
            String self = TestPublicationEvents.class.getName();
            Asserts.assertEQ(methods.subList(0, 2), List.of(self + ".publishOne", self + ".few"), event.toString());
            Asserts.assertEQ(methods.getLast(), "java.lang.Thread.run", event.toString());
            right++;
        }
        Asserts.assertEQ(right, CLOSURES, "each is sampled");
    }

    public static void main(String[] args) throws Exception {
        Map<String, List<RecordedEvent>> events = record();
        if (args[0].equals("off")) {
            Asserts.assertTrue(events.keySet().stream().noneMatch(name -> name.startsWith("jdk.Lull")), "events without tracking: " + events.keySet());
            return;
        }
        checkStatistics(events);
        checkModes(events);
        checkSamples(events);
    }
}
