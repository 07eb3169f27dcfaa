// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * What a replica said that cannot answer now.
 *
 * @param until       for how long it expects to be so; not negative
 * @param unprocessed whether it is certain that the request was not processed, so that it may be sent elsewhere whatever it does: so with the
 *                    gate's answer, which says {@code Busy-Until}
 * @param shared      whether it is so for other requests, too; else it counts for this one only: who has sent too many hears of it, and nobody else
 */
public record Busy(Duration until, boolean unprocessed, boolean shared) {
    /** The field in which the gate says for how many milliseconds it expects the pause to last; in gRPC, the key of a trailer. */
    public static final String BUSY_UNTIL = "busy-until";

    /**
     * The field of a request in which its client says for how many milliseconds it waits before it goes elsewhere. A gate under default
     * options looks for this one.
     */
    public static final String PATIENCE = "x-envoy-expected-rq-timeout-ms";

    public Busy {
        if (Objects.requireNonNull(until).isNegative()) {
            throw new IllegalArgumentException("busy until " + until + ", which is before now");
        }
    }

    /** What is so for other requests, too. */
    public Busy(Duration until, boolean unprocessed) {
        this(until, unprocessed, true);
    }

    /**
     * Reads an HTTP answer.
     *
     * @param status its status
     * @param field  gives the first value of the field with a name; names are of any case
     * @return empty if it does not say that the replica is busy. 503 and 429 do with a {@code Retry-After} in seconds (a date is not looked
     *         at), 503 with {@code Busy-Until}; 429 is not shared
     */
    public static Optional<Busy> of(int status, Function<String, Optional<String>> field) {
        if (status != 503 && status != 429) {
            return Optional.empty();
        }
        Optional<Duration> gate = status == 503 ? number(field.apply(BUSY_UNTIL)).map(Duration::ofMillis) : Optional.empty();
        if (gate.isPresent()) {
            return Optional.of(new Busy(gate.get(), true));
        }
        return number(field.apply("retry-after")).map(seconds -> new Busy(Duration.ofSeconds(seconds), false, status == 503));
    }

    /** What {@link #BUSY_UNTIL} says, if it is a number. */
    public static Optional<Busy> ofBusyUntil(String milliseconds) {
        return number(Optional.ofNullable(milliseconds)).map(ms -> new Busy(Duration.ofMillis(ms), true));
    }

    private static Optional<Long> number(Optional<String> text) {
        return text.map(String::strip).filter(digits -> digits.matches("[0-9]{1,15}")).map(Long::valueOf);
    }
}
