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

package gc.lull.young;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

import com.sun.management.GarbageCollectionNotificationInfo;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import jdk.test.lib.Asserts;
import jdk.test.lib.JDKToolFinder;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;
import jdk.test.whitebox.WhiteBox;

/*
 * @test
 * @requires vm.gc.Lull & vm.hasJFR
 * @summary A young collection is one for the flight recorder and its views, and for those who are notified: of what was
 *          new some is left.
 * @library / /test/lib
 * @modules java.management jdk.management jdk.jfr
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m -Xms64m -XX:+UseLullGC
 *                   -XX:MaxGCPauseMillis=100000 -XX:+UnlockExperimentalVMOptions -XX:LullReferencePausePercent=0
 *                   gc.lull.young.TestYoungEvents
 */

public class TestYoungEvents {
    private static final WhiteBox WB = WhiteBox.getWhiteBox();
    private static final String NEW_POOL = "Lull Eden Space";
    private static final String OLD_POOL = "Lull tenured Old Gen";
    private static final int COLLECTIONS = 3;
    private static final int ALIVE = 1 << 20;

    static byte[][] alive = new byte[COLLECTIONS][];
    static Object garbage;

    private static void collect() {
        for (int i = 0; i < COLLECTIONS; i++) {
            alive[i] = new byte[ALIVE];
            for (int j = 0; j < 2048; j++) {
                garbage = new byte[1024];
            }
            WB.youngGC();
        }
    }

    private static void checkNotifications(LinkedBlockingQueue<Notification> queue) throws InterruptedException {
        for (int i = 0; i < COLLECTIONS; i++) {
            Notification notification = queue.poll(20, TimeUnit.SECONDS);
            Asserts.assertNotNull(notification, "no notification of a collection");
            var info = GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData());
            Asserts.assertEQ(info.getGcName(), "Lull Young");
            Asserts.assertEQ(info.getGcAction(), "end of minor GC");
            Map<String, MemoryUsage> before = info.getGcInfo().getMemoryUsageBeforeGc();
            Map<String, MemoryUsage> after = info.getGcInfo().getMemoryUsageAfterGc();
            Asserts.assertGTE(before.get(NEW_POOL).getUsed(), (long) ALIVE + (1 << 20), "allocated since the last one");
            Asserts.assertEQ(after.get(NEW_POOL).getUsed(), 0L);
            Asserts.assertGTE(after.get(OLD_POOL).getUsed(), before.get(OLD_POOL).getUsed() + ALIVE / 2, "is left");
        }
    }

    private static Set<Integer> ids(List<RecordedEvent> events, String name) {
        return events.stream().filter(event -> event.getEventType().getName().equals("jdk." + name))
                     .map(event -> event.getInt("gcId")).collect(Collectors.toCollection(HashSet::new));
    }

    private static void checkRecording(Path file) throws Exception {
        List<RecordedEvent> events = RecordingFile.readAllEvents(file);
        Set<Integer> young = new HashSet<>();
        for (RecordedEvent event : events) {
            String type = event.getEventType().getName();
            if (type.equals("jdk.GarbageCollection") && event.getString("name").equals("LullYoung")) {
                young.add(event.getInt("gcId"));
            } else if (type.equals("jdk.YoungGarbageCollection")) {
                Asserts.assertLTE(event.getInt("tenuringThreshold"), 1, "what has survived once more is old");
            }
        }
        Asserts.assertGTE(young.size(), COLLECTIONS);
        Asserts.assertEQ(ids(events, "YoungGarbageCollection"), young);
        Set<Integer> all = ids(events, "GarbageCollection");
        all.removeAll(young);
        Asserts.assertEQ(ids(events, "OldGarbageCollection"), all);

        String jfr = JDKToolFinder.getTestJDKTool("jfr");
        OutputAnalyzer view = ProcessTools.executeProcess(jfr, "view", "gc", file.toString());
        view.shouldHaveExitValue(0);
        view.shouldContain("Young Garbage Collection").shouldContain("Old Garbage Collection");
        view.shouldNotContain("Unknown");
    }

    public static void main(String[] args) throws Exception {
        GarbageCollectorMXBean bean = ManagementFactory.getGarbageCollectorMXBeans().stream()
            .filter(b -> b.getName().equals("Lull Young")).findFirst().orElseThrow();
        LinkedBlockingQueue<Notification> queue = new LinkedBlockingQueue<>();
        ((NotificationEmitter) bean).addNotificationListener((notification, hint) -> queue.add(notification),
            notification -> GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData())
                                                             .getGcCause().startsWith("WhiteBox"), null);
        Path file = Path.of("young.jfr");
        try (Recording recording = new Recording()) {
            for (String name : List.of("GarbageCollection", "YoungGarbageCollection", "OldGarbageCollection",
                                       "GCHeapSummary")) {
                recording.enable("jdk." + name).withoutThreshold();
            }
            recording.start();
            System.gc();
            collect();
            recording.stop();
            recording.dump(file);
        }
        checkNotifications(queue);
        checkRecording(file);
    }
}
