// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.Stream;

/**
 * Replicas that answer the same, and what is known of each: until when it is busy, and whether nobody was there of late. Shared by all requests, from
 * any thread.
 *
 * @param <R> what leads to a replica: an address, a channel
 */
public final class Replicas<R> {
    /** A busy replica is asked again after this, whatever it has said. */
    static final Duration LONGEST_HINT = Duration.ofSeconds(10);
    /** Where nobody was, the others are asked before for so long. */
    static final Duration GONE = Duration.ofSeconds(1);

    /**
     * What a replica has said.
     *
     * @param since when, in nanoseconds of the clock
     * @param until until when it is busy
     * @param gate  whether it lets the patient wait
     * @param told  whether it has said so by itself, and not in an answer
     */
    record Hint(long since, long until, boolean gate, boolean told) {
        /** That it is busy for so long from now on, but no longer than a hint counts. */
        static Hint of(Duration busy, long now, boolean gate, boolean told) {
            Duration bounded = busy.compareTo(LONGEST_HINT) > 0 ? LONGEST_HINT : busy;
            return new Hint(now, now + bounded.toNanos(), gate, told);
        }

        boolean isOver(long now) {
            return until - now <= 0;
        }

        /** What is known after an answer that says this. It replaces nothing that came of a gate, unless it does, too, and makes no pause shorter. */
        Hint after(Hint answer, long now) {
            if (!gate || isOver(now)) {
                return answer;
            }
            if (!answer.gate) {
                return this;
            }
            return new Hint(answer.since, until - answer.until > 0 ? until : answer.until, true, told);
        }
    }

    private final List<R> replicas;
    private final AtomicReferenceArray<Hint> hints;
    /** Until when, in nanoseconds of the clock, a replica counts as gone; null: nothing is known. */
    private final AtomicReferenceArray<Long> gone;
    /** Of each replica, what is to be done when it says by itself that it is busy, and when it is no longer known to be. */
    private final List<Set<Runnable>> watchers;
    private final AtomicInteger turn = new AtomicInteger();

    private Replicas(List<R> replicas) {
        this.replicas = List.copyOf(replicas);
        if (replicas.isEmpty()) {
            throw new IllegalArgumentException("no replica is given");
        }
        hints = new AtomicReferenceArray<>(replicas.size());
        gone = new AtomicReferenceArray<>(replicas.size());
        watchers = Stream.<Set<Runnable>>generate(ConcurrentHashMap::newKeySet).limit(replicas.size()).toList();
    }

    /** They are asked in turn. One that occurs twice is asked twice as often. */
    public static <R> Replicas<R> of(List<R> replicas) {
        return new Replicas<>(replicas);
    }

    int size() {
        return replicas.size();
    }

    R get(int index) {
        return replicas.get(index);
    }

    /** Where the next request begins. */
    int nextTurn() {
        return Math.floorMod(turn.getAndIncrement(), size());
    }

    /** What is known of a replica at a time; null: nothing that keeps it from answering. */
    Hint hint(int index, long now) {
        Hint hint = hints.get(index);
        return hint == null || hint.isOver(now) ? null : hint;
    }

    /** It has said so in an answer. */
    void busy(int index, Busy busy, long now) {
        gone.set(index, null);
        hints.accumulateAndGet(index, Hint.of(busy.until(), now, busy.unprocessed(), false), (known, said) -> known == null ? said : known.after(said, now));
    }

    /** The replica is stopped, as its gate has said by itself. */
    void told(int index, Duration until, long now) {
        gone.set(index, null);
        hints.set(index, Hint.of(until, now, true, true));
        tell(index);
    }

    /** The replica runs. */
    void free(int index) {
        gone.set(index, null);
        hints.set(index, null);
        tell(index);
    }

    /** It has answered a request that was sent at this time. An answer that was already on its way says nothing of a pause that was heard of since. */
    void answered(int index, long sent) {
        gone.set(index, null);
        Hint hint = hints.get(index);
        if (hint != null && hint.since - sent <= 0 && hints.compareAndSet(index, hint, null)) {
            tell(index);
        }
    }

    /** Nobody was there. */
    void gone(int index, long now) {
        gone.set(index, now + GONE.toNanos());
    }

    /** Whether nobody was there of late. It says only who is asked last: a replica that starts is there at any moment. */
    boolean isGone(int index, long now) {
        Long until = gone.get(index);
        return until != null && until - now > 0;
    }

    private void tell(int index) {
        for (Runnable then : watchers.get(index)) {
            try {
                then.run();
            } catch (RuntimeException e) {
                // One request's failure must not keep others, and who tells of the next pause, from going on.
                System.getLogger(Replicas.class.getName()).log(System.Logger.Level.WARNING, "A request could not be sent elsewhere", e);
            }
        }
    }

    /** From now on this is to be done, from any thread, each time that the replica says by itself that it is busy, and that this is over before its time. */
    void watch(int index, Runnable then) {
        watchers.get(index).add(then);
    }

    void unwatch(int index, Runnable then) {
        watchers.get(index).remove(then);
    }
}
