// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.io.IOException;
import java.util.concurrent.ExecutorService;
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

    /** Sends for {@code seconds}; returns when all is answered, or half a minute later. What then has no answer counts so. */
    static void run(Sender client, ExecutorService threads, double perSecond, double seconds, long seed, Latencies latencies)
            throws InterruptedException {
        Schedule schedule = new Schedule(seed, perSecond);
        AtomicLong underWay = new AtomicLong();
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
            underWay.incrementAndGet();
            threads.execute(() -> {
                try {
                    client.send(number);
                    latencies.answered(second, System.nanoTime() - start);
                } catch (IOException e) {
                    latencies.failed(e.toString());
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                } finally {
                    underWay.decrementAndGet();
                }
            });
        }
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (underWay.get() > 0 && System.nanoTime() < end) {
            Thread.sleep(5);
        }
        for (long i = underWay.get(); i > 0; i--) {
            latencies.unanswered((int) seconds, PATIENCE_NANOS);
        }
    }
}
