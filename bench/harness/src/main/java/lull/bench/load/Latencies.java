// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;

/**
 * What the requests of one phase took: one histogram of all, and a row per second. Safe for use by many threads.
 *
 * <p>Kept in microseconds at 3 significant digits. Rows are closed when they are two minutes old, so that a run of hours
 * stays small; an answer that comes later still counts in the histogram.
 */
public final class Latencies {
    /** The longest latency kept apart, in microseconds: one hour. Longer ones count as this. */
    private static final long MAX_MICROS = 3_600_000_000L;
    private static final int OPEN_SECONDS = 120;
    private static final int MAX_ERROR_SAMPLES = 10;

    private final Histogram all = new Histogram(MAX_MICROS, 3);
    private final TreeMap<Integer, Histogram> open = new TreeMap<>();
    private final List<Map<String, Object>> closed = new ArrayList<>();
    private final List<String> errorSamples = new ArrayList<>();
    private long errors;
    private long unanswered;
    private int newest;

    /**
     * Counts one correct answer.
     *
     * @param second the second of the phase it belongs to, from 0
     * @param nanos its latency
     */
    public synchronized void answered(int second, long nanos) {
        record(second, nanos);
    }

    /** Counts one request that failed or had a wrong answer, which {@code what} describes. Its time does not count as a latency. */
    public synchronized void failed(String what) {
        errors++;
        if (errorSamples.size() < MAX_ERROR_SAMPLES && !errorSamples.contains(what)) {
            errorSamples.add(what);
        }
    }

    /**
     * Counts one request without an answer at the end of the phase. It counts in the percentiles with the time it has waited so
     * far, which is less than it would have taken.
     */
    public synchronized void unanswered(int second, long nanosSoFar) {
        unanswered++;
        record(second, nanosSoFar);
    }

    private void record(int second, long nanos) {
        long micros = Math.clamp(nanos / 1000, 1, MAX_MICROS);
        all.recordValue(micros);
        if (second > newest) {
            newest = second;
            while (!open.isEmpty() && open.firstKey() < newest - OPEN_SECONDS) {
                Map.Entry<Integer, Histogram> oldest = open.pollFirstEntry();
                closed.add(row(oldest.getKey(), oldest.getValue()));
            }
        }
        if (second >= newest - OPEN_SECONDS) {
            open.computeIfAbsent(second, s -> new Histogram(2)).recordValue(micros);
        }
    }

    /** Returns the number of answers, correct ones and those that did not come. */
    public synchronized long count() {
        return all.getTotalCount();
    }

    public synchronized long errors() {
        return errors;
    }

    public synchronized long unanswered() {
        return unanswered;
    }

    public synchronized List<String> errorSamples() {
        return List.copyOf(errorSamples);
    }

    /** Returns the percentile {@code p} in [0, 100], in milliseconds; 0 without answers. */
    public synchronized double percentileMillis(double p) {
        return all.getTotalCount() == 0 ? 0 : all.getValueAtPercentile(p) / 1000.0;
    }

    /** Returns the largest latency in milliseconds; 0 without answers. */
    public synchronized double maxMillis() {
        return all.getMaxValue() / 1000.0;
    }

    /** Returns the mean latency in milliseconds; 0 without answers. */
    public synchronized double meanMillis() {
        return all.getTotalCount() == 0 ? 0 : all.getMean() / 1000.0;
    }

    /** Returns one row per second that has answers: second, count, p50, p99 and max in milliseconds. */
    public synchronized List<Map<String, Object>> series() {
        List<Map<String, Object>> rows = new ArrayList<>(closed);
        open.forEach((second, histogram) -> rows.add(row(second, histogram)));
        return rows;
    }

    /** Returns points of the distribution: [percentile, milliseconds] at equal steps in the logarithm of 1 / (1 - p). */
    public synchronized List<Object> curve() {
        List<Object> points = new ArrayList<>();
        for (int i = 0; i <= 60; i++) {
            double p = 100 * (1 - Math.pow(10, -i / 20.0));
            points.add(List.of(p, percentileMillis(p)));
        }
        return points;
    }

    /** Returns the histogram, in microseconds, in HdrHistogram's compressed form as Base64. */
    public synchronized String compressed() {
        ByteBuffer buffer = ByteBuffer.allocate(all.getNeededByteBufferCapacity());
        int length = all.encodeIntoCompressedByteBuffer(buffer);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(length);
        bytes.write(buffer.array(), 0, length);
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }

    private static Map<String, Object> row(int second, Histogram histogram) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("second", second);
        row.put("count", histogram.getTotalCount());
        row.put("p50", histogram.getValueAtPercentile(50) / 1000.0);
        row.put("p99", histogram.getValueAtPercentile(99) / 1000.0);
        row.put("max", histogram.getMaxValue() / 1000.0);
        return row;
    }
}
