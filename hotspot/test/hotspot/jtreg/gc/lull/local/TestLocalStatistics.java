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


package gc.lull.local;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import gc.lull.StayingThread;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import jdk.test.lib.Asserts;
import jdk.test.lib.dcmd.PidJcmdExecutor;

/*
 * @test id=park
 * @requires vm.gc.Lull & vm.hasJFR
 * @summary What the bean, the performance counters and the flight recorder say of a known number of local collections.
 * @library / /test/lib
 * @modules java.base/jdk.internal.misc java.management jdk.jfr
 * @run main/othervm -Xmx128m -XX:+UsePerfData -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullLocalBudget=1g
 *      gc.lull.local.TestLocalStatistics park
 */

/*
 * @test id=monitor
 * @requires vm.gc.Lull & vm.hasJFR
 * @summary The same where the thread waits for a notification.
 * @library / /test/lib
 * @modules java.base/jdk.internal.misc java.management jdk.jfr
 * @run main/othervm -Xmx128m -XX:+UsePerfData -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullLocalBudget=1g
 *      gc.lull.local.TestLocalStatistics monitor
 */

/*
 * @test id=tenured
 * @requires vm.gc.Lull & vm.hasJFR & vm.debug
 * @summary What survives a collection is tenured where nothing is to be copied twice.
 * @library / /test/lib
 * @modules java.base/jdk.internal.misc java.management jdk.jfr
 * @run main/othervm -Xmx128m -XX:+UsePerfData -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullLocalBudget=1g -XX:LullTenureSize=0
 *      gc.lull.local.TestLocalStatistics tenured
 */

public class TestLocalStatistics {
    static final int WAITS = 200;
    static final int GARBAGE = 1 << 20;    // bytes before each wait
    static final int HELD = 10_000;
    static final int PUBLISHED = 12_000;

    static final Object monitor = new Object();

    static volatile byte[] shared;

