// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import java.time.Duration;
import java.util.Optional;

/**
 * One sending of a request.
 *
 * @param index    of the replica
 * @param replica  who is asked
 * @param delay    how long to wait before; zero mostly. {@link Attempts#delay} ends when that is over or not needed any more, and
 *                 {@link Attempts#again} then chooses once more
 * @param begin    when it is sent after that, by {@link System#nanoTime}
 * @param patience if present, there is nobody else to go to: to be told to the replica ({@link Busy#PATIENCE}), so that it is not turned away
 *                 again but served after the pause
 */
public record Attempt<R>(int index, R replica, Duration delay, long begin, Optional<Duration> patience) { }
