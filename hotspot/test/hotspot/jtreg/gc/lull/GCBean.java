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

/** The beans of collections, for tests that need them to happen, or not to. */
public final class GCBean {
    private static final GarbageCollectorMXBean BEAN = find("Lull Global");
    private static final GarbageCollectorMXBean YOUNG = findOrNull("Lull Young");

    private GCBean() {}

    private static GarbageCollectorMXBean findOrNull(String name) {
        return ManagementFactory.getGarbageCollectorMXBeans().stream().filter(bean -> bean.getName().equals(name)).findFirst().orElse(null);
    }

    private static GarbageCollectorMXBean find(String name) {
        GarbageCollectorMXBean bean = findOrNull(name);
        if (bean == null) {
            throw new AssertionError("no bean '" + name + "'");
        }
        return bean;
    }

    /** Of global collections. */
    public static GarbageCollectorMXBean get() {
        return BEAN;
    }

    public static long globalCollections() {
        return BEAN.getCollectionCount();
    }

    /** Those that stop all threads: global and young ones. */
    public static long collections() {
        return globalCollections() + (YOUNG == null ? 0 : YOUNG.getCollectionCount());
    }

    /** Of all threads. Only with -XX:+LullLocalCollections. */
    public static long localCollections() {
        return find("Lull Local").getCollectionCount();
    }

    /** Bytes in use when the last collection had ended. */
    public static long usedAfterCollection() {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getCollectionUsage() != null)
                .mapToLong(pool -> pool.getCollectionUsage().getUsed())
                .sum();
    }
}
