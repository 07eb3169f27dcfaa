// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cassandra;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import lull.bench.service.Service;

/**
 * A Cassandra node used over its native protocol: rows that are read and updated by their keys, and events that are appended, read from the
 * newest on, and deleted by range. Every connection has an owner's rows and events to itself, so that it knows what each answer must be
 * although others work at the same time. Options of {@link #prepare}: {@code rows} of each of 64 owners, {@code field}, the bytes of each
 * of a row's five fields.
 */
public final class CassandraService implements Service {
    @Override
    public String name() {
        return "cassandra";
    }

    @Override
    public String describe() {
        return "Cassandra node; a request reads or updates rows by key, or appends, reads or deletes events of an owner";
    }

    @Override
    public void prepare(Path data, Map<String, String> options) throws IOException {
        Size size = Size.of(options);
        if (size.write(data)) {
            System.out.println("prepared " + Size.OWNERS + " owners of " + size.rows() + " rows in " + data);
        }
    }

    @Override
    public Running start(Path data, int port, int threads) throws IOException {
        return new CassandraServer(Size.read(data), port, threads);
    }

    @Override
    public Caller caller(Path data, long seed) throws IOException {
        return new CassandraCaller(Size.read(data), seed);
    }
}
