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


import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import gc.lull.StayingThread;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedObject;
import jdk.jfr.consumer.RecordingFile;
import jdk.test.lib.Asserts;

/*
 * @test id=private
 * @requires vm.gc.Lull & vm.hasJFR
 * @summary The flight recorder's leak profiler, which is on by default, leaves private objects private.
 * @library / /test/lib
 * @modules jdk.jfr
 * @run main/othervm -Xmx256m -XX:+UseLullGC gc.lull.publication.TestLeakProfiler private
 */

/*
 * @test id=public
 * @requires vm.gc.Lull & vm.hasJFR
 * @summary It finds a leak of public objects, and the way from a root to it.
 * @library / /test/lib
 * @modules jdk.jfr
 * @run main/othervm -Xmx256m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPublic gc.lull.publication.TestLeakProfiler public
 */

public class TestLeakProfiler {
    static final int REQUESTS = 400;
    static final int NODES = 2000;

    static class Node {
        Node next;
        final long[] payload = new long[12];
    }

    static final List<Leak> leaks = new ArrayList<>();
    static volatile Leak latest;

    static class Leak {
        final byte[] payload = new byte[1000];
    }

    /** 100 MB of lists that leave no request; what the profiler takes of a list would publish the rest of it. */
    static void requests() {
        long sum = 0;
        for (int i = 0; i < REQUESTS; i++) {
            Node[] lists = new Node[16];
            for (int j = 0; j < NODES; j++) {
                Node node = new Node();
                // The new one at the end: it is stored into what was there before.
                Node last = lists[j & 15];
                node.payload[0] = j;
                if (last == null) {
                    lists[j & 15] = node;
                } else {
                    node.next = last.next;
                    last.next = node;
                }
            }
            sum += lists[3].next.payload[0];
        }
        Asserts.assertGT(sum, 0L);
    }

    /** Half of it leaks. The profiler reports what is older than the last collection that has found a sample dead. */
    static void leak() {
        for (int i = 0; i < 40_000; i++) {
            leaks.add(new Leak());
            latest = new Leak();
        }
        latest = null;
        System.gc();
    }

    static List<RecordedEvent> record(Runnable work) throws Exception {
        Path file = Path.of("leaks.jfr");
        try (StayingThread worker = new StayingThread("worker", work);
                Recording recording = new Recording(Configuration.getConfiguration("default"))) {
            recording.enable("jdk.OldObjectSample").withStackTrace().with("cutoff", "infinity");
            recording.start();
            worker.work();
            recording.stop();   // sends the periodic events, and looks for ways from roots to the samples
            recording.dump(file);
        }
        return RecordingFile.readAllEvents(file);
    }

    private static List<RecordedEvent> of(List<RecordedEvent> events, String name) {
        return events.stream().filter(event -> event.getEventType().getName().equals("jdk." + name)).toList();
    }

    static void checkPrivate() throws Exception {
        List<RecordedEvent> statistics = of(record(TestLeakProfiler::requests), "LullThreadPublicationStatistics").stream()
                .filter(event -> event.getThread("thread") != null && "worker".equals(event.getThread("thread").getJavaName())).toList();
        Asserts.assertFalse(statistics.isEmpty(), "statistics of the thread");
        RecordedEvent last = statistics.get(statistics.size() - 1);
        Asserts.assertGTE(last.getLong("allocated"), (long) REQUESTS * NODES * 128, "bytes allocated");
        Asserts.assertLT(last.getLong("published"), last.getLong("allocated") / 100, "bytes published");
        Asserts.assertFalse(last.getBoolean("publicMode"), "the thread has come to public mode");
    }

    static void checkPublic() throws Exception {
        List<RecordedEvent> samples = of(record(TestLeakProfiler::leak), "OldObjectSample");
        int found = 0;
        for (RecordedEvent sample : samples) {
            for (RecordedObject object = sample.getValue("object"); object != null; ) {
                RecordedClass type = object.getValue("type");
                if (type != null && type.getName().equals(Leak.class.getName())) {
                    found++;
                    break;
                }
                RecordedObject referrer = object.getValue("referrer");
                object = referrer == null ? null : referrer.getValue("object");
            }
        }
        System.out.println(samples.size() + " samples, " + found + " of the leak");
        Asserts.assertGT(found, 0, "samples of the leak, or of what it holds");
        // 80 MB, one in each 512 KB, at the most; and those of the recorder's own work.
        Asserts.assertLT(samples.size(), 256, "samples");
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "private" -> checkPrivate();
            case "public" -> checkPublic();
            default -> throw new IllegalArgumentException(args[0]);
        }
    }
}
