// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.service;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/**
 * A service as a workload: how to prepare its data, start it, send it a request, check the answer, and stop it.
 *
 * <p>Three processes use it. The <em>preparing</em> process calls {@link #prepare} once and leaves files in a data
 * directory. The <em>server</em> process, whose collector is measured, calls {@link #start} and later
 * {@link Running#close}. The <em>load</em> process calls {@link #caller} and does nothing else. They share only the data
 * directory and a port on 127.0.0.1.
 *
 * <p>Implementations are found by {@link java.util.ServiceLoader}: one Maven module each, so that their libraries do not meet.
 */
public interface Service {
    /** The name on command lines: lower-case letters and digits. */
    String name();

    /** One sentence for reports: what a request does. */
    String describe();

    /**
     * Makes in {@code data} whatever server and load need: inputs and expected answers. Does nothing where that is there already.
     * Runs on a stock collector, so that expected answers do not come from the collector under test.
     *
     * @param options of this service, by name; see its module
     * @throws IOException if an input is missing or unfit, saying which and what to do
     */
    void prepare(Path data, Map<String, String> options) throws IOException;

    /**
     * Starts the service in this process; returns when it accepts requests.
     *
     * @param port on 127.0.0.1; 0 chooses a free one
     * @param threads how many requests the service works on at once
     */
    Running start(Path data, int port, int threads) throws Exception;

    /** Reads inputs and expected answers from {@code data}. The order of requests follows from {@code seed} alone. */
    Caller caller(Path data, long seed) throws IOException;

    /** A started service. */
    interface Running extends AutoCloseable {
        int port();

        /** Stops accepting, lets running requests end, frees everything. */
        @Override
        void close() throws IOException;
    }

    /** The load's side of the service. Safe for use by many threads. */
    interface Caller {
        /** Opens a connection to the service at {@code port} on 127.0.0.1. A connection belongs to one thread. */
        Connection connect(int port) throws IOException;

        /** The number of different requests; each occurs once in every run of that many consecutive request numbers. */
        int variety();
    }

    /** One connection, one request at a time. */
    interface Connection extends AutoCloseable {
        /**
         * Sends request {@code number}, waits for the answer and checks all of it.
         *
         * @throws WrongAnswerException if there was an answer and it is not the expected one
         * @throws IOException if there was no answer; the next request opens the connection again
         */
        void request(long number) throws IOException, WrongAnswerException;

        @Override
        void close();
    }

    /** An answer that is not as expected: the message says which request, what was expected and what came. */
    final class WrongAnswerException extends Exception {
        public WrongAnswerException(String message) {
            super(message);
        }
    }
}
