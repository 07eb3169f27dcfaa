// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/** The latencies of open loops, whole: what {@link lull.bench.load.Latencies#compressed} returned, of one or several of them together. */
public final class Distribution {
    /** Points of a curve for a step of one nine. */
    private static final int STEPS = 20;

    private final Histogram micros;

    private Distribution(Histogram micros) {
        this.micros = micros;
    }

    /**
     * A point of a curve.
     *
     * @param nines how many nines the share of faster requests has: 1 is 90 %, 2 is 99 %, 0 is none
     */
    public record Point(double nines, double millis) {
        /** Returns the share of faster requests, in percent. */
        public double percentile() {
            return 100 * (1 - Math.pow(10, -nines));
        }
    }

    /**
     * Returns the distribution of all requests of {@code compressed}.
     *
     * @throws IllegalArgumentException if one of them is no histogram
     */
    public static Distribution of(Collection<String> compressed) {
        Histogram all = new Histogram(3);
        for (String one : compressed) {
            try {
                all.add(Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(one)), 0));
            } catch (DataFormatException | RuntimeException e) {
                throw new IllegalArgumentException("a result's latencies are no compressed histogram (" + e.getMessage() + "): "
                        + one.substring(0, Math.min(40, one.length())), e);
            }
        }
        return new Distribution(all);
    }

    /** Returns the number of requests. */
    public long count() {
        return micros.getTotalCount();
    }

    /** Returns the percentile {@code p} in [0, 100], in milliseconds; 0 without requests. */
    public double percentileMillis(double p) {
        return count() == 0 ? 0 : micros.getValueAtPercentile(p) / 1000.0;
    }

    /**
     * Returns the curve, from none to as many nines as there are requests for: a percentile that rests on less than one request is not told. The
     * last point is the slowest request. Empty without requests.
     */
    public List<Point> curve() {
        List<Point> points = new ArrayList<>();
        double last = Math.log10(Math.max(1, count()));
        for (int i = 0; count() > 0 && i < last * STEPS; i++) {
            double nines = (double) i / STEPS;
            points.add(new Point(nines, percentileMillis(100 * (1 - Math.pow(10, -nines)))));
        }
        if (count() > 0) {
            points.add(new Point(last, micros.getMaxValue() / 1000.0));
        }
        return points;
    }
}
