// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import lull.bench.load.Latencies;
import org.junit.jupiter.api.Test;

class OpenLoopTest {
    /** Whatever came of it. */
    @Test
    void eachRequestThatWasSentCountsOnce() throws Exception {
        Latencies latencies = new Latencies();
        AtomicLong sent = new AtomicLong();
        AtomicLong right = new AtomicLong();
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            OpenLoop.run(number -> {
                sent.incrementAndGet();
                switch ((int) (number % 5)) {
                    case 0 -> throw new IOException("gone");
                    case 1 -> throw new IllegalStateException("no state");
                    case 2 -> throw new InterruptedException("interrupted");
                    case 3 -> throw new OutOfMemoryError("no memory");
                    default -> right.incrementAndGet();
                }
            }, threads, 500, 0.5, 1, latencies);
        }
        assertTrue(sent.get() > 50);
        assertEquals(right.get(), latencies.count());
        assertEquals(sent.get() - right.get(), latencies.errors());
        assertEquals(0, latencies.unanswered());
        assertEquals(4, latencies.errorSamples().size());
    }

    @Test
    void collectionsThatBreakOffAreTold() throws Exception {
        FutureTask<Void> broken = new FutureTask<>(() -> {
            throw new IllegalStateException("node 1: gone");
        });
        broken.run();
        assertTrue(assertThrows(IOException.class, () -> CassandraBench.await(broken)).getMessage().contains("node 1: gone"));
        FutureTask<Void> whole = new FutureTask<>(() -> { }, null);
        whole.run();
        CassandraBench.await(whole);
    }
}
