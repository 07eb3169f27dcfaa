// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Replicas that answer the same, and what is known of each: until when it is busy. Shared by all requests, from any thread.
 *
 * @param <R> what leads to a replica: an address, a channel
 */
public final class Replicas<R> {
    /** A busy replica is asked again after this, whatever it has said. */
    static final Duration LONGEST_HINT = Duration.ofSeconds(10);

    /** Until when a replica is busy, in nanoseconds of the clock, and whether it lets the patient wait. */
    record Hint(long until, boolean gate) { }

    private final List<R> replicas;
    private final AtomicReferenceArray<Hint> hints;
    private final AtomicInteger turn = new AtomicInteger();

    private Replicas(List<R> replicas) {
        this.replicas = List.copyOf(replicas);
        if (replicas.isEmpty()) {
            throw new IllegalArgumentException("no replica is given");
        }
        hints = new AtomicReferenceArray<>(replicas.size());
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
        Duration until = busy.until().compareTo(LONGEST_HINT) > 0 ? LONGEST_HINT : busy.until();
        hints.set(index, new Hint(now + until.toNanos(), busy.unprocessed()));
    }

    void free(int index) {
        hints.set(index, null);
    }
}
