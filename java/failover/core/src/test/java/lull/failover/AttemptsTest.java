// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Who is asked next, by a clock of ours. */
class AttemptsTest {
    private static final Busy GATE = new Busy(Duration.ofMillis(100), true);
    private static final Busy HINT = new Busy(Duration.ofSeconds(5), false);

    private long now = Long.MAX_VALUE - 5;   // It overflows soon, as System.nanoTime may.
    private final Replicas<String> replicas = Replicas.of(List.of("a", "b", "c"));

    private Attempts<String> begin(int attempts, int milliseconds, boolean idempotent) {
        return new Attempts<>(new FailoverPolicy(attempts, Duration.ofMillis(milliseconds)), replicas, idempotent, () -> now);
    }

    private void pass(int milliseconds) {
        now += milliseconds * 1_000_000L;
    }

    private static Attempt<String> next(Attempts<String> attempts) {
        return attempts.next().orElseThrow();
    }

    /** Who is asked first by so many requests. */
    private Map<String, Integer> firsts(int requests) {
        Map<String, Integer> seen = new HashMap<>();
        for (int i = 0; i < requests; i++) {
            seen.merge(next(begin(3, 1000, true)).replica(), 1, Integer::sum);
        }
        return seen;
    }

    @Test
    void requestsBeginInTurn() {
        assertEquals(Map.of("a", 2, "b", 2, "c", 2), firsts(6));
    }

