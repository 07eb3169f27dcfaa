// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * How a request goes on that was not answered. Immutable; one for all requests of a kind.
 *
 * @param attempts   how often a request is sent at most, 1 to 100: larger, and more replicas are asked. A good number is that of the replicas
 *                   and one: the last attempt says to the replica that it has the patience to wait
 * @param within     from the request's begin on: no attempt begins later than this, and none waits longer at a busy replica
 * @param hedgeAfter empty: never. Otherwise, a day at most: another replica is asked, too, when an idempotent request has no answer after this, if one is there
 *                   that is not known to be busy and has not been asked, once in a request and as one of its attempts: for replicas that are
 *                   stopped and have no gate. Smaller: more requests are sent twice
 * @param leaveFor   empty: never. Otherwise, under 10 seconds, for which a replica counts as stopped at most: another one is asked, too, when that
 *                   of an idempotent request says, to a {@link GateListener}, that it is stopped for so long or longer, if that other one is not,
 *                   and as one of the request's attempts. Smaller: more requests are sent twice
 */
public record FailoverPolicy(int attempts, Duration within, Optional<Duration> hedgeAfter, Optional<Duration> leaveFor) {
    private static final int MOST_ATTEMPTS = 100;
    private static final Duration DAY = Duration.ofDays(1);
    /** As long as a gate lets a request wait that does not say how long it will. */
    private static final Duration USUAL_PATIENCE = Duration.ofMillis(50);

    public FailoverPolicy {
        Objects.requireNonNull(hedgeAfter);
        Objects.requireNonNull(leaveFor);
        if (attempts < 1 || attempts > MOST_ATTEMPTS) {
            throw new IllegalArgumentException("attempts is " + attempts + "; it must be from 1 to " + MOST_ATTEMPTS);
        }
        if (within.isNegative() || within.isZero() || within.compareTo(DAY) > 0) {
            throw new IllegalArgumentException("within is " + within + "; it must be longer than 0 and a day at most");
        }
        if (hedgeAfter.filter(after -> after.isNegative() || after.compareTo(DAY) > 0).isPresent()) {
            throw new IllegalArgumentException("hedgeAfter is " + hedgeAfter.get() + "; it must not be negative, and a day at most");
        }
        if (leaveFor.filter(pause -> pause.isNegative() || pause.compareTo(Replicas.LONGEST_HINT) >= 0).isPresent()) {
            throw new IllegalArgumentException("leaveFor is " + leaveFor.get() + "; it must not be negative, and shorter than "
                    + Replicas.LONGEST_HINT + ", for which a replica counts as stopped at most");
        }
    }

    /** A policy that leaves a replica which is stopped for 50 ms or longer. */
    public FailoverPolicy(int attempts, Duration within, Optional<Duration> hedgeAfter) {
        this(attempts, within, hedgeAfter, Optional.of(USUAL_PATIENCE));
    }

    /** The same without hedging. */
    public FailoverPolicy(int attempts, Duration within) {
        this(attempts, within, Optional.empty());
    }

    /** The same for a request whose own time is shorter: {@code within} is {@code most} at most, but not 0. */
    public FailoverPolicy atMost(Duration most) {
        if (most.compareTo(within) >= 0) {
            return this;
        }
        return new FailoverPolicy(attempts, most.isNegative() || most.isZero() ? Duration.ofNanos(1) : most, hedgeAfter, leaveFor);
    }

    /**
     * Begins a request.
     *
     * @param replicas   who can be asked
     * @param idempotent whether it does no harm if the request is processed twice. That is for the caller to say. If it is not, the request is
     *                   sent again only where it is certain that nobody has processed it
     */
    public <R> Attempts<R> begin(Replicas<R> replicas, boolean idempotent) {
        return new Attempts<>(this, replicas, idempotent, System::nanoTime);
    }
}
