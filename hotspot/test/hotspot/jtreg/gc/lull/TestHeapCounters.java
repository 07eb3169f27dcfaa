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

import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

import jdk.test.lib.Asserts;
import jdk.test.lib.dcmd.PidJcmdExecutor;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary The counters that jstat and VisualVM read tell what is new while no collection comes, what the last one has
 *          left, how many there were, and how large the heap is and may be.
 * @library /test/lib /
 * @modules java.management
 * @run main/othervm -Xms128m -Xmx128m -XX:+UsePerfData -XX:+UseLullGC gc.lull.TestHeapCounters
 */

public class TestHeapCounters {
    private static final long LARGE = 24L << 20;
    private static final long LITTLE = 4L << 20;      // more than all threads allocate meanwhile, and in holes
    private static final int LOOKS = 100;

    private static byte[] large;

    private static Map<String, Long> counters() {
        Map<String, Long> counters = new HashMap<>();
        String all = new PidJcmdExecutor().execute("PerfCounter.print", true /* silent */).getStdout();
        for (String line : all.lines().toList()) {
            if (line.matches("sun\\.gc\\.(generation|collector)\\..*=\\d+")) {
                counters.put(line.replaceFirst("sun\\.gc\\.", "").replaceFirst("=.*", ""),
                             Long.parseLong(line.replaceFirst(".*=", "")));
            }
        }
        long committed = Runtime.getRuntime().totalMemory();
        Asserts.assertEQ(of(counters, "generation.0.capacity") + of(counters, "generation.1.capacity"), committed,
                         "" + counters);
        Asserts.assertEQ(of(counters, "generation.0.maxCapacity") + of(counters, "generation.1.maxCapacity"),
                         Runtime.getRuntime().maxMemory(), "" + counters);
        Asserts.assertEQ(of(counters, "generation.0.minCapacity") + of(counters, "generation.1.minCapacity"), 128L << 20,
                         "" + counters);
        Asserts.assertEQ(of(counters, "generation.1.space.0.capacity"), committed, "" + counters);
        Asserts.assertLTE(newUsed(counters), of(counters, "generation.0.space.0.capacity"), "" + counters);
        return counters;
    }

    private static long of(Map<String, Long> counters, String name) {
        Asserts.assertTrue(counters.containsKey(name), "there is no counter " + name + " in " + counters);
        return counters.get(name);
    }

    private static long newUsed(Map<String, Long> counters) {
        return of(counters, "generation.0.space.0.used");
    }

    private static long oldUsed(Map<String, Long> counters) {
        return of(counters, "generation.1.space.0.used");
    }

    private static long fullCollections(Map<String, Long> counters) {
        return of(counters, "collector.1.invocations");
    }

    private static long collections(Map<String, Long> counters) {
        return of(counters, "collector.0.invocations") + fullCollections(counters);
    }

    public static void main(String[] args) throws Exception {
        System.gc();
        Map<String, Long> before = counters();
        Asserts.assertEQ(fullCollections(before), GCBean.globalCollections());
        Asserts.assertLT(newUsed(before), LITTLE, "next to nothing was allocated since the collection");
        Asserts.assertGT(oldUsed(before), 0L, "it has left something");
        long left = ManagementFactory.getMemoryPoolMXBeans().stream().filter(pool -> pool.getName().endsWith("Old Gen"))
                                     .findFirst().orElseThrow().getCollectionUsage().getUsed();
        Asserts.assertLTE(oldUsed(before), left, "less if local collections have freed some of it");
        Asserts.assertGT(oldUsed(before), left - LITTLE);

        Map<String, Long> now;
        // Somebody may have asked for a collection meanwhile: then again.
        for (int attempt = 0; ; attempt++) {
            Asserts.assertLT(attempt, 5, "a collection each time");
            large = new byte[(int) LARGE];
            now = counters();
            for (int i = 0; i < LOOKS && newUsed(now) < LARGE && collections(now) == collections(before); i++) {
                Thread.sleep(100);
                now = counters();
            }
            if (collections(now) == collections(before)) {
                break;
            }
            large = null;
            System.gc();
            before = counters();
        }
        Asserts.assertGTE(newUsed(now), LARGE, "what is new is seen without a collection");
        Asserts.assertLTE(oldUsed(now), oldUsed(before), "what the last collection has left has not grown");

        System.gc();
        Map<String, Long> after = counters();
        Asserts.assertEQ(fullCollections(after), fullCollections(now) + 1);
        Asserts.assertLT(newUsed(after), LITTLE, "nothing is new any more");
        Asserts.assertGTE(oldUsed(after), oldUsed(before) + LARGE - LITTLE, "it is left by the collection");
        Asserts.assertEQ((long) large.length, LARGE);
    }
}