    @Test
    void aBusyReplicaIsFollowedByAnotherAtOnce() {
        Attempts<String> attempts = begin(4, 1000, false);
        List<String> asked = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Attempt<String> attempt = next(attempts);
            assertFalse(asked.contains(attempt.replica()));
            asked.add(attempt.replica());
            assertEquals(Duration.ZERO, attempt.delay());
            assertEquals(Optional.empty(), attempt.patience());
            assertTrue(attempts.busy(attempt, new Busy(Duration.ofMillis(300 - 100 * i), true)));
        }
        pass(40);
        // All are busy: the one that is free first is told that the request waits.
        Attempt<String> last = next(attempts);
        assertEquals(asked.get(2), last.replica());
        assertEquals(Duration.ZERO, last.delay());
        assertEquals(Optional.of(Duration.ofMillis(960)), last.patience());
        assertFalse(attempts.busy(last, GATE));
        assertEquals(Optional.empty(), attempts.next());
    }

    @Test
    void hintsAreForAllRequestsUntilTheyAreOver() {
        Attempts<String> first = begin(3, 1000, false);
        Attempt<String> busy = next(first);
        first.busy(busy, GATE);
        for (int i = 0; i < 6; i++) {
            assertFalse(next(begin(3, 1000, false)).replica().equals(busy.replica()), "asked before its time");
        }
        pass(100);
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            seen.add(next(begin(3, 1000, false)).replica());
        }
        assertEquals(3, seen.size());
        // An answer that was on its way says nothing; one to what was sent since is better than a hint.
        first.busy(busy, GATE);
        first.answered(busy);
        assertFalse(firsts(6).containsKey(busy.replica()), "asked before its time");
        pass(1);
        replicas.answered(busy.index(), now);
        assertEquals(3, firsts(3).size());
    }

    @Test
    void whatComesOfAGateIsReplacedByAGateOnly() {
        Attempts<String> attempts = begin(3, 1000, true);
        Attempt<String> attempt = next(attempts);
        replicas.told(attempt.index(), Duration.ofMillis(900), now);
        // The request was there before the pause: what it brings back is older, or of somebody else.
        attempts.busy(attempt, new Busy(Duration.ZERO, false));
        assertFalse(firsts(6).containsKey(attempt.replica()));
        assertTrue(attempts.isToLeave(attempt));
        attempts.busy(attempt, new Busy(Duration.ofMillis(10), true));
        pass(20);
        assertFalse(firsts(6).containsKey(attempt.replica()), "the pause has become shorter");
        assertTrue(attempts.isToLeave(attempt));
        attempts.busy(attempt, new Busy(Duration.ofSeconds(2), true));
        pass(1000);
        assertFalse(firsts(6).containsKey(attempt.replica()));
        pass(1000);
        assertEquals(3, firsts(3).size());
    }

    @Test
    void aReplicaThatHasFailedIsAskedAfterOneThatKeepsTheRequest() {
        FailoverPolicy policy = new FailoverPolicy(3, Duration.ofSeconds(1));
        for (IOException failure : List.of(new ConnectException("refused"), new IOException("reset"))) {
            Attempts<String> attempts = new Attempts<>(policy, Replicas.of(List.of("dead", "paused")), true, () -> now);
            Attempt<String> dead = next(attempts);
            assertTrue(attempts.failed(dead, failure));
            Attempt<String> paused = next(attempts);
            assertEquals("paused", paused.replica());
            assertTrue(attempts.busy(paused, GATE));
            Attempt<String> last = next(attempts);
            assertEquals("paused", last.replica());
            assertTrue(last.patience().isPresent());
        }
    }

    @Test
    void ofThoseThatHaveFailedTheFirstIsAskedFirst() {
        Attempts<String> attempts = begin(9, 1000, true);
        List<String> asked = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            Attempt<String> attempt = next(attempts);
            asked.add(attempt.replica());
            attempts.failed(attempt, new IOException("reset"));
        }
        assertEquals(3, new HashSet<>(asked.subList(0, 3)).size());
        assertEquals(asked.subList(0, 3), asked.subList(3, 6));
        assertEquals(asked.subList(0, 3), asked.subList(6, 9));
    }

    @Test
    void whereNobodyWasIsAskedLastForAWhile() {
        Attempts<String> attempts = begin(3, 1000, false);
        Attempt<String> gone = next(attempts);
        attempts.failed(gone, new ConnectException("refused"));
        assertFalse(firsts(30).containsKey(gone.replica()));
        for (int i = 0; i < 3; i++) {
            if (i != gone.index()) {
                replicas.busy(i, GATE, now);
            }
        }
        // Who is busy keeps the request; where nobody was, that is not waited for.
        assertTrue(next(begin(3, 1000, false)).patience().isPresent());
        pass(1000);
        assertEquals(3, firsts(3).size());
        // An answer shows that it is there.
        attempts.failed(gone, new ConnectException("refused"));
        attempts.answered(gone);
        assertEquals(3, firsts(3).size());
        for (int i = 0; i < 3; i++) {
            replicas.gone(i, now);
        }
        Attempts<String> nobody = begin(3, 1000, false);
        Set<String> asked = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            Attempt<String> attempt = next(nobody);
            assertEquals(Duration.ZERO, attempt.delay());
            asked.add(attempt.replica());
            attempts.failed(attempt, new ConnectException("refused"));
        }
        assertEquals(3, asked.size());
    }

    @Test
    void theLoadOfOneThatDropsOutIsForAllOthers() {
        replicas.told(0, Duration.ofSeconds(9), now);
        Map<String, Integer> firsts = firsts(600);
        assertTrue(firsts.get("b") > 240 && firsts.get("c") > 240, firsts.toString());
        replicas.free(0);
        Map<String, Integer> seconds = new HashMap<>();
        for (int i = 0; i < 900; i++) {
            Attempts<String> attempts = begin(3, 1000, true);
            Attempt<String> attempt = next(attempts);
            if (attempt.index() == 0) {
                attempts.failed(attempt, new IOException("reset"));
                seconds.merge(next(attempts).replica(), 1, Integer::sum);
            }
        }
        assertTrue(seconds.get("b") > 80 && seconds.get("c") > 80, seconds.toString());
    }

    @Test
    void whatIsSaidOfOneRequestIsNotForOthers() {
        Busy tooMany = new Busy(Duration.ofMillis(200), false, false);
        Attempts<String> attempts = begin(9, 1000, true);
        for (int i = 0; i < 3; i++) {
            Attempt<String> attempt = next(attempts);
            assertEquals(Duration.ZERO, attempt.delay());
            attempts.busy(attempt, tooMany);
            assertEquals(Map.of("a", 2, "b", 2, "c", 2), firsts(6));
        }
        assertTrue(next(attempts).delay().toMillis() >= 200);
    }

    @Test
    void theFirstAttemptWaitsForNoHint() {
        Attempts<String> attempts = begin(9, 6000, true);
        for (int i = 0; i < 3; i++) {
            attempts.busy(next(attempts), new Busy(Duration.ofMillis(5000 + i), false));
        }
        Map<String, Integer> asked = new HashMap<>();
        for (int i = 0; i < 6; i++) {
            Attempt<String> first = next(begin(3, 6000, true));
            assertEquals(Duration.ZERO, first.delay());
            asked.merge(first.replica(), 1, Integer::sum);
        }
        assertEquals(Map.of("a", 2, "b", 2, "c", 2), asked);
        replicas.told(1, Duration.ofSeconds(9), now);
        Attempt<String> first = next(begin(3, 6000, true));
        assertEquals("b", first.replica(), "it keeps the request");
        assertTrue(first.patience().isPresent());
    }

    @Test
    void aWaitEndsWhenItsReplicaIsFree() {
        Attempts<String> attempts = begin(9, 6000, true);
        for (int i = 0; i < 3; i++) {
            attempts.busy(next(attempts), HINT);
        }
        Attempt<String> waits = next(attempts);
        assertTrue(waits.delay().toMillis() >= 5000);
        CompletableFuture<Void> delay = attempts.delay(waits);
        assertFalse(delay.isDone());
        pass(1);
        replicas.answered(waits.index(), now);
        assertTrue(delay.isDone());
        Attempt<String> again = attempts.again(waits);
        assertEquals(waits.index(), again.index());
        assertEquals(Duration.ZERO, again.delay());
        assertEquals(now, again.begin());
        assertEquals(Optional.empty(), again.patience(), "it may be sent elsewhere once more");
        assertTrue(attempts.delay(waits).isDone(), "free before the wait began");
    }

    @Test
    void afterAWaitTheBestIsChosenAgain() {
        Attempts<String> attempts = begin(9, 6000, true);
        for (int i = 0; i < 3; i++) {
            attempts.busy(next(attempts), HINT);
        }
        Attempt<String> waits = next(attempts);
        int other = (waits.index() + 1) % 3;
        replicas.free(other);
        assertEquals(other, attempts.again(waits).index());
        replicas.busy(other, HINT, now);
        assertEquals(waits.index(), attempts.again(waits).index(), "nobody is free: no second wait");
        assertEquals(Duration.ZERO, attempts.again(waits).delay());
    }

    @Test
    void noHintShutsAReplicaOutForEver() {
        Attempts<String> attempts = begin(2, 1000, false);
        Attempt<String> attempt = next(attempts);
        attempts.busy(attempt, new Busy(Duration.ofDays(100), true));
        pass(10_000);
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            seen.add(next(begin(1, 1000, false)).replica());
        }
        assertEquals(3, seen.size());
    }

    @Test
    void whatMayHaveBeenProcessedGoesOnOnlyIfIdempotent() {
        Busy hint = new Busy(Duration.ofSeconds(1), false);
        for (boolean idempotent : new boolean[] {false, true}) {
            Attempts<String> attempts = begin(10, 1000, idempotent);
            assertEquals(idempotent, attempts.busy(next(attempts), hint));
            Attempt<String> attempt = next(attempts);
            assertEquals(idempotent, attempts.failed(attempt, new IOException("reset")));
            assertTrue(attempts.failed(attempt, new ConnectException("refused")));
            assertTrue(attempts.failed(attempt, new IOException(new ConnectException("refused"))));
            assertTrue(attempts.busy(next(attempts), GATE));
        }
    }

    @Test
    void withoutPatienceTheClientWaits() {
        Attempts<String> attempts = begin(9, 1000, true);
        for (int i = 0; i < 3; i++) {
            assertTrue(attempts.busy(next(attempts), new Busy(Duration.ofMillis(500 + i), false)));
        }
        Attempt<String> last = next(attempts);
        // Up to an eighth more, so that not all come at once.
        assertTrue(last.delay().toMillis() >= 500 && last.delay().toMillis() <= 563, last.toString());
        assertEquals(Optional.of(Duration.ofSeconds(1).minus(last.delay())), last.patience());
        assertEquals(now + last.delay().toNanos(), last.begin());
        pass(500);
        attempts.busy(last, new Busy(Duration.ofSeconds(5), false));
        // The next is free at 501, which is in time; after it nobody is.
        pass(2);
        assertEquals(Duration.ZERO, next(attempts).delay());
        pass(498);
        assertEquals(Optional.empty(), attempts.next());
    }

    @Test
    void theLastAttemptHasPatience() {
        Attempts<String> attempts = begin(2, 1000, false);
        assertEquals(Optional.empty(), next(attempts).patience());
        assertEquals(Optional.of(Duration.ofSeconds(1)), next(attempts).patience());
        assertEquals(Optional.empty(), attempts.next());
    }

    @Test
    void boundsOfNumberAndTimeHoldWhateverHappens() {
        Random random = new Random(7);
        for (int run = 0; run < 2000; run++) {
            int most = 1 + random.nextInt(6);
            Attempts<String> attempts = begin(most, 50, random.nextBoolean());
            long begin = now;
            int n = 0;
            for (Optional<Attempt<String>> attempt = attempts.next(); attempt.isPresent(); attempt = attempts.next()) {
                n++;
                assertTrue(n == 1 || now - begin < 50_000_000, "begun too late");
                Duration end = Duration.ofNanos(now - begin).plus(attempt.get().delay()).plus(attempt.get().patience().orElse(Duration.ZERO));
                assertTrue(end.toNanos() <= 50_000_000 || n == 1, "waits too long");
                attempts.busy(attempt.get(), new Busy(Duration.ofMillis(random.nextInt(200)), random.nextBoolean()));
                pass(random.nextInt(20));
            }
            assertTrue(n >= 1 && n <= most, n + " attempts of " + most);
        }
    }

    /** A hint may go between two looks at it. */
    @Test
    void aReplicaMayBeFreeAgainWhileOneIsChosen() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        Thread gates = new Thread(() -> {
            while (!over.get()) {
                for (int i = 0; i < 3; i++) {
                    replicas.told(i, Duration.ofSeconds(9), now);
                }
                for (int i = 0; i < 3; i++) {
                    replicas.free(i);
                }
            }
        });
        gates.start();
        try {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
            while (System.nanoTime() < end) {
                assertTrue(begin(1, 100, false).next().isPresent());
            }
        } finally {
            over.set(true);
            gates.join();
        }
    }

    @Test
    void mistakesSayWhatIsWrong() {
        assertThrows(IllegalArgumentException.class, () -> new FailoverPolicy(0, Duration.ofSeconds(1)));
        assertThrows(IllegalArgumentException.class, () -> new FailoverPolicy(101, Duration.ofSeconds(1)));
        assertThrows(IllegalArgumentException.class, () -> new FailoverPolicy(2, Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> new FailoverPolicy(2, Duration.ofSeconds(1), Optional.of(Duration.ofMillis(-1))));
        assertThrows(IllegalArgumentException.class, () -> Replicas.of(List.of()));
        Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
        assertThrows(IllegalArgumentException.class, () -> new FailoverPolicy(2, Duration.ofSeconds(1), Optional.of(endless)));
        for (Duration never : List.of(endless, Duration.ofSeconds(10))) {
            assertThrows(IllegalArgumentException.class, () -> new FailoverPolicy(2, Duration.ofSeconds(1), Optional.empty(), Optional.of(never)));
        }
    }

    @Test
    void aRequestMayHaveLessTime() {
        FailoverPolicy policy = new FailoverPolicy(2, Duration.ofSeconds(1), Optional.of(Duration.ofMillis(1)));
        assertEquals(policy, policy.atMost(Duration.ofSeconds(Long.MAX_VALUE)));
        assertEquals(new FailoverPolicy(2, Duration.ofMillis(20), policy.hedgeAfter()), policy.atMost(Duration.ofMillis(20)));
        for (Duration none : List.of(Duration.ZERO, Duration.ofMillis(-5))) {
            assertTrue(policy.atMost(none).begin(replicas, true).next().isPresent());
        }
    }
}
