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

import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;
import com.sun.management.ThreadMXBean;
import gc.lull.GCBean;
import jdk.test.lib.Asserts;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary What a thread has allocated never becomes less, and nothing of it is lost, when it collects while its allocation buffer is in use.
 * @library / /test/lib
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate gc.lull.local.TestAllocatedBytes
 */

public class TestAllocatedBytes {
    private static final int WAITS = 2000;
    private static final int ARRAY = 1000;
    private static final int ARRAYS = 100;      // 100 KB: more than a wait is worth a collection for

    static int sum;

    public static void main(String[] args) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long collections = GCBean.localCollections();
        long begin = threads.getCurrentThreadAllocatedBytes();
        long last = begin;
        for (int i = 0; i < WAITS; i++) {
            for (int j = 0; j < ARRAYS; j++) {
                byte[] array = new byte[ARRAY];
                array[j] = 1;
                sum += array[i % ARRAY];
            }
            LockSupport.parkNanos(1);
            long now = threads.getCurrentThreadAllocatedBytes();
            Asserts.assertGTE(now, last, "allocated, after " + i + " waits");
            last = now;
        }
        collections = GCBean.localCollections() - collections;
        System.out.println(collections + " local collections; " + (last - begin) + " bytes, " + sum);
        Asserts.assertGTE(collections, WAITS / 2L, "local collections");
        long least = (long) WAITS * ARRAYS * ARRAY;
        Asserts.assertGTE(last - begin, least, "allocated in all");
        Asserts.assertLTE(last - begin, least / 10 * 13, "allocated in all");
    }
}
