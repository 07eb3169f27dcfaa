// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How long a benchmark takes from nothing on a machine that has nothing else to do, by arithmetic. Not in it: building, and collectors that are
 * slower than G1.
 *
 * @param services how many
 * @param collectors how many, without Epsilon
 * @param epsilon whether Epsilon takes part, in one heap and without an open loop
 * @param factors how many heaps
 * @param invocations of each
 * @param warmup seconds
 * @param closed seconds
 * @param open seconds
 */
record PlannedTime(int services, int collectors, boolean epsilon, int factors, int invocations, double warmup, double closed, double open) {
    /** Seconds in which a server and a load start and stop. */
    private static final double AROUND = 6;
    /** Seconds in which the smallest heap of a service is found: a dozen checks. */
    private static final double SMALLEST_HEAP = 90;

    /** Returns the time of what {@code settings} ask for. */
    static PlannedTime of(Settings settings) {
        List<String> collectors = new ArrayList<>(settings.words("COLLECTORS", Bench.COLLECTORS));
        boolean epsilon = collectors.remove("epsilon");
        return new PlannedTime(settings.words("BENCH_SERVICES", Bench.SERVICES).size(), collectors.size() + settings.words("JDKS", "").size(), epsilon,
                settings.words("BENCH_FACTORS", Bench.FACTORS).size(), Bench.invocations(settings), Bench.wish(settings).warmup(),
                Bench.wish(settings).closed(), Bench.open(settings));
    }

    /** Returns how many invocations there are to be. */
    int count() {
        return services * invocations * (collectors * factors + (epsilon ? 1 : 0));
    }

    /** Returns what it takes to know the smallest heaps and the work, which is kept. */
    Duration first() {
        return seconds(services * (SMALLEST_HEAP + AROUND + warmup + closed));
    }

    /** Returns what all invocations take. */
    Duration rest() {
        double withoutOpen = epsilon ? services * invocations * open : 0;
        return seconds(count() * (AROUND + warmup + closed + open) - withoutOpen);
    }

    private static Duration seconds(double seconds) {
        return Duration.ofSeconds(Math.round(seconds));
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%d services x (%d collectors x %d heaps%s) x %d invocations = %d invocations of %.0f s (%.0f warm-up, %.0f closed loop, "
                + "%.0f open loop, %.0f around them): %s; before, the smallest heaps and the work, once: %s; together %s, if nothing else runs and no collector "
                + "is slower than G1", services, collectors, factors, epsilon ? " + Epsilon" : "", invocations, count(), AROUND + warmup + closed + open, warmup,
                closed, open, AROUND, Bench.text(rest()), Bench.text(first()), Bench.text(first().plus(rest())));
    }
}
