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
 * Replicas that answer the same, and what is known of each: until when it is busy. Shared by all requests, from any thread.
 *
 * @param <R> what leads to a replica: an address, a channel
 */
public final class Replicas<R> {
    /** A busy replica is asked again after this, whatever it has said. */
    static final Duration LONGEST_HINT = Duration.ofSeconds(10);

    /**
     * What a replica has said.
     *
     * @param since when, in nanoseconds of the clock
     * @param until until when it is busy
     * @param gate  whether it lets the patient wait
     * @param told  whether it has said so by itself, and not in an answer
     */
    record Hint(long since, long until, boolean gate, boolean told) { }

    private final List<R> replicas;
    private final AtomicReferenceArray<Hint> hints;
    /** Of each replica, what is to be done when it says by itself that it is busy. */
    private final List<Set<Runnable>> watchers;
    private final AtomicInteger turn = new AtomicInteger();

    private Replicas(List<R> replicas) {
        this.replicas = List.copyOf(replicas);
        if (replicas.isEmpty()) {
            throw new IllegalArgumentException("no replica is given");
        }
        hints = new AtomicReferenceArray<>(replicas.size());
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
        return hint == null || hint.until - now <= 0 ? null : hint;
    }

    void busy(int index, Busy busy, long now) {
        hints.set(index, hint(busy.until(), now, busy.unprocessed(), false));
    }

    /** The replica is stopped, as its gate has said by itself. */
    void told(int index, Duration until, long now) {
        hints.set(index, hint(until, now, true, true));
        watchers.get(index).forEach(Runnable::run);
    }

    private static Hint hint(Duration until, long now, boolean gate, boolean told) {
        Duration bounded = until.compareTo(LONGEST_HINT) > 0 ? LONGEST_HINT : until;
        return new Hint(now, now + bounded.toNanos(), gate, told);
    }

    /** The replica runs. */
    void free(int index) {
        hints.set(index, null);
    }

    /** It has answered a request that was sent at this time. An answer that was already on its way says nothing of a pause that began since. */
    void answered(int index, long sent) {
        Hint hint = hints.get(index);
        if (hint != null && (!hint.told || hint.since - sent <= 0)) {
            hints.compareAndSet(index, hint, null);
        }
    }

    /** From now on this is to be done, from any thread, each time that the replica says by itself that it is busy. */
    void watch(int index, Runnable then) {
        watchers.get(index).add(then);
    }

    void unwatch(int index, Runnable then) {
        watchers.get(index).remove(then);
    }
}