    static void await() {
        synchronized (monitor) {
            try {
                monitor.wait(1);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** The budget is so large that only waits lead to a collection. */
    static void work(boolean parks) {
        byte[] held = new byte[HELD];
        for (int i = 0; i < WAITS; i++) {
            byte[][] latest = new byte[8][];    // or a compiler leaves the garbage out
            // One more than that: the last line of it may have something public in it.
            for (int j = 0; j <= GARBAGE / 1024; j++) {
                latest[j & 7] = new byte[1024 - 16];
            }
            shared = new byte[PUBLISHED];
            Asserts.assertNotNull(latest[i & 7]);
            if (parks) {
                LockSupport.parkNanos(1);
            } else {
                await();
            }
        }
        Asserts.assertEQ(held.length, HELD);
    }

    private static GarbageCollectorMXBean bean() {
        List<GarbageCollectorMXBean> beans = ManagementFactory.getGarbageCollectorMXBeans();
        Asserts.assertEQ(beans.stream().map(bean -> bean.getName()).toList(), List.of("Lull Global", "Lull Young", "Lull Local"));
        return beans.get(2);
    }

    private static long counter(String name) {
        String all = new PidJcmdExecutor().execute("PerfCounter.print", true).getOutput();
        Matcher matcher = Pattern.compile("^sun\\.gc\\.lull\\.local\\." + name + "=(\\d+)$", Pattern.MULTILINE).matcher(all);
        Asserts.assertTrue(matcher.find(), "no counter " + name + ": " + all);
        return Long.parseLong(matcher.group(1));
    }

    private static void checkEnabledByDefault() throws Exception {
        for (String settings : List.of("default", "profile")) {
            for (String event : List.of("LullLocalCollection", "LullLocalCollectionStatistics", "LullThreadLocalCollectionStatistics")) {
                Asserts.assertEQ(Configuration.getConfiguration(settings).getSettings().get("jdk." + event + "#enabled"), "true", event);
            }
        }
    }

    private static List<RecordedEvent> of(List<RecordedEvent> events, String name, String thread) {
        List<RecordedEvent> result = new ArrayList<>();
        for (RecordedEvent event : events) {
            if (event.getEventType().getName().equals("jdk." + name) &&
                (thread == null || event.hasField("thread") && event.getThread("thread").getJavaName().equals(thread) ||
                 event.getThread() != null && thread.equals(event.getThread().getJavaName()))) {
                result.add(event);
            }
        }
        return result;
    }

    public static void main(String[] args) throws Exception {
        checkEnabledByDefault();
        long count = bean().getCollectionCount();
        long freed = counter("freed");
        Path file = Path.of("local.jfr");
        long tenured = counter("tenured");
        StayingThread worker = new StayingThread("worker", () -> work(!args[0].equals("monitor")));
        try (Recording recording = new Recording()) {
            recording.enable("jdk.LullLocalCollection").withThreshold(Duration.ZERO);
            recording.enable("jdk.LullLocalCollectionStatistics");
            recording.enable("jdk.LullThreadLocalCollectionStatistics");
            recording.start();
            worker.work();
            recording.stop();   // sends the periodic events
            recording.dump(file);
        }

        long counted = bean().getCollectionCount() - count;
        Asserts.assertGTE(counted, (long) WAITS, "collections by the bean");
        Asserts.assertGTE(counter("collections"), count + WAITS, "collections by the counter");
        Asserts.assertGTE(counter("freed") - freed, (long) WAITS * GARBAGE, "freed by the counter");
        // What must be smaller is read first: there are collections meanwhile.
        long longest = counter("longest");
        Asserts.assertGTE(counter("time"), longest, "time by the counters");
        Asserts.assertGT(counter("processorTime"), 0L, "processor time by the counter");
        long copied = counter("copied");
        Asserts.assertGTE(counter("survived"), copied, "survivors by the counters");

        List<RecordedEvent> events = RecordingFile.readAllEvents(file);
        List<RecordedEvent> collections = of(events, "LullLocalCollection", "worker");
        Asserts.assertGTE(collections.size(), WAITS, "events");
        if (args[0].equals("tenured")) {
            Asserts.assertGTE(counter("tenured") - tenured, (long) HELD, "tenured by the counter");
            Asserts.assertTrue(collections.stream().anyMatch(event -> event.getLong("tenured") >= HELD), "no event of what was tenured");
            worker.close();
            return;     // what is tenured does not survive the next ones
        }
        int large = 0;
        int published = 0;
        for (RecordedEvent event : collections) {
            Asserts.assertEQ(event.getString("trigger"), "before a wait");
            large += event.getLong("freed") >= GARBAGE && event.getLong("allocated") >= GARBAGE ? 1 : 0;
            Asserts.assertGTE(event.getLong("survived"), event.getLong("copied"), "survivors of a collection");
            Asserts.assertLT(event.getLong("survived"), (long) GARBAGE / 4, "survivors of a collection");
            Asserts.assertLT(event.getLong("published"), (long) GARBAGE / 4, "published before a collection");
            published += event.getLong("published") >= PUBLISHED ? 1 : 0;
        }
        Asserts.assertGTE(published, WAITS * 9 / 10, "events of what was published before a wait");
        Asserts.assertGTE(large, WAITS * 9 / 10, "events of a whole wait's garbage");
        // The array that is held survives each time.
        Asserts.assertGTE(collections.stream().filter(event -> event.getLong("survived") >= HELD).count(), (long) WAITS * 9 / 10, "events of survivors");

        List<RecordedEvent> threads = of(events, "LullThreadLocalCollectionStatistics", "worker");
        Asserts.assertFalse(threads.isEmpty(), "statistics of the thread");
        RecordedEvent last = threads.get(threads.size() - 1);
        Asserts.assertGTE(last.getLong("collections"), (long) WAITS);
        Asserts.assertGTE(last.getLong("beforeWait"), (long) WAITS);
        Asserts.assertGTE(last.getLong("freed"), (long) WAITS * GARBAGE);
        // Not what was published; and what was copied is freed once, when it dies.
        Asserts.assertLTE(last.getLong("freed"), last.getLong("allocated") - (long) WAITS * PUBLISHED * 9 / 10);
        Asserts.assertGTE(last.getLong("time"), last.getLong("longest"));
        List<RecordedEvent> totals = of(events, "LullLocalCollectionStatistics", null);
        Asserts.assertFalse(totals.isEmpty(), "statistics");
        Asserts.assertGTE(totals.get(totals.size() - 1).getLong("collections"), last.getLong("collections"));
        worker.close();
    }
}
