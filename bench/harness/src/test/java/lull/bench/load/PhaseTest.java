// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.locks.LockSupport;
import lull.bench.service.Service;
import org.junit.jupiter.api.Test;

class PhaseTest {
    private static final Progress SILENT = new Progress(new PrintStream(OutputStream.nullOutputStream()));

    private interface Request {
        void send(long number) throws IOException, Service.WrongAnswerException;
    }

    private static Service.Caller caller(Request request) {
        return new Service.Caller() {
            @Override
            public Service.Connection connect(int port) {
                return new Service.Connection() {
                    @Override
                    public void request(long number) throws IOException, Service.WrongAnswerException {
                        request.send(number);
                    }

                    @Override
                    public void close() { }
                };
            }

            @Override
            public int variety() {
                return 1;
            }
        };
    }

    /** A server that stands still for half a second: every request that should have started then has waited. */
    @Test
    void openLoopCountsFromTheIntendedStart() throws InterruptedException {
        long begin = System.nanoTime();
        Service.Caller stalls = caller(n -> {
            long left = begin + 700_000_000L - System.nanoTime();
            if (left > 0 && left < 500_000_000L) {
                LockSupport.parkNanos(left);
            }
        });
        Phase phase = Phase.open("open", stalls, 1, 2, 1, 200, 1, 0);
        phase.run(SILENT, 1);
        assertEquals(200, phase.taken(), 60);
        assertEquals(phase.taken(), phase.latencies().count());
        // About half of all requests fell into the stall, and waited for a quarter of a second on average.
        assertTrue(phase.latencies().percentileMillis(75) > 100, () -> "p75 is " + phase.latencies().percentileMillis(75));
        assertTrue(phase.latencies().maxMillis() > 350);
    }

    @Test
    void closedLoopEndsAfterItsRequests() throws InterruptedException {
        ConcurrentSkipListSet<Long> seen = new ConcurrentSkipListSet<>();
        Phase phase = Phase.closed("closed", caller(seen::add), 1, 4, 60, 1000, 50);
        phase.run(SILENT, 1);
        assertEquals(1000, phase.latencies().count());
        assertEquals(1000, seen.size());
        assertEquals(50, seen.first());
        assertEquals(1049, seen.last());
    }

    @Test
    void failuresAreCounted() throws InterruptedException {
        Phase phase = Phase.closed("closed", caller(n -> {
            if (n % 3 == 0) {
                throw new Service.WrongAnswerException("not it");
            } else if (n % 3 == 1) {
                throw new IOException("gone");
            }
        }), 1, 2, 60, 30, 0);
        phase.run(SILENT, 1);
        assertEquals(10, phase.latencies().count());
        assertEquals(20, phase.latencies().errors());
        assertEquals(2, phase.latencies().errorSamples().size());
        assertEquals(20L, phase.result().get("errors"));
    }
}
