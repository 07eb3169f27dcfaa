// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import lull.bench.service.Service;

/**
 * Counts the right answers of a caller by the second of the server's life in which they come: all of them, those to the first requests of
 * connections too.
 */
final class FirstSeconds implements Service.Caller {
    private final Service.Caller caller;
    private final LongSupplier age;
    private final DoubleSupplier processor;
    private final AtomicLongArray answers;
    /** Guarded by this; null before it. */
    private First first;

    /**
     * The first right answer.
     *
     * @param age of the server, in seconds
     * @param processor seconds that it had used by then
     */
    record First(double age, double processor) { }

    /**
     * Counts for {@code seconds}; later answers are right or wrong as the others, and not counted.
     *
     * @param age of the server in nanoseconds, whenever it is asked for
     * @param processor seconds that it has used, asked for at the first answer only
     */
    FirstSeconds(Service.Caller caller, int seconds, LongSupplier age, DoubleSupplier processor) {
        this.caller = caller;
        this.age = age;
        this.processor = processor;
        this.answers = new AtomicLongArray(seconds);
    }

    @Override
    public Service.Connection connect(int port) throws IOException {
        Service.Connection connection = caller.connect(port);
        return new Service.Connection() {
            @Override
            public void request(long number) throws IOException, Service.WrongAnswerException {
                connection.request(number);
                answered(age.getAsLong());
            }

            @Override
            public void close() {
                connection.close();
            }
        };
    }

    @Override
    public int variety() {
        return caller.variety();
    }

    private void answered(long nanos) {
        synchronized (this) {
            if (first == null) {
                first = new First(nanos / 1e9, processor.getAsDouble());
            }
        }
        int second = Math.toIntExact(Math.max(0, nanos) / 1_000_000_000L);
        if (second < answers.length()) {
            answers.incrementAndGet(second);
        }
    }

    /** Returns the first right answer; empty before it. */
    synchronized Optional<First> first() {
        return Optional.ofNullable(first);
    }

    /** Returns the right answers that came in a second of the server's life, from 0. */
    long answers(int second) {
        return answers.get(second);
    }
}
