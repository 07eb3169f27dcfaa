// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.util.Arrays;

/**
 * A number with its interval of 95 %.
 *
 * @param low the lower end; NaN if there is too little to tell
 * @param high the upper end; NaN likewise
 */
record Estimate(double value, double low, double high) {
    /** Student's t for 95 % by degrees of freedom, from 1 on; then every fifth up to 30. */
    private static final double[] T = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
            2.131 };

    /** A number of which nothing more is known. */
    static Estimate bare(double value) {
        return new Estimate(value, Double.NaN, Double.NaN);
    }

    /**
     * A ratio of sums, where numerator and denominator come in pieces: slices of time, or collections. The interval is that of the ratio
     * estimator: the deviations of the pieces from the common ratio, over the mean denominator. With fewer than three pieces there is none.
     */
    static Estimate ratio(double[] numerators, double[] denominators) {
        int n = numerators.length;
        double sum = Arrays.stream(denominators).sum();
        double ratio = Arrays.stream(numerators).sum() / sum;
        if (n < 3 || !(sum > 0)) {
            return bare(ratio);
        }
        double squares = 0;
        for (int i = 0; i < n; i++) {
            double deviation = numerators[i] - ratio * denominators[i];
            squares += deviation * deviation;
        }
        double error = Math.sqrt(squares / (n - 1) / n) / (sum / n);
        double half = t(n - 1) * error;
        return new Estimate(ratio, ratio - half, ratio + half);
    }

    /** What 1 - this / other is: what is saved of the other. Both must be above 0. */
    Estimate savedOf(Estimate other) {
        double ratio = value / other.value;
        if (!isKnown() || !other.isKnown()) {
            return bare(1 - ratio);
        }
        double own = (high - low) / 2 / value;
        double others = (other.high - other.low) / 2 / other.value;
        double half = Math.hypot(own, others);   // of the logarithm
        return new Estimate(1 - ratio, 1 - ratio * Math.exp(half), 1 - ratio * Math.exp(-half));
    }

    /** Whether there is an interval. */
    boolean isKnown() {
        return Double.isFinite(low) && Double.isFinite(high);
    }

    static double t(int freedom) {
        return freedom <= T.length ? T[freedom - 1] : freedom < 30 ? 2.131 : 2.042;
    }
}
