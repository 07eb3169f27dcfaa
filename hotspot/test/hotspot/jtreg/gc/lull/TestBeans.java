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

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;

import static jdk.test.lib.Asserts.assertEQ;
import static jdk.test.lib.Asserts.assertFalse;
import static jdk.test.lib.Asserts.assertGT;
import static jdk.test.lib.Asserts.assertGTE;
import static jdk.test.lib.Asserts.assertLT;
import static jdk.test.lib.Asserts.assertLTE;
import static jdk.test.lib.Asserts.assertNotNull;
import static jdk.test.lib.Asserts.assertTrue;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary The beans of the collector and of its memory pools tell the names, counts, sizes and events of the heap:
 *          what is new, and what the last collection has left.
 * @library /test/lib /
 * @modules java.management jdk.management
 * @run main/othervm -Xms64m -Xmx256m -XX:+UseLullGC -XX:MaxGCPauseMillis=60000 gc.lull.TestBeans
 */

public class TestBeans {
    private static final String COLLECTOR = "Lull Global";
    private static final String YOUNG_COLLECTOR = "Lull Young";
    private static final String LOCAL_COLLECTOR = "Lull Local";
    private static final String NEW_POOL = "Lull Eden Space";
    private static final String OLD_POOL = "Lull tenured Old Gen";
    private static final int M = 1 << 20;

    private static byte[] large;

    private static MemoryPoolMXBean pool(String name) {
        return ManagementFactory.getMemoryPoolMXBeans().stream().filter(p -> p.getName().equals(name)).findFirst()
                                .orElseThrow();
    }

    private static GarbageCollectorMXBean collector(String name) {
        return ManagementFactory.getGarbageCollectorMXBeans().stream().filter(c -> c.getName().equals(name)).findFirst()
                                .orElseThrow();
    }

    private static MemoryUsage heapUsage() {
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
    }

    private static void names(MemoryPoolMXBean newPool, MemoryPoolMXBean oldPool) {
        assertEQ(ManagementFactory.getMemoryPoolMXBeans().stream().filter(p -> p.getType() == MemoryType.HEAP)
                                  .map(p -> p.getName()).toList(),
                 List.of(NEW_POOL, OLD_POOL));
        for (String name : List.of(COLLECTOR, YOUNG_COLLECTOR, LOCAL_COLLECTOR)) {
            assertTrue(collector(name).isValid());
            // What a thread collects by itself it has allocated since, as a rule.
            assertEQ(List.of(collector(name).getMemoryPoolNames()),
                     name.equals(LOCAL_COLLECTOR) ? List.of(NEW_POOL) : List.of(NEW_POOL, OLD_POOL));
        }
        assertTrue(newPool.isValid() && oldPool.isValid());
        assertEQ(List.of(newPool.getMemoryManagerNames()), List.of(COLLECTOR, YOUNG_COLLECTOR, LOCAL_COLLECTOR));
        assertEQ(List.of(oldPool.getMemoryManagerNames()), List.of(COLLECTOR, YOUNG_COLLECTOR));
    }

    private static void sizes(MemoryPoolMXBean newPool, MemoryPoolMXBean oldPool) {
        MemoryUsage fresh;
        MemoryUsage left;
        MemoryUsage grown;
        long collections;
        do {    // again if somebody else has asked for a collection meanwhile
            large = null;
            System.gc();
            collections = GCBean.collections();
            fresh = newPool.getUsage();
            left = oldPool.getUsage();
            large = new byte[20 * M];
            grown = newPool.getUsage();
        } while (GCBean.collections() != collections);
        assertEQ(fresh.getInit() + left.getInit(), 64L * M);
        assertEQ(fresh.getMax(), -1L, "it may grow until the heap is full");
        assertEQ(left.getMax(), 256L * M);
        assertEQ(fresh.getCommitted() + left.getCommitted(), Runtime.getRuntime().totalMemory());
        assertGT(left.getUsed(), 0L, "something is left by a collection");
        assertLT(fresh.getUsed(), 4L * M, "next to nothing was allocated since");
        long more = grown.getUsed() - fresh.getUsed();
        assertTrue(more >= 20 * M && more < 22 * M, "20M were allocated, " + more + " more bytes are new");
        assertLTE(oldPool.getUsage().getUsed(), left.getUsed(), "what is left grows only by the next collection");
        assertGTE(newPool.getPeakUsage().getUsed(), 20L * M);
        assertEQ(heapUsage().getMax(), 256L * M);
        assertEQ(heapUsage().getInit(), 64L * M);
        System.gc();
        assertLT(newPool.getUsage().getUsed(), 4L * M, "next to nothing was allocated since");
        assertGTE(oldPool.getUsage().getUsed(), left.getUsed() + 19 * M, "20M more are alive");
    }

    // Of what is read while another thread allocates and drops, each usage must be right by itself: MemoryUsage's
    // constructor throws if more is in use than committed, or committed than there may be.
    private static void sizesMeanwhile(MemoryPoolMXBean newPool, MemoryPoolMXBean oldPool) throws InterruptedException {
        large = null;
        AtomicBoolean end = new AtomicBoolean();
        Thread thread = new Thread(() -> {
            while (!end.get()) {
                for (int i = 0; i < 100; i++) {
                    large = new byte[64 << 10];
                }
                System.gc();
            }
        });
        thread.start();
        for (int i = 0; i < 5_000; i++) {
            assertLTE(oldPool.getUsage().getUsed(), 256L * M);
            assertLTE(newPool.getUsage().getUsed(), 256L * M);
            assertLTE(heapUsage().getUsed(), 256L * M);
        }
        end.set(true);
        thread.join();
        // Nobody else allocates much: the sum is the heap's use, before or after.
        long before = heapUsage().getUsed();
        long sum = newPool.getUsage().getUsed() + oldPool.getUsage().getUsed();
        long after = heapUsage().getUsed();
        assertTrue(sum >= Math.min(before, after) - M && sum <= Math.max(before, after) + M,
                   "the pools have " + sum + " bytes in use, the heap " + before + " before and " + after + " after");
    }

