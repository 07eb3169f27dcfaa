// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import java.util.SplittableRandom;

/**
 * The intended starts of an open-loop load: Poisson arrivals at a fixed mean rate, that is, independent exponential gaps.
 * The same seed and rate give the same times. Not safe for use by several threads.
 */
public final class Schedule {
    private final SplittableRandom random;
    private final double meanGapNanos;
    private double nanos;

    /** @param perSecond mean arrivals per second, above 0 */
    public Schedule(long seed, double perSecond) {
        if (!(perSecond > 0) || Double.isInfinite(perSecond)) {
            throw new IllegalArgumentException("rate is " + perSecond + " per second: give a number above 0");
        }
        random = new SplittableRandom(seed);
        meanGapNanos = 1e9 / perSecond;
    }

    /** Returns the next intended start, in nanoseconds from the start of the load. Never falls. */
    public long next() {
        nanos += -Math.log1p(-random.nextDouble()) * meanGapNanos;
        return (long) nanos;
    }
}
