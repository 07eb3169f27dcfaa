// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cache;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import lull.bench.service.Service;

/** A cache in the heap. Option: {@code entries}, some 400 bytes each. What it lacks it makes when it is asked for. */
public final class CacheService implements Service {
    @Override
    public String name() {
        return "cache";
    }

    @Override
    public String describe() {
        return "Caffeine behind the JDK's HTTP server; a request gets a product from the heap, and one of 500 replaces a hundred products";
    }

    @Override
    public void prepare(Path data, Map<String, String> values) throws IOException {
        Entries.of(values).write(data);
    }

    @Override
    public Running start(Path data, int port, int threads) throws IOException {
        return new CacheServer(new Products(Entries.read(data)), port, threads);
    }

    @Override
    public Caller caller(Path data, long seed) throws IOException {
        return new CacheCaller(Entries.read(data), seed);
    }
}
