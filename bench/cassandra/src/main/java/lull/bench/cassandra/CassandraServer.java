// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cassandra;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import lull.bench.load.FixedCaller;
import lull.bench.service.Ports;
import lull.bench.service.Service;
import lull.bench.util.Directories;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.service.CassandraDaemon;
import org.apache.cassandra.service.StorageService;

/** A Cassandra node in this process, bound to 127.0.0.1, filled. Its files are in a temporary directory. */
final class CassandraServer implements Service.Running {
    /** Cassandra keeps its state in static fields. */
    private static final AtomicBoolean STARTED = new AtomicBoolean();

    private final int port;
    private final Path directory;
    private final CassandraDaemon daemon;

    CassandraServer(Size size, int port, int threads) throws IOException {
        this.port = Ports.free("Cassandra", port);
        if (STARTED.getAndSet(true)) {
            throw new IOException("Cassandra has been started in this process: it starts once only, so use another process");
        }
        directory = Files.createTempDirectory("lull-cassandra");
        try {
            new CassandraSettings(this.port, Ports.free("Cassandra", 0), threads, directory).apply();
            daemon = new CassandraDaemon(true);
            daemon.activate();
            // It would save what nobody will read, while the directory is being deleted.
            StorageService.instance.removeShutdownHook();
            try (CqlSocket socket = new CqlSocket(this.port, FixedCaller.TIMEOUT_MILLIS)) {
                create(socket);
            }
            fill(size);
        } catch (Exception e) {
            Directories.delete(directory);
            throw new IOException("Cassandra did not start on port " + this.port + ": " + e.getMessage(), e);
        }
    }

    private static void create(CqlSocket socket) throws IOException {
        socket.query("create keyspace bench with replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        socket.query("create table bench.record (id bigint primary key, version int, f0 text, f1 text, f2 text, f3 text, f4 text)");
        // There is one node: what is deleted need not be remembered.
        socket.query("create table bench.event (owner bigint, seq bigint, body text, primary key (owner, seq))"
                + " with clustering order by (seq desc) and gc_grace_seconds = 0");
    }

    /** Writes version 0 of every row, and moves the rows to the disk, as those of a node that has run for long are. */
    private static void fill(Size size) {
        for (long id = 0; id < (long) Size.OWNERS * size.rows(); id++) {
            Object[] values = new Object[2 + Size.FIELDS];
            values[0] = id;
            values[1] = 0;
            for (int i = 0; i < Size.FIELDS; i++) {
                values[2 + i] = ByteBuffer.wrap(size.field(id, 0, i));
            }
            QueryProcessor.executeInternal("insert into bench.record (id, version, f0, f1, f2, f3, f4) values (?, ?, ?, ?, ?, ?, ?)", values);
        }
        ColumnFamilyStore.getIfExists("bench", "record").forceBlockingFlush(ColumnFamilyStore.FlushReason.USER_FORCED);
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public void close() throws IOException {
        try {
            daemon.stop();
            StorageService.instance.drain();
        } catch (Exception e) {
            throw new IOException("Cassandra did not stop: " + e.getMessage(), e);
        } finally {
            Directories.delete(directory);
        }
    }
}
