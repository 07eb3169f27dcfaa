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
    private static final int NONE = -1;

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
        return Optional.ofNullable(begin(choose(now), now, left));
    }

    /** As {@link #next}, but only at a replica that is not known to be busy and has not been asked. */
    public synchronized Optional<Attempt<R>> elsewhere() {
        long now = clock.getAsLong();
        int index = mayGoOn() ? fresh(now) : NONE;
        return index == NONE ? Optional.empty() : Optional.ofNullable(begin(index, now, left()));
    }

    /** Gives null if there is nothing but to wait there for longer than may be. */
    private Attempt<R> begin(int index, long now, Duration left) {
        Replicas.Hint hint = replicas.hint(index, now);
        Duration delay = Duration.ZERO;
        if (hint != null && !hint.gate()) {
            // Nobody there lets a request wait.
            delay = Duration.ofNanos(hint.until() - now);
            if (delay.compareTo(left) >= 0) {
                if (begun > 0) {
                    return null;
                }
                delay = Duration.ZERO;
            }
        }
        begun++;
        asked.set(index);
        boolean nobodyElse = hint != null || begun == policy.attempts();
        return new Attempt<>(index, replicas.get(index), delay, now + delay.toNanos(), nobodyElse ? Optional.of(left.minus(delay)) : Optional.empty());
    }

    /** A replica that is not known to be busy and has not been asked, or NONE. */
    private int fresh(long now) {
        for (int i = 0; i < replicas.size(); i++) {
            int index = (first + i) % replicas.size();
            if (!asked.get(index) && replicas.hint(index, now) == null) {
                return index;
            }
        }
        return NONE;
    }

    private int choose(long now) {
        int fresh = fresh(now);
        if (fresh != NONE) {
            return fresh;
        }
        int free = NONE;
        int soonest = NONE;
        // Its hint is kept: another thread may have cancelled it since.
        Replicas.Hint best = null;
        for (int i = 0; i < replicas.size(); i++) {
            int index = (first + i) % replicas.size();
            Replicas.Hint hint = replicas.hint(index, now);
            if (hint == null && free == NONE) {
                free = index;
            }
            if (hint != null && (best == null || hint.until() - best.until() < 0)) {
                soonest = index;
                best = hint;
            }
        }
        return free != NONE ? free : soonest;
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
        replicas.answered(attempt.index(), attempt.begin());
    }

    /**
     * While an attempt is under way: whether its replica has said to a {@link GateListener} that it is stopped, and for so long that the request should
     * be sent {@linkplain #elsewhere elsewhere}, too. Not if it was sent there because there was nobody else.
     */
    public boolean isToLeave(Attempt<R> attempt) {
        long now = clock.getAsLong();
        Replicas.Hint hint = replicas.hint(attempt.index(), now);
        return idempotent && hint != null && hint.told() && attempt.patience().isEmpty()
                && policy.leaveFor().filter(pause -> hint.until() - now >= pause.toNanos()).isPresent();
    }

    /** Has this done, from any thread, each time that the attempt's replica says so; {@link #unwatch} ends it. */
    public void watch(Attempt<R> attempt, Runnable then) {
        replicas.watch(attempt.index(), then);
    }

    /** Ends what {@link #watch} has begun. */
    public void unwatch(Attempt<R> attempt, Runnable then) {
        replicas.unwatch(attempt.index(), then);
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
