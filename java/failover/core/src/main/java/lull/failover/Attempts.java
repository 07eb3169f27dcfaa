// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The attempts of one request. Decides who is asked next: a replica of which nothing is known against it and that has not been asked, else one that
 * is not known to be busy, else the one that will be free first, which is told that the request waits, and last of all those that have failed this
 * request and those where nobody was of late. From any thread.
 */
public final class Attempts<R> {
    private static final int NONE = -1;
    /** A wait is longer by up to this part of itself, so that not all come at once that wait for the same replica. */
    private static final int JITTER = 8;

    private final FailoverPolicy policy;
    private final Replicas<R> replicas;
    private final boolean idempotent;
    private final LongSupplier clock;
    private final long begin;
    private final int first;
    /** By which attempt each replica was asked last; 0: it was not. */
    private final int[] asked;
    /** Whose last attempt has failed. */
    private final BitSet failed = new BitSet();
    /** What replicas have said of this request only. */
    private final Map<Integer, Replicas.Hint> own = new HashMap<>();
    private int begun;

    Attempts(FailoverPolicy policy, Replicas<R> replicas, boolean idempotent, LongSupplier clock) {
        this.policy = Objects.requireNonNull(policy);
        this.replicas = Objects.requireNonNull(replicas);
        this.idempotent = idempotent;
        this.clock = clock;
        begin = clock.getAsLong();
        first = replicas.nextTurn();
        asked = new int[replicas.size()];
    }

    /** How much of the policy's time is left; zero if none is. */
    public Duration left() {
        return Duration.ofNanos(left(clock.getAsLong()));
    }

    private long left(long now) {
        return Math.max(0, policy.within().toNanos() - (now - begin));
    }

    /** Whether the request may be processed twice. */
    public boolean idempotent() {
        return idempotent;
    }

    /** Begins the next attempt; empty when there have been as many as may be, or the time is over. The first is always there, and at once. */
    public synchronized Optional<Attempt<R>> next() {
        long now = clock.getAsLong();
        if (begun > 0 && !mayGoOn(now)) {
            return Optional.empty();
        }
        int index = choose(now);
        return index == NONE ? Optional.empty() : Optional.ofNullable(begin(index, now));
    }

    /** As {@link #next}, but only at a replica that is not known to be busy and has not been asked. */
    public synchronized Optional<Attempt<R>> elsewhere() {
        long now = clock.getAsLong();
        int index = mayGoOn(now) ? fresh(now) : NONE;
        return index == NONE ? Optional.empty() : Optional.ofNullable(begin(index, now));
    }

    /** Gives null if there is nothing but to wait there for longer than may be. */
    private Attempt<R> begin(int index, long now) {
        long left = left(now);
        Replicas.Hint hint = hint(index, now);
        long delay = 0;
        // Nobody there lets a request wait. The first attempt does not either: it finds out whether what another request heard is still so.
        if (begun > 0 && hint != null && !hint.gate()) {
            delay = hint.until() - now;
            if (delay >= left) {
                return null;
            }
            delay = Math.min(left - 1, delay + ThreadLocalRandom.current().nextLong(delay / JITTER + 1));
        }
        begun++;
        return attempt(index, now, delay, hint != null);
    }

    /** The latest attempt is there. */
    private Attempt<R> attempt(int index, long now, long delay, boolean busy) {
        asked[index] = begun;
        boolean nobodyElse = busy || begun == policy.attempts();
        Optional<Duration> patience = nobodyElse ? Optional.of(Duration.ofNanos(left(now) - delay)) : Optional.empty();
        return new Attempt<>(index, replicas.get(index), Duration.ofNanos(delay), now + delay, patience);
    }

    /** Done when the {@linkplain Attempt#delay delay} of an attempt is over, or its replica is free before. To complete it ends what is kept for it. */
    public CompletableFuture<Void> delay(Attempt<R> attempt) {
        CompletableFuture<Void> over = new CompletableFuture<Void>().completeOnTimeout(null, attempt.delay().toNanos(), TimeUnit.NANOSECONDS);
        Runnable look = () -> {
            if (!isBusy(attempt.index())) {
                over.complete(null);
            }
        };
        watch(attempt, look);
        over.whenComplete((nothing, error) -> unwatch(attempt, look));
        // It may be free since it was chosen.
        look.run();
        return over;
    }

    private synchronized boolean isBusy(int index) {
        return hint(index, clock.getAsLong()) != null;
    }

