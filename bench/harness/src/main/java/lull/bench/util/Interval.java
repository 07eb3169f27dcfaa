// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.util;

import java.util.Collection;

/**
 * An estimate with its 95 % confidence interval.
 *
 * <p>The interval of a mean is Student's: mean ± t · s / √n with n - 1 degrees of freedom. That of a ratio of two means is Welch's on
 * the logarithm: ln(a / b) has about the variance s²<sub>a</sub> / (n<sub>a</sub> a²) + s²<sub>b</sub> / (n<sub>b</sub> b²) (the delta
 * method), t has the degrees of freedom of Welch and Satterthwaite, rounded down as in a table, and the ends are those of the
 * logarithm's interval, raised again. So the interval of b / a is the inverse of that of a / b, no end is below 0, and the two
 * samples may have different spreads and sizes. Values that are not a number are left out.
 *
 * @param value the mean, or the ratio; NaN if there is none
 * @param low lower end; NaN if there are too few values for an interval, which takes two (of each sample)
 * @param high upper end, likewise
 * @param count number of values; of a ratio, of the smaller sample
 */
public record Interval(double value, double low, double high, int count) {
    private static final double CONFIDENCE = 0.95;

    private record Sample(int count, double mean, double variance) {
        static Sample of(Collection<Double> values) {
            double[] numbers = values.stream().mapToDouble(Double::doubleValue).filter(v -> !Double.isNaN(v)).toArray();
            double sum = 0;
            for (double number : numbers) {
                sum += number;
            }
            double mean = sum / numbers.length;
            double squares = 0;
            for (double number : numbers) {
                squares += (number - mean) * (number - mean);
            }
            return new Sample(numbers.length, mean, squares / (numbers.length - 1));
        }
    }

    /** Returns the mean of {@code values}. */
    public static Interval ofMean(Collection<Double> values) {
        Sample sample = Sample.of(values);
        if (sample.count < 2) {
            return new Interval(sample.mean, Double.NaN, Double.NaN, sample.count);
        }
        double half = quantile(sample.count - 1) * Math.sqrt(sample.variance / sample.count);
        return new Interval(sample.mean, sample.mean - half, sample.mean + half, sample.count);
    }

    /** Returns the mean of {@code above} divided by the mean of {@code below}; NaN unless both are above 0. */
    public static Interval ofRatio(Collection<Double> above, Collection<Double> below) {
        Sample a = Sample.of(above);
        Sample b = Sample.of(below);
        int count = Math.min(a.count, b.count);
        if (!(a.mean > 0 && b.mean > 0)) {
            return new Interval(Double.NaN, Double.NaN, Double.NaN, count);
        }
        double ratio = a.mean / b.mean;
        if (count < 2) {
            return new Interval(ratio, Double.NaN, Double.NaN, count);
        }
        double varianceA = a.variance / (a.count * a.mean * a.mean);
        double varianceB = b.variance / (b.count * b.mean * b.mean);
        double variance = varianceA + varianceB;
        if (variance == 0) {
            return new Interval(ratio, ratio, ratio, count);
        }
        double degrees = variance * variance / (varianceA * varianceA / (a.count - 1) + varianceB * varianceB / (b.count - 1));
        // What ought to be whole may come out a little less.
        double factor = Math.exp(quantile((int) Math.floor(degrees + 1e-9)) * Math.sqrt(variance));
        return new Interval(ratio, ratio / factor, ratio * factor, count);
    }

    /** Whether there is an interval, and not only a value. */
    public boolean bounded() {
        return !Double.isNaN(low);
    }

    /** Returns the interval multiplied by {@code factor}, which is above 0. */
    public Interval times(double factor) {
        return new Interval(value * factor, low * factor, high * factor, count);
    }

    /** Returns t such that Student's distribution with {@code degrees} of freedom has the share 0.95 in [-t, t]. */
    static double quantile(int degrees) {
        double low = 0;
        double high = Math.PI / 2;
        for (int i = 0; i < 60; i++) {
            double middle = (low + high) / 2;
            if (share(middle, degrees) < CONFIDENCE) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return Math.sqrt(degrees) * Math.tan(low);
    }

    /**
     * Returns the share of Student's distribution in [-t, t], where t = √degrees · tan {@code angle}. In the angle the density is
     * cos^(degrees - 1), whose integral is a finite sum for whole degrees.
     */
    private static double share(double angle, int degrees) {
        double cosine = Math.cos(angle);
        boolean odd = degrees % 2 == 1;
        double term = odd ? cosine : 1;
        double sum = 0;
        for (int k = odd ? 2 : 1; k < degrees; k += 2) {
            sum += term;
            term *= cosine * cosine * k / (k + 1);
        }
        return odd ? (angle + Math.sin(angle) * sum) * 2 / Math.PI : Math.sin(angle) * sum;
    }
}
