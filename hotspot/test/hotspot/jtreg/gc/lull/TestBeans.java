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
 * @summary The beans of the collector and of its memory pool tell the names, counts, sizes and events of the heap.
 * @library /test/lib /
 * @modules java.management jdk.management
 * @run main/othervm -Xms64m -Xmx256m -XX:+UseLullGC gc.lull.TestBeans
 */

public class TestBeans {
    private static final String COLLECTOR = "Lull Global";
    private static final String YOUNG_COLLECTOR = "Lull Young";
    private static final String LOCAL_COLLECTOR = "Lull Local";
    private static final String POOL = "Lull Old Gen";
    private static final int M = 1 << 20;

    private static byte[] large;

    private static MemoryPoolMXBean pool() {
        List<MemoryPoolMXBean> pools = ManagementFactory.getMemoryPoolMXBeans().stream()
                                                        .filter(p -> p.getType() == MemoryType.HEAP).toList();
        assertEQ(pools.size(), 1, "there is one heap pool");
        return pools.get(0);
    }

    private static void names(GarbageCollectorMXBean collector, MemoryPoolMXBean pool) {
        assertEQ(collector.getName(), COLLECTOR);
        assertTrue(collector.isValid());
        assertEQ(List.of(collector.getMemoryPoolNames()), List.of(POOL));
        assertEQ(pool.getName(), POOL);
        assertTrue(pool.isValid());
        assertEQ(List.of(pool.getMemoryManagerNames()), List.of(COLLECTOR, YOUNG_COLLECTOR, LOCAL_COLLECTOR));
    }

    private static void sizes(MemoryPoolMXBean pool) {
        MemoryUsage before = pool.getUsage();
        assertEQ(before.getInit(), 64L * M);
        assertEQ(before.getMax(), 256L * M);
        assertGT(before.getUsed(), 0L);
        assertLTE(before.getUsed(), before.getCommitted());
        assertEQ(before.getCommitted(), Runtime.getRuntime().totalMemory());
        large = new byte[20 * M];
        long more = pool.getUsage().getUsed() - before.getUsed();
        assertTrue(more >= 20 * M && more < 22 * M, "20M were allocated, " + more + " more bytes are in use");
        assertGTE(pool.getPeakUsage().getUsed(), before.getUsed());
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        assertEQ(heap.getMax(), 256L * M);
        assertGTE(heap.getUsed(), 20L * M);
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
            assertEQ(info.getGcAction(), "end of global collection");
            GcInfo gc = info.getGcInfo();
            assertTrue(i == 0 || gc.getId() == id + 1, "collection " + gc.getId() + " comes after " + id);
            id = gc.getId();
            assertLTE(gc.getStartTime(), gc.getEndTime());
            assertEQ(gc.getId(), collector.getCollectionCount());
            long before = gc.getMemoryUsageBeforeGc().get(POOL).getUsed();
            long after = gc.getMemoryUsageAfterGc().get(POOL).getUsed();
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
        large = new byte[50 * M];
        assertTrue(pool.isUsageThresholdExceeded(), "more than 40M are in use");
        System.gc();
        assertGTE(pool.getCollectionUsage().getUsed(), 50L * M);
        assertTrue(pool.isCollectionUsageThresholdExceeded(), "more than 40M were in use at the last collection");
        large = null;
        System.gc();
        // The service thread notes that a threshold is no longer exceeded.
        for (int i = 0; i < 2000 && (pool.isUsageThresholdExceeded() || pool.isCollectionUsageThresholdExceeded()); i++) {
            Thread.sleep(10);
        }
        assertFalse(pool.isUsageThresholdExceeded(), "less than 40M are in use");
        assertFalse(pool.isCollectionUsageThresholdExceeded(), "less than 40M were in use at the last collection");
    }

    public static void main(String[] args) throws Exception {
        GarbageCollectorMXBean collector = GCBean.get();
        MemoryPoolMXBean pool = pool();
        names(collector, pool);
        sizes(pool);
        counts(collector);
        notifications(collector);
        thresholds(pool);
    }
}
