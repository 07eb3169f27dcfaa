// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.BitSet;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The attempts of one request. Decides who is asked next: a replica that is not known to be busy and has not been asked, else one that is not
 * known to be busy, else the one that will be free first, which is told that the request waits. From any thread.
 */
public final class Attempts<R> {
    private final FailoverPolicy policy;
    private final Replicas<R> replicas;
    private final boolean idempotent;
    private final LongSupplier clock;
    private final long begin;
    private final int first;
    private final BitSet asked = new BitSet();
    private int begun;

    Attempts(FailoverPolicy policy, Replicas<R> replicas, boolean idempotent, LongSupplier clock) {
        this.policy = Objects.requireNonNull(policy);
        this.replicas = Objects.requireNonNull(replicas);
        this.idempotent = idempotent;
        this.clock = clock;
        begin = clock.getAsLong();
        first = replicas.nextTurn();
    }

    /** How much of the policy's time is left; zero if none is. */
    public Duration left() {
        return Duration.ofNanos(Math.max(0, policy.within().toNanos() - (clock.getAsLong() - begin)));
    }

    /** Whether the request may be processed twice. */
    public boolean idempotent() {
        return idempotent;
    }

    /** Begins the next attempt; empty when there have been as many as may be, or the time is over. The first is always there. */
    public synchronized Optional<Attempt<R>> next() {
        long now = clock.getAsLong();
        Duration left = left();
        if (begun > 0 && !mayGoOn()) {
            return Optional.empty();
        }
        int index = choose(now);
        Replicas.Hint hint = replicas.hint(index, now);
        Duration delay = Duration.ZERO;
        if (hint != null && !hint.gate()) {
            // Nobody there lets a request wait.
            delay = Duration.ofNanos(hint.until() - now);
            if (delay.compareTo(left) >= 0) {
                if (begun > 0) {
                    return Optional.empty();
                }
                delay = Duration.ZERO;
            }
        }
        begun++;
        asked.set(index);
        boolean nobodyElse = hint != null || begun == policy.attempts();
        return Optional.of(new Attempt<>(index, replicas.get(index), delay, nobodyElse ? Optional.of(left.minus(delay)) : Optional.empty()));
    }

    private int choose(long now) {
        int free = -1;
        int soonest = -1;
        for (int i = 0; i < replicas.size(); i++) {
            int index = (first + i) % replicas.size();
            Replicas.Hint hint = replicas.hint(index, now);
            if (hint == null && !asked.get(index)) {
                return index;
            }
            if (hint == null && free < 0) {
                free = index;
            }
            if (hint != null && (soonest < 0 || hint.until() - replicas.hint(soonest, now).until() < 0)) {
                soonest = index;
            }
        }
        return free >= 0 ? free : soonest;
    }

    private boolean mayGoOn() {
        return begun < policy.attempts() && !left().isZero();
    }

    /** The replica has said that it is busy. Gives whether the request may be sent again. */
    public synchronized boolean busy(Attempt<R> attempt, Busy busy) {
        replicas.busy(attempt.index(), busy, clock.getAsLong());
        return (busy.unprocessed() || idempotent) && mayGoOn();
    }

    /** There was no answer. Gives whether the request may be sent again: not if it may have been processed and is not idempotent. */
    public synchronized boolean failed(Throwable cause) {
        return (idempotent || isUnsent(cause)) && mayGoOn();
    }

    /** The replica has answered, with whatever. */
    public void answered(Attempt<R> attempt) {
        replicas.free(attempt.index());
    }

    /** Whether there was not even a connection. */
    private static boolean isUnsent(Throwable cause) {
        for (Throwable c = cause; c != null; c = c.getCause()) {
            if (c instanceof ConnectException || c instanceof NoRouteToHostException || c instanceof UnknownHostException
                    || c instanceof HttpConnectTimeoutException || c instanceof UnresolvedAddressException) {
                return true;
            }
        }
        return false;
    }
}
