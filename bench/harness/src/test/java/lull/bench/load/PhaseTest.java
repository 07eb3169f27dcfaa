// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import lull.bench.service.Service;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class PhaseTest {
    private static final Progress SILENT = new Progress(new PrintStream(OutputStream.nullOutputStream()));

    private interface Request {
        void send(long number) throws IOException, Service.WrongAnswerException;
    }

    private interface Opening {
        void open() throws IOException;
    }

    /** Requests that are not measured are not seen. */
    private static Service.Caller caller(Request request) {
        return caller(() -> { }, n -> {
            if (n < Phase.UNMEASURED) {
                request.send(n);
            }
        });
    }

    private static Service.Caller caller(Opening opening, Request request) {
        return new Service.Caller() {
            @Override
            public Service.Connection connect(int port) throws IOException {
                opening.open();
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
        AtomicLong begin = new AtomicLong();
        Service.Caller stalls = caller(n -> {
            begin.compareAndSet(0, System.nanoTime());
            long left = begin.get() + 700_000_000L - System.nanoTime();
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

    /** As that of a connection whose first request makes the data of all others. */
    @Test
    void whatTheFirstRequestOfAConnectionTakesIsNotMeasured() throws InterruptedException {
        for (boolean open : new boolean[] {true, false}) {
            AtomicInteger first = new AtomicInteger();
            AtomicInteger early = new AtomicInteger();
            Service.Caller slow = caller(() -> { }, n -> {
                if (n >= Phase.UNMEASURED) {
                    LockSupport.parkNanos(n % 2 == 0 ? 1_500_000_000L : 1);
                    first.incrementAndGet();
                } else if (first.get() < 4) {
                    early.incrementAndGet();
                }
            });
            long begin = System.currentTimeMillis();
            Phase phase = open ? Phase.open("open", slow, 1, 4, 0.5, 100, 1, 0) : Phase.closed("closed", slow, 1, 4, 60, 100, 0);
            phase.run(SILENT, 1);
            assertEquals(4, first.get());
            assertEquals(0, early.get(), "requests that were measured before all connections had their first answers");
            assertTrue(phase.taken() > 0);
            assertEquals(phase.taken(), phase.latencies().count());
            assertTrue(phase.latencies().maxMillis() < 1400, () -> "max is " + phase.latencies().maxMillis());
            assertTrue((Long) phase.result().get("startMillis") - begin >= 1400);
        }
    }

    @Test
    void aWrongFirstAnswerIsAnError() throws InterruptedException {
        Phase phase = Phase.open("open", caller(() -> { }, n -> {
            if (n == Phase.UNMEASURED + 1) {
                throw new Service.WrongAnswerException("not it");
            }
        }), 1, 3, 0.2, 100, 1, 0);
        phase.run(SILENT, 1);
        assertEquals(1, phase.latencies().errors());
        assertEquals("first request of a connection: wrong answer: not it", phase.latencies().errorSamples().getFirst());
        assertEquals(phase.taken(), phase.latencies().count());
    }

    /** It does not leave the others waiting, whatever ended it. */
    @Test
    @Timeout(60)
    void aConnectionThatFailsIsAnErrorAndTheOthersGoOn() throws InterruptedException {
        for (Throwable reason : List.of(new IOException("refused"), new IllegalStateException("no state"), new NoClassDefFoundError("no class"))) {
            AtomicInteger opened = new AtomicInteger();
            Phase phase = Phase.closed("closed", caller(() -> {
                if (opened.getAndIncrement() == 0) {
                    PhaseTest.<RuntimeException>sneak(reason);
                }
            }, n -> { }), 1, 3, 60, 50, 0);
            phase.run(SILENT, 1);
            assertEquals(50, phase.latencies().count());
            assertEquals(1, phase.latencies().errors());
            assertTrue(phase.latencies().errorSamples().getFirst().contains(reason.getMessage()));
        }
    }

    /** Whatever a request throws counts, and its thread goes on. */
    @Test
    void whateverARequestThrowsIsAnError() throws InterruptedException {
        for (Throwable reason : List.of(new IllegalStateException("no state"), new OutOfMemoryError("no memory"))) {
            Phase phase = Phase.closed("closed", caller(n -> {
                if (n % 2 == 0) {
                    PhaseTest.<RuntimeException>sneak(reason);
                }
            }), 1, 2, 60, 20, 0);
            phase.run(SILENT, 1);
            assertEquals(20, phase.taken());
            assertEquals(10, phase.latencies().count());
            assertEquals(10, phase.latencies().errors());
            assertEquals(0, phase.latencies().unanswered());
            assertTrue(phase.latencies().errorSamples().getFirst().contains(reason.getMessage()));
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable reason) throws T {
        throw (T) reason;
    }
}
