// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PlanTest {
    private static final List<Setup> SETUPS = setups();

    private static List<Setup> setups() {
        List<Setup> setups = new ArrayList<>();
        for (String service : List.of("h2", "kafka")) {
            for (String collector : List.of("lull", "g1", "serial")) {
                setups.add(new Setup(service, "", collector, "25", "abc", "", 64, 2, "", "", ""));
            }
        }
        return setups;
    }

    private static Invocation done(Invocation.Key key, double seconds, String failure) {
        return new Invocation(key.setup(), key.number(), key.seed(), "", seconds, Map.of(), failure);
    }

    @Test
    void everyRoundHasEverySetupOnce() {
        List<Invocation.Key> order = new Plan(SETUPS, 4, 10).order();
        assertEquals(24, order.size());
        for (int round = 1; round <= 4; round++) {
            List<Invocation.Key> keys = order.subList(6 * round - 6, 6 * round);
            int number = round;
            assertEquals(new HashSet<>(SETUPS), new HashSet<>(keys.stream().map(Invocation.Key::setup).toList()));
            keys.forEach(key -> assertEquals(number, key.number()));
            keys.forEach(key -> assertEquals(9 + number, key.seed()));
        }
        assertNotEquals(order.subList(0, 6).stream().map(Invocation.Key::setup).toList(), order.subList(6, 12).stream().map(Invocation.Key::setup).toList());
    }

    @Test
    void theSeedGivesTheOrder() {
        assertEquals(new Plan(SETUPS, 3, 1).order(), new Plan(SETUPS, 3, 1).order());
        assertNotEquals(new Plan(SETUPS, 3, 1).order().stream().map(Invocation.Key::setup).toList(),
                new Plan(SETUPS, 3, 2).order().stream().map(Invocation.Key::setup).toList());
    }

    @Test
    void whatIsDoneIsSkipped() {
        Plan plan = new Plan(SETUPS, 2, 1);
        List<Invocation> done = plan.order().subList(0, 5).stream().map(k -> done(k, 10, null)).toList();
        assertEquals(plan.order().subList(5, 12), plan.remaining(done));
        // More invocations begin with the same ones.
        assertEquals(plan.order(), new Plan(SETUPS, 3, 1).order().subList(0, 12));
        // Another build has done nothing yet.
        List<Invocation> other = done.stream().map(i -> new Invocation(i.setup().with(new Setup.Variant("25", "def", "")), i.number(), i.seed(), "", 10, Map.of(), null)).toList();
        assertEquals(12, plan.remaining(other).size());
    }

    @Test
    void aSetupThatFailedIsGivenUp() {
        Plan plan = new Plan(SETUPS, 3, 1);
        Invocation.Key first = plan.order().getFirst();
        List<Invocation.Key> remaining = plan.remaining(List.of(done(first, 1, "no heap")));
        assertEquals(15, remaining.size());
        assertFalse(remaining.stream().anyMatch(k -> k.setup().equals(first.setup())));
        // Whatever its seed was: the point is missing.
        assertEquals(remaining, plan.remaining(List.of(done(new Invocation.Key(first.setup(), 1, 99), 1, "no heap"))));
    }

    @Test
    void timeLeft() {
        Plan plan = new Plan(SETUPS, 1, 1);
        assertEquals(Duration.ofSeconds(6 * 30), Plan.timeLeft(plan.order(), List.of(), 30));
        List<Invocation> done = plan.order().stream().filter(k -> k.setup().service().equals("h2")).limit(2)
                .map(k -> done(k, 20, null)).toList();
        // One more of h2 at 20 s, and three of kafka, of which nothing else is known.
        assertEquals(Duration.ofSeconds(4 * 20), Plan.timeLeft(plan.remaining(done), done, 30));
        List<Invocation> kafka = new ArrayList<>(done);
        plan.order().stream().filter(k -> k.setup().service().equals("kafka")).limit(1).forEach(k -> kafka.add(done(k, 50, null)));
        assertEquals(Duration.ofSeconds(20 + 2 * 50), Plan.timeLeft(plan.remaining(kafka), kafka, 30));
    }
}