    /** Instead of an attempt whose {@link #delay} is over: the same one, or one at a replica that is the better choice now. It is sent at once. */
    public synchronized Attempt<R> again(Attempt<R> attempt) {
        long now = clock.getAsLong();
        int index = choose(now);
        Replicas.Hint hint = index == NONE ? null : hint(index, now);
        if (index == NONE || hint != null && !hint.gate()) {
            index = attempt.index();
            hint = hint(index, now);
        }
        return attempt(index, now, 0, hint != null);
    }

    /** What keeps a replica from answering this request; null: nothing that is known. */
    private Replicas.Hint hint(int index, long now) {
        Replicas.Hint hint = replicas.hint(index, now);
        Replicas.Hint said = own.get(index);
        return hint != null || said == null || said.isOver(now) ? hint : said;
    }

    private boolean isFresh(int index, long now) {
        return asked[index] == 0 && hint(index, now) == null && !replicas.isGone(index, now);
    }

    /** A replica of which nothing is known against it and that has not been asked, or NONE. */
    private int fresh(long now) {
        if (begun == 0 && isFresh(first, now)) {
            return first;
        }
        // Any of them: if it were always the next one, that would get all the load of one that drops out.
        int found = NONE;
        int count = 0;
        for (int index = 0; index < replicas.size(); index++) {
            // The nth one replaces what was found with a probability of 1/n, so that in the end all have the same.
            if (isFresh(index, now) && ThreadLocalRandom.current().nextInt(++count) == 0) {
                found = index;
            }
        }
        return found;
    }

    /** Gives NONE if there is nothing but to wait for longer than may be. */
    private int choose(long now) {
        int fresh = fresh(now);
        if (fresh != NONE) {
            return fresh;
        }
        int free = NONE;
        int soonest = NONE;
        int last = NONE;
        // Its hint is kept: another thread may have cancelled it since.
        Replicas.Hint best = null;
        for (int i = 0; i < replicas.size(); i++) {
            int index = (first + i) % replicas.size();
            Replicas.Hint hint = hint(index, now);
            if (failed.get(index) || replicas.isGone(index, now)) {
                last = askedBefore(index, last);
            } else if (hint == null) {
                free = askedBefore(index, free);
            } else if (isInTime(hint, now) && (best == null || isBetter(hint, best))) {
                soonest = index;
                best = hint;
            }
        }
        return free != NONE ? free : soonest != NONE ? soonest : last;
    }

    private int askedBefore(int index, int other) {
        return other == NONE || asked[index] < asked[other] ? index : other;
    }

    private boolean isInTime(Replicas.Hint hint, long now) {
        return begun == 0 || hint.gate() || hint.until() - now < left(now);
    }

    /** The first attempt waits at a gate, or not at all; then the turn decides, so that not all of them go to the same replica. */
    private boolean isBetter(Replicas.Hint hint, Replicas.Hint best) {
        if (begun == 0 && !(hint.gate() && best.gate())) {
            return hint.gate() && !best.gate();
        }
        return hint.until() - best.until() < 0;
    }

    private boolean mayGoOn(long now) {
        return begun < policy.attempts() && left(now) > 0;
    }

    /** The replica has said that it is busy. Gives whether the request may be sent again. */
    public boolean busy(Attempt<R> attempt, Busy busy) {
        long now = clock.getAsLong();
        if (busy.shared()) {
            replicas.busy(attempt.index(), busy, now);
        } else {
            // Without the lock: requests that wait for it may go on now, each with its own lock.
            replicas.answered(attempt.index(), attempt.begin());
        }
        synchronized (this) {
            failed.clear(attempt.index());
            if (!busy.shared()) {
                own.put(attempt.index(), Replicas.Hint.of(busy.until(), now, false, false));
            }
            return (busy.unprocessed() || idempotent) && mayGoOn(now);
        }
    }

    /** There was no answer. Gives whether the request may be sent again: not if it may have been processed and is not idempotent. */
    public synchronized boolean failed(Attempt<R> attempt, Throwable cause) {
        long now = clock.getAsLong();
        failed.set(attempt.index());
        boolean unsent = isUnsent(cause);
        if (unsent) {
            replicas.gone(attempt.index(), now);
        }
        return (idempotent || unsent) && mayGoOn(now);
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

    /** Has this done, from any thread, each time that this may have changed; {@link #unwatch} ends it. */
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
