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

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import jdk.test.lib.Utils;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary A cache whose entries are replaced for long has old garbage only, which cycles of concurrent marking find: no
 *          collections stop the program for all of the heap.
 * @library / /test/lib
 * @run main/othervm -Xms140m -Xmx140m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking
 *                   -Xlog:gc*,gc+marking=debug:file=cycles.log gc.lull.concurrent.TestCache
 */
public class TestCache {
    static final int ENTRIES = 80_000;
    static final int REPLACED = 25 * ENTRIES;

    record Entry(long key, String name, byte[] body) {
        Entry(long key) {
            this(key, "entry " + key, new byte[40]);
        }
    }

    static final ConcurrentHashMap<Long, Entry> CACHE = new ConcurrentHashMap<>();

    static long globalCollections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
            .filter(bean -> bean.getName().equals("Lull Global")).mapToLong(bean -> bean.getCollectionCount()).sum();
    }

    static long ended() throws Exception {
        try (var lines = Files.lines(Path.of("cycles.log"))) {
            return lines.filter(line -> line.contains(" has ended after ")).count();
        }
    }

    public static void main(String[] args) throws Exception {
        Random random = Utils.getRandomInstance();
        for (long key = 0; key < ENTRIES; key++) {
            CACHE.put(key, new Entry(key));
        }
        long globalBefore = globalCollections();
        long endedBefore = ended();
        for (int i = 0; i < REPLACED; i++) {
            long key = random.nextInt(ENTRIES);
            Entry before = CACHE.put(key, new Entry(key));
            if (before.key != key || !before.name.equals("entry " + key)) {
                throw new AssertionError(before);
            }
            if (i % 1000 == 0) {
                Thread.sleep(1);    // a service that waits now and then: markers are not to run out of processor
            }
        }
        long cycles = ended() - endedBefore;
        long global = globalCollections() - globalBefore;
        System.out.println(cycles + " cycles, " + global + " global collections");
        if (cycles < 3 || 2 * global > cycles) {
            throw new AssertionError(cycles + " cycles have ended, of 3 at least; there were " + global +
                                     " global collections, of half as many at most");
        }
    }
}
