// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lull.bench.load.FixedCaller;
import lull.bench.load.FixedRequest;
import lull.bench.service.Options;
import lull.bench.service.Service;
import lull.bench.util.Cli.UsageException;
import lull.bench.util.Directories;
import org.apache.spark.package$;

/**
 * Spark SQL in local mode behind a small HTTP front, asked questions of the kinds that TPC-H asks, over tables that are generated. Options of
 * {@link #prepare}: {@code orders}, of which each has one to seven lines; {@code queries} of each of ten
 * kinds; {@code tables}: {@code files} to read them for every query, {@code heap} to keep them there.
 */
public final class SparkService implements Service {
    private static final String TABLES = "tables";
    /** A file that is there if the server is to keep the tables in the heap. */
    private static final String IN_HEAP = "in-heap";
    private static final int PREPARING_THREADS = 2;
    /** To be raised when tables or questions change. */
    private static final int FORMAT = 1;

    @Override
    public String name() {
        return "spark";
    }

    @Override
    public String describe() {
        return "Spark SQL in local mode behind HTTP; a request is one query over tables like TPC-H's";
    }

    @Override
    public void prepare(Path data, Map<String, String> values) throws IOException {
        Options options = new Options(values, Set.of("orders", "queries", TABLES));
        int orders = options.number("orders", 8_000, 100, 10_000_000);
        int each = options.number("queries", 4, 1, 1000);
        String where = options.text(TABLES, "files");
        if (!Set.of("files", "heap").contains(where)) {
            throw new UsageException("option " + TABLES + " is '" + where + "': give files or heap");
        }
        String origin = orders + " orders, " + each + " queries of each kind, tables in " + where + ", format " + FORMAT + ", Spark " + package$.MODULE$.SPARK_VERSION() + ", Java "
                + System.getProperty("java.runtime.version");
        if (FixedRequest.isOf(data, origin)) {
            return;
        }
        FixedRequest.delete(data);
        Directories.delete(data.resolve(TABLES));
        Files.deleteIfExists(data.resolve(IN_HEAP));
        Map<String, Tables.Table> tables = new Tables(orders).generate();
        List<FixedRequest> requests = new ArrayList<>();
        try (Spark spark = new Spark(PREPARING_THREADS)) {
            spark.write(tables, data.resolve(TABLES));
            spark.open(tables.keySet(), data.resolve(TABLES), false);
            for (String sql : Queries.all(each)) {
                requests.add(FixedRequest.post("/sql", "application/sql", sql, spark.answer(sql)));
            }
        } catch (Exception e) {
            throw new IOException("Spark did not prepare the tables: " + e.getMessage(), e);
        }
        if (where.equals("heap")) {
            Files.createFile(data.resolve(IN_HEAP));
        }
        FixedRequest.write(data, origin, requests);
        System.out.println("prepared " + orders + " orders and " + requests.size() + " queries in " + data);
    }

    @Override
    public Running start(Path data, int port, int threads) throws IOException {
        // Tells what is missing, too.
        FixedRequest.read(data);
        return new SparkServer(tables(data), data.resolve(TABLES), Files.exists(data.resolve(IN_HEAP)), port, threads);
    }

    private static List<String> tables(Path data) throws IOException {
        try (var list = Files.list(data.resolve(TABLES))) {
            return list.map(table -> table.getFileName().toString()).sorted().toList();
        }
    }

    @Override
    public Caller caller(Path data, long seed) throws IOException {
        return new FixedCaller(FixedRequest.read(data), seed);
    }
}
