// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.util;

import java.util.Arrays;
import java.util.Collection;

/** Median, quantiles and spread of a few values, for repeats of a run. Values that are not a number are left out. */
public final class Stats {
    private Stats() { }

    /** Returns the median; NaN if there is no value. */
    public static double median(Collection<Double> values) {
        return quantile(values, 0.5);
    }

    /** Returns the quantile {@code q} in [0, 1], interpolated between neighbours; NaN if there is no value. */
    public static double quantile(Collection<Double> values, double q) {
        double[] sorted = sorted(values);
        if (sorted.length == 0) {
            return Double.NaN;
        }
        double at = q * (sorted.length - 1);
        int below = (int) Math.floor(at);
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
    }

    /** Returns the smallest value; NaN if there is none. */
    public static double min(Collection<Double> values) {
        return quantile(values, 0);
    }

    /** Returns the largest value; NaN if there is none. */
    public static double max(Collection<Double> values) {
        return quantile(values, 1);
    }

    private static double[] sorted(Collection<Double> values) {
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).filter(v -> !Double.isNaN(v)).toArray();
        Arrays.sort(sorted);
        return sorted;
    }
}
