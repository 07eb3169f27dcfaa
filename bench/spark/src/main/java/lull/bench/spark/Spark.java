// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import lull.bench.util.Directories;
import lull.bench.util.Json;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/** Spark in this process, without its web pages. Its working files are in a temporary directory. Safe for use by many threads. */
final class Spark implements AutoCloseable {
    /** There is one Spark in a process at a time: a second one would be the first. */
    private static final AtomicBoolean RUNNING = new AtomicBoolean();

    private final Path directory;
    private final SparkSession session;

    /** Starts Spark with {@code threads} that work on tasks. */
    Spark(int threads) throws IOException {
        if (RUNNING.getAndSet(true)) {
            throw new IOException("Spark is running in this process: close that one first, or use another process");
        }
        directory = Files.createTempDirectory("lull-spark");
        SparkSession.Builder builder = SparkSession.builder().appName("bench").master("local[" + threads + "]");
        settings().forEach(builder::config);
        session = builder.getOrCreate();
    }

    private Map<String, String> settings() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("spark.driver.host", "127.0.0.1");
        settings.put("spark.driver.bindAddress", "127.0.0.1");
        settings.put("spark.local.dir", directory.toString());
        settings.put("spark.sql.warehouse.dir", directory.resolve("warehouse").toString());
        settings.put("spark.sql.session.timeZone", "UTC");
        settings.put("spark.sql.shuffle.partitions", "4");
        // Fixed, as by default it follows from the size of the heap, which differs from run to run, and wants 450 MB.
        settings.put("spark.testing.memory", "" + (320L << 20));
        settings.put("spark.testing.reservedMemory", "" + (64L << 20));
        // Its own calls of System.gc() would disturb what is measured.
        settings.put("spark.cleaner.periodicGC.interval", "10000h");
        // What it would show on its pages it keeps in any case.
        settings.put("spark.ui.enabled", "false");
        settings.put("spark.ui.liveUpdate.period", "-1");
        settings.put("spark.ui.retainedJobs", "20");
        settings.put("spark.ui.retainedStages", "20");
        settings.put("spark.ui.retainedTasks", "100");
        settings.put("spark.sql.ui.retainedExecutions", "20");
        settings.put("spark.sql.event.truncate.length", "200");
        return settings;
    }

    /** Writes tables as Parquet files below {@code data}. */
    void write(Map<String, Tables.Table> tables, Path data) {
        // One file of each, so that all who read it see the same order of rows.
        tables.forEach((name, table) -> session.createDataFrame(table.rows(), table.columns()).coalesce(1).write().parquet(data.resolve(name).toString()));
    }

    /**
     * Writes the rows of a query as Parquet files: one for each value of {@code column}, which is the query's last, in a directory of its own, so that
     * queries of one value read that file only.
     */
    void writeByValue(String sql, String column, Path directory) {
        Dataset<Row> rows = session.sql(sql);
        rows.repartition(rows.col(column)).write().partitionBy(column).parquet(directory.toString());
    }

    /**
     * Makes the tables below {@code data} known to queries.
     *
     * @param inHeap whether to read them now and keep them, as long-lived data
     */
    void open(Iterable<String> names, Path data, boolean inHeap) {
        for (String name : names) {
            Dataset<Row> table = session.read().parquet(data.resolve(name).toString());
            if (inHeap) {
                table = table.persist();
                table.count();
            }
            table.createOrReplaceTempView(name);
        }
    }

    /**
     * Returns the answer to {@code sql} as JSON: the names of its columns, and its rows as texts.
     *
     * @throws AnalysisException if it is no query of these tables
     */
    String answer(String sql) throws AnalysisException {
        Dataset<Row> result = session.sql(sql);
        List<Object> rows = new ArrayList<>();
        for (Row row : result.collectAsList()) {
            List<Object> values = new ArrayList<>();
            for (int i = 0; i < row.size(); i++) {
                values.add(row.isNullAt(i) ? null : row.get(i).toString());
            }
            rows.add(values);
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("columns", List.of((Object[]) result.columns()));
        answer.put("rows", rows);
        return Json.write(answer);
    }

    @Override
    public void close() throws IOException {
        session.stop();
        RUNNING.set(false);
        Directories.delete(directory);
    }
}
