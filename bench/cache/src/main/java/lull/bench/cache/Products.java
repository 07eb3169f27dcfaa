// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** The cache and, for what it has not, the database: the version of each batch. Safe for use by many threads. */
final class Products {
    private final Entries entries;
    private final AtomicIntegerArray versions;
    private final Cache<Integer, Product> cache;

    Products(Entries entries) {
        this.entries = entries;
        versions = new AtomicIntegerArray(entries.batches());
        // Room for all: what is dropped is dropped by the load, so that every collector has the same alive.
        cache = Caffeine.newBuilder().maximumSize(entries.count()).build();
    }

    Entries entries() {
        return entries;
    }

    /** Returns the product, from the cache or else made anew and kept. */
    Product get(int key) {
        return cache.get(key, missing -> Product.of(missing, versions.get(missing / Entries.BATCH)));
    }

    /** Puts all of a batch into the cache, of the version that the database has. */
    void fill(int batch) {
        put(batch, versions.get(batch));
    }

    /** Gives all of a batch its next version, in the database and in the cache. Returns that. Replacing one batch twice at once is not allowed. */
    int replace(int batch) {
        int version = versions.incrementAndGet(batch);
        put(batch, version);
        return version;
    }

    private void put(int batch, int version) {
        for (int i = 0; i < Entries.BATCH; i++) {
            int key = batch * Entries.BATCH + i;
            cache.put(key, Product.of(key, version));
        }
    }

    /** Drops each second entry. */
    void dropHalf() {
        for (int key = 0; key < entries.count(); key += 2) {
            cache.invalidate(key);
        }
    }

    /** Returns how many entries are there, when pending maintenance is done. */
    long size() {
        cache.cleanUp();
        return cache.estimatedSize();
    }
}
