// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lull.bench.result.Invocation;
import lull.bench.result.ResultsFile;
import lull.bench.result.Setup;
import lull.bench.util.Json;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Figures of the report worked out again from the raw lines of a real results file, by arithmetic that shares nothing with the report's: the file
 * is read as plain JSON, means are sums over counts, percentiles are found by counting.
 */
class HandCheckTest {
    private static final Settings SETTINGS = Settings.of(Map.of("LULL_BUILD", "/nowhere", "LULL_BASE_JDK", System.getProperty("java.home")));
    private static final Pattern CLOSED = Pattern.compile("closed loop of (\\d+) requests");

    @TempDir
    private Path directory;
    private final List<Map<String, Object>> lines = new ArrayList<>();
    private Map<String, Double> report;

    @BeforeEach
    void writeReport() throws Exception {
        Path raw = Path.of(HandCheckTest.class.getResource("raw.jsonl").toURI());
        for (String line : Files.readAllLines(raw)) {
            lines.add(Json.parseObject(line));
        }
        List<Invocation> invocations = ResultsFile.read(raw, warning -> { }).invocations();
        Map<Setup, Collector> setups = new LinkedHashMap<>();
        invocations.forEach(invocation -> setups.put(invocation.setup(), null));
        Study study = new Study(new Workload(SETTINGS, "tomcat", ""), 1, new Calibration(1, 1, 1, 1, 0), setups, List.of());
        new BenchReport(SETTINGS, List.of(study), new Calibration.Wish(1, 1, 0.5), directory).write(invocations);
        report = new TreeMap<>();
        for (String line : Files.readAllLines(directory.resolve("bench.csv"))) {
            String[] cell = line.split(",", -1);
            if (!cell[0].equals("service") && !cell[5].isEmpty()) {
                report.put(cell[1] + " " + cell[2] + " " + cell[4], Double.parseDouble(cell[5]));
            }
        }
    }

    private static String point(Map<String, Object> line) {
        return line.get("collector") + " " + line.get("heapMegabytes");
    }

    private static double metric(Map<String, Object> line, String name) {
        return ((Number) ((Map<?, ?>) line.get("metrics")).get(name)).doubleValue();
    }

    @Test
    void theRawFileIsOfSeveralCollectorsAndHeaps() {
        assertTrue(lines.stream().map(HandCheckTest::point).distinct().count() >= 6);
        assertTrue(lines.stream().map(line -> line.get("heapMegabytes")).distinct().count() >= 2);
        lines.forEach(line -> assertEquals(null, line.get("failure")));
    }

    /** Total over the least of the totals less pauses, of all points; totals and distilled totals are means of a point's invocations. */
    @Test
    void lowerBoundOverhead() {
        check("work_wall_s", "work_paused_s", "lbo_wall");
        check("work_cpu_s", "work_gc_cpu_s", "lbo_cpu");
    }

    private void check(String total, String collection, String reported) {
        Map<String, double[]> sums = new TreeMap<>();
        for (Map<String, Object> line : lines) {
            double[] sum = sums.computeIfAbsent(point(line), p -> new double[3]);
            sum[0] += metric(line, total);
            sum[1] += metric(line, total) - metric(line, collection);
            sum[2]++;
        }
        double least = Double.MAX_VALUE;
        for (double[] sum : sums.values()) {
            if (sum[1] / sum[2] < least) {
                least = sum[1] / sum[2];
            }
        }
        for (Map.Entry<String, double[]> each : sums.entrySet()) {
            double overhead = each.getValue()[0] / each.getValue()[2] / least;
            assertTrue(overhead >= 1, each.getKey() + " " + overhead);
            assertEquals(overhead, report.get(each.getKey() + " " + reported), 1e-9, each.getKey());
        }
    }

    /** Of each invocation the latency at or below which 99 % of the recorded requests are, found by counting; then the mean. */
    @Test
    void percentile() throws Exception {
        Map<String, List<Double>> found = new TreeMap<>();
        for (Map<String, Object> line : lines) {
            if (line.get("latencies") == null) {
                continue;
            }
            Histogram histogram = Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode((String) line.get("latencies"))), 0);
            long counted = 0;
            double millis = Double.NaN;
            for (HistogramIterationValue value : histogram.recordedValues()) {
                if (counted < Math.ceil(0.99 * histogram.getTotalCount())) {
                    counted += value.getCountAddedInThisIterationStep();
                    millis = value.getValueIteratedTo() / 1000.0;
                }
            }
            assertEquals(metric(line, "requests"), histogram.getTotalCount());
            assertEquals(metric(line, "p99"), millis, 1e-9);
            found.computeIfAbsent(point(line), p -> new ArrayList<>()).add(millis);
        }
        assertTrue(found.size() >= 4);
        found.forEach((point, values) -> {
            double sum = 0;
            for (double value : values) {
                sum += value;
            }
            assertEquals(sum / values.size(), report.get(point + " p99"), 1e-9, point);
        });
    }

    /** Requests of the closed loop over its time, of each invocation; then the mean. The time is kept to the millisecond. */
    @Test
    void throughput() throws IOException {
        Map<String, double[]> sums = new TreeMap<>();
        for (Map<String, Object> line : lines) {
            Matcher work = CLOSED.matcher((String) line.get("work"));
            assertTrue(work.find(), line.get("work").toString());
            double[] sum = sums.computeIfAbsent(point(line), p -> new double[2]);
            sum[0] += Long.parseLong(work.group(1)) / metric(line, "work_wall_s");
            sum[1]++;
        }
        sums.forEach((point, sum) -> assertEquals(1, sum[0] / sum[1] / report.get(point + " throughput"), 0.002, point));
    }
}
