// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

/** How shares between 0 and 1 are distributed, in steps of a thousandth. */
final class Shares {
    private static final int STEPS = 1000;

    private final long[] counts = new long[STEPS + 1];
    private long count;

    void add(double share) {
        counts[(int) Math.round(STEPS * Math.max(0, Math.min(1, share)))]++;
        count++;
    }

    long count() {
        return count;
    }

    /** The smallest share that {@code percent} of all do not exceed; NaN if there are none. */
    double percentile(double percent) {
        if (count == 0) {
            return Double.NaN;
        }
        long rank = Math.max(1, (long) Math.ceil(count * percent / 100));
        int step = 0;
        for (long below = counts[0]; below < rank; below += counts[step]) {
            step++;
        }
        return (double) step / STEPS;
    }
}
