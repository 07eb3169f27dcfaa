// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.h2;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import lull.bench.service.Service;

/**
 * H2 in memory behind its own server, under transactions like those of TPC-C, which the clients perform statement by statement.
 * Not TPC-C: smaller, without its waits, and delivered orders are not kept for ever. Options of {@link #prepare}: {@code warehouses},
 * {@code customers} of each of ten districts of a warehouse, {@code items}.
 */
public final class H2Service implements Service {
    @Override
    public String name() {
        return "h2";
    }

    @Override
    public String describe() {
        return "H2 database in memory behind its own server; a request is one transaction of a mix like TPC-C's";
    }

    @Override
    public void prepare(Path data, Map<String, String> options) throws IOException {
        Scale scale = Scale.of(options);
        if (scale.write(data)) {
            System.out.println("prepared a database of " + scale.warehouses() + " warehouses in " + data);
        }
    }

    @Override
    public Running start(Path data, int port, int threads) throws IOException {
        return new H2Server(Scale.read(data), port, threads);
    }

    @Override
    public Caller caller(Path data, long seed) throws IOException {
        return new H2Caller(Scale.read(data), seed);
    }
}