    private static void counts(GarbageCollectorMXBean collector) {
        long count = collector.getCollectionCount();
        long time = collector.getCollectionTime();
        for (int i = 1; i <= 10; i++) {
            System.gc();
            assertEQ(collector.getCollectionCount(), count + i, "one collection for each System.gc()");
        }
        ManagementFactory.getMemoryMXBean().gc();
        assertEQ(collector.getCollectionCount(), count + 11, "one collection for each gc() of the memory bean");
        assertGT(collector.getCollectionTime(), time, "collections take time");
    }

    private static void notifications(GarbageCollectorMXBean collector) throws Exception {
        large = new byte[30 * M];
        System.gc();
        LinkedBlockingQueue<Notification> queue = new LinkedBlockingQueue<>();
        ((NotificationEmitter) collector).addNotificationListener((n, h) -> queue.add(n), null, null);
        long id = 0;
        for (int i = 0; i < 3; i++) {
            if (i == 1) {
                large = null;
            }
            System.gc();
            Notification notification = queue.poll(20, TimeUnit.SECONDS);
            assertNotNull(notification, "no notification of a collection");
            assertEQ(notification.getType(), GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION);
            var info = GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData());
            assertEQ(info.getGcName(), COLLECTOR);
            assertEQ(info.getGcCause(), "System.gc()");
            assertEQ(info.getGcAction(), "end of major GC");
            GcInfo gc = info.getGcInfo();
            assertTrue(i == 0 || gc.getId() == id + 1, "collection " + gc.getId() + " comes after " + id);
            id = gc.getId();
            assertLTE(gc.getStartTime(), gc.getEndTime());
            assertEQ(gc.getId(), collector.getCollectionCount());
            assertEQ(gc.getMemoryUsageAfterGc().get(NEW_POOL).getUsed(), 0L, "nothing is new just after a collection");
            long before = gc.getMemoryUsageBeforeGc().get(NEW_POOL).getUsed()
                          + gc.getMemoryUsageBeforeGc().get(OLD_POOL).getUsed();
            long after = gc.getMemoryUsageAfterGc().get(OLD_POOL).getUsed();
            if (i == 0) {
                assertGTE(after, 30L * M, "30M are in use");
            } else if (i == 1) {
                assertGTE(before, 30L * M, "30M were in use");
                assertLTE(after, before - 30 * M, "30M were dropped");
            } else {
                assertLT(before, 30L * M, "nothing was allocated meanwhile");
            }
        }
        GcInfo last = ((com.sun.management.GarbageCollectorMXBean) collector).getLastGcInfo();
        assertEQ(last.getId(), id);
    }

    private static void thresholds(MemoryPoolMXBean pool) throws InterruptedException {
        assertTrue(pool.isUsageThresholdSupported());
        assertTrue(pool.isCollectionUsageThresholdSupported());
        System.gc();
        pool.setUsageThreshold(40 * M);
        pool.setCollectionUsageThreshold(40 * M);
        assertFalse(pool.isUsageThresholdExceeded(), "less than 40M are in use");
        assertFalse(pool.isCollectionUsageThresholdExceeded(), "less than 40M were in use at the last collection");
        for (int i = 0; i < 400; i++) {
            large = new byte[M];
            assertFalse(pool.isUsageThresholdExceeded(), "less than 40M were left, whatever garbage there is");
        }
        assertEQ(pool.getUsageThresholdCount(), 0L, "and no alarm was raised");
        large = new byte[50 * M];
        System.gc();
        assertTrue(pool.isUsageThresholdExceeded(), "it has left more than 40M");
        assertGTE(pool.getCollectionUsage().getUsed(), 50L * M);
        assertTrue(pool.isCollectionUsageThresholdExceeded(), "more than 40M were in use at the last collection");
        large = null;
        System.gc();
        // The service thread notes that a threshold is no longer exceeded.
        for (int i = 0; i < 2000 && (pool.isUsageThresholdExceeded() ||
                                     pool.isCollectionUsageThresholdExceeded()); i++) {
            Thread.sleep(10);
        }
        assertFalse(pool.isUsageThresholdExceeded(), "less than 40M are in use");
        assertFalse(pool.isCollectionUsageThresholdExceeded(), "less than 40M were in use at the last collection");
    }

    public static void main(String[] args) throws Exception {
        GarbageCollectorMXBean collector = GCBean.get();
        MemoryPoolMXBean newPool = pool(NEW_POOL);
        MemoryPoolMXBean oldPool = pool(OLD_POOL);
        names(newPool, oldPool);
        sizes(newPool, oldPool);
        sizesMeanwhile(newPool, oldPool);
        counts(collector);
        notifications(collector);
        assertFalse(newPool.isUsageThresholdSupported(), "an alarm about what is new would mean nothing");
        thresholds(oldPool);
    }
}
