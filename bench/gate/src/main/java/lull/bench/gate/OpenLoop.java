// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import lull.bench.load.Latencies;
import lull.bench.load.Schedule;

/** Requests at times that do not depend on answers; latency counts from the intended start. */
final class OpenLoop {
    /** Before a start, wait by the clock from here on. */
    private static final long SPIN_NANOS = 30_000;
    private static final long PATIENCE_NANOS = 30_000_000_000L;

    private OpenLoop() { }

    /** Sends for {@code seconds}; returns when all is answered, or half a minute later. Each request counts once: as answered, failed or unanswered. */
    static void run(Sender client, ExecutorService threads, double perSecond, double seconds, long seed, Latencies latencies)
            throws InterruptedException {
        Schedule schedule = new Schedule(seed, perSecond);
        AtomicLong counted = new AtomicLong();
        AtomicBoolean over = new AtomicBoolean();
        long begin = System.nanoTime();
        long sent = 0;
        for (long at = schedule.next(); at < seconds * 1e9; at = schedule.next()) {
            long start = begin + at;
            for (long left = start - System.nanoTime(); left > 0; left = start - System.nanoTime()) {
                if (left > SPIN_NANOS) {
                    LockSupport.parkNanos(left - SPIN_NANOS);
                } else {
                    Thread.onSpinWait();
                }
            }
            long number = sent++;
            int second = (int) (at / 1_000_000_000);
            threads.execute(() -> {
                String failure = null;
                try {
                    client.send(number);
                } catch (Throwable e) {
                    // Whatever it is, the request has no right answer. No InterruptedException is to be passed on, for the task ends here.
                    failure = e.toString();
                }
                long nanos = System.nanoTime() - start;
                synchronized (counted) {
                    if (over.get()) {
                        // It has counted as unanswered.
                        return;
                    }
                    counted.incrementAndGet();
                    if (failure == null) {
                        latencies.answered(second, nanos);
                    } else {
                        latencies.failed(failure);
                    }
                }
            });
        }
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (counted.get() < sent && System.nanoTime() < end) {
            Thread.sleep(5);
        }
        synchronized (counted) {
            over.set(true);
            for (long i = sent - counted.get(); i > 0; i--) {
                latencies.unanswered((int) seconds, PATIENCE_NANOS);
            }
        }
    }
}
