// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Who is asked next, by a clock of ours. */
class AttemptsTest {
    private static final Busy GATE = new Busy(Duration.ofMillis(100), true);

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

    @Test
    void requestsBeginInTurn() {
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            seen.add(next(begin(1, 100, false)).replica());
        }
        assertEquals(Set.of("a", "b", "c"), seen);
    }

    @Test
    void aBusyReplicaIsFollowedByAnotherAtOnce() {
        Attempts<String> attempts = begin(4, 1000, false);
        Set<String> asked = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            Attempt<String> attempt = next(attempts);
            assertTrue(asked.add(attempt.replica()));
            assertEquals(Duration.ZERO, attempt.delay());
            assertEquals(Optional.empty(), attempt.patience());
            assertTrue(attempts.busy(attempt, new Busy(Duration.ofMillis(300 - 100 * i), true)));
        }
        pass(40);
        // All are busy: the one that is free first is told that the request waits.
        Attempt<String> last = next(attempts);
        assertEquals("c", last.replica());
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
        // An answer is better than a hint.
        first.busy(busy, GATE);
        first.answered(busy);
        seen.clear();
        for (int i = 0; i < 3; i++) {
            seen.add(next(begin(3, 1000, false)).replica());
        }
        assertEquals(3, seen.size());
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
            assertEquals(idempotent, attempts.failed(new IOException("reset")));
            assertTrue(attempts.failed(new ConnectException("refused")));
            assertTrue(attempts.failed(new IOException(new ConnectException("refused"))));
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
        assertEquals(Duration.ofMillis(500), last.delay());
        assertEquals(Optional.of(Duration.ofMillis(500)), last.patience());
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
    }
}
