// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Which invocations there are to be, and in what order: in rounds, each with one invocation of every setup, shuffled anew by the
 * seed. So a disturbance of some minutes does not fall on one setup alone, no setup always follows the same other one, and whole rounds
 * can be compared before all are done.
 *
 * <p>A setup of which one invocation failed is given up: it is a missing point, whatever its other invocations would give.
 */
public final class Plan {
    private final List<Invocation.Key> order = new ArrayList<>();

    /**
     * Makes a plan.
     *
     * @param seed of the order; invocation n has the load's seed {@code seed + n - 1} in every setup, so that all setups do the same work
     */
    public Plan(Collection<Setup> setups, int invocations, long seed) {
        for (int number = 1; number <= invocations; number++) {
            List<Setup> round = new ArrayList<>(setups);
            Collections.shuffle(round, new Random(31 * seed + number));
            for (Setup setup : round) {
                order.add(new Invocation.Key(setup, number, seed + number - 1));
            }
        }
    }

    /** Returns all invocations in order. */
    public List<Invocation.Key> order() {
        return List.copyOf(order);
    }

    /** Returns the invocations, in order, that {@code done} does not have, and whose setups have not failed there. */
    public List<Invocation.Key> remaining(Collection<Invocation> done) {
        Set<Invocation.Key> keys = new HashSet<>();
        Set<Setup> failed = new HashSet<>();
        for (Invocation invocation : done) {
            keys.add(invocation.key());
            if (invocation.failure() != null) {
                failed.add(invocation.setup());
            }
        }
        return order.stream().filter(k -> !keys.contains(k) && !failed.contains(k.setup())).toList();
    }

    /**
     * Estimates how long {@code remaining} will take: as long as those of {@code done} took on average, of the same service where there
     * are any that did not fail.
     *
     * @param guess seconds of an invocation as long as none is done
     */
    public static Duration timeLeft(Collection<Invocation.Key> remaining, Collection<Invocation> done, double guess) {
        Map<String, List<Double>> byService = new HashMap<>();
        List<Double> all = new ArrayList<>();
        for (Invocation invocation : done) {
            if (invocation.failure() == null) {
                byService.computeIfAbsent(invocation.setup().service(), s -> new ArrayList<>()).add(invocation.seconds());
                all.add(invocation.seconds());
            }
        }
        double otherwise = mean(all, guess);
        double seconds = 0;
        for (Invocation.Key key : remaining) {
            seconds += mean(byService.getOrDefault(key.setup().service(), List.of()), otherwise);
        }
        return Duration.ofSeconds(Math.round(seconds));
    }

    private static double mean(List<Double> values, double otherwise) {
        return values.stream().mapToDouble(Double::doubleValue).average().orElse(otherwise);
    }
}
