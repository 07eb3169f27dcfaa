// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import lull.bench.service.Service;

/**
 * One phase of a load: a number of threads, each with a connection, that send requests until the phase ends.
 *
 * <p><b>Closed loop</b>: each thread sends the next request when it has its answer. Latency is from sending. A phase ends after
 * a time or after a number of requests. For throughput and for warm-up.
 *
 * <p><b>Open loop</b>: requests have intended starts from a {@link Schedule}, which does not wait for answers. A free thread takes
 * the next one and sleeps until then; if all threads are busy at that time the request starts late. Latency is from the
 * <em>intended</em> start in every case, so a stall of the server counts for each request that should have started during it.
 * A phase ends after its time, and the answers that are still missing then have {@link #DRAIN_SECONDS} to come.
 *
 * <p>In both, each thread first connects and sends a request that is checked but not measured, as the first request of a connection may do more
 * than others. The time of the phase starts when all threads have their answers.
 */
public final class Phase {
    /** How long the answers of an open-loop phase may come after its end. */
    public static final int DRAIN_SECONDS = 30;
    /** How long the first answers may take: as long as a connection waits, since a debug build on a busy machine takes minutes for them. */
    private static final int FIRST_SECONDS = FixedCaller.TIMEOUT_MILLIS / 1000;
    /** Numbers from here on are those of requests that are not measured: no phase gets so far. */
    public static final long UNMEASURED = 1L << 40;

    private final String name;
    private final Service.Caller caller;
    private final int port;
    private final int threads;
    private final long nanos;
    private final long maxRequests;
    private final Schedule schedule;
    private final double rate;
    private final long firstNumber;

    private final Latencies latencies = new Latencies();
    private final long[] waiting;
    private final CountDownLatch connected;
    private final CountDownLatch started = new CountDownLatch(1);
    private long taken;
    private long startNanos;
    private long startMillis;
    private long endNanos;
    private double cpuSeconds;
    private volatile boolean abandoned;

    private Phase(String name, Service.Caller caller, int port, int threads, double seconds, long maxRequests, Schedule schedule,
            double rate, long firstNumber) {
        this.name = name;
        this.caller = caller;
        this.port = port;
        this.threads = threads;
        this.nanos = (long) (seconds * 1e9);
        this.maxRequests = maxRequests;
        this.schedule = schedule;
        this.rate = rate;
        this.firstNumber = firstNumber;
        this.waiting = new long[threads];
        this.connected = new CountDownLatch(threads);
    }

    /** Returns a closed-loop phase of {@code clients} for {@code seconds} or {@code maxRequests}, whichever ends first. */
    public static Phase closed(String name, Service.Caller caller, int port, int clients, double seconds, long maxRequests,
            long firstNumber) {
        return new Phase(name, caller, port, clients, seconds, maxRequests, null, 0, firstNumber);
    }

    /** Returns an open-loop phase at {@code rate} requests per second with at most {@code connections} of them in flight. */
    public static Phase open(String name, Service.Caller caller, int port, int connections, double seconds, double rate, long seed,
            long firstNumber) {
        return new Phase(name, caller, port, connections, seconds, Long.MAX_VALUE, new Schedule(seed, rate), rate, firstNumber);
    }

    /** Runs the phase and prints a line of progress on {@code progress} about every {@code everySeconds}. */
    public void run(Progress progress, int everySeconds) throws InterruptedException {
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int index = i;
            waiting[i] = -1;
            workers.add(Thread.ofPlatform().daemon().name(name + "-" + i).start(() -> work(index)));
        }
        if (!connected.await(FIRST_SECONDS, TimeUnit.SECONDS)) {
            latencies.failed(connected.getCount() + " of " + threads + " connections had no answer to their first requests after " + FIRST_SECONDS + " s");
        }
        double cpuBefore = ownCpuSeconds();
        startMillis = System.currentTimeMillis();
        startNanos = System.nanoTime();
        started.countDown();
        long hardEnd = nanos > Long.MAX_VALUE / 2 ? Long.MAX_VALUE : startNanos + nanos + DRAIN_SECONDS * 1_000_000_000L;
        for (long tick = 1; workers.stream().anyMatch(Thread::isAlive) && System.nanoTime() < hardEnd; tick++) {
            long due = startNanos + tick * everySeconds * 1_000_000_000L;
            while (System.nanoTime() < due && workers.stream().anyMatch(Thread::isAlive)) {
                Thread.sleep(20);
            }
            progress.print(name, (System.nanoTime() - startNanos) / 1e9, latencies);
        }
        abandoned = true;
        endNanos = System.nanoTime();
        cpuSeconds = ownCpuSeconds() - cpuBefore;
        giveUp();
    }

    /** Counts what is still without an answer: requests in flight and intended starts that no thread came to. */
    private synchronized void giveUp() {
        for (long intended : waiting) {
            if (intended >= 0) {
                unanswered(intended);
            }
        }
        if (schedule != null) {
            for (long intended = schedule.next(); intended < nanos; intended = schedule.next()) {
                taken++;
                unanswered(intended);
            }
        }
    }

    private void unanswered(long intended) {
        long soFar = endNanos - startNanos - intended;
        latencies.unanswered((int) (intended / 1_000_000_000L), soFar);
    }

    private void work(int index) {
        try (Service.Connection connection = caller.connect(port)) {
            String failure = failure(connection, UNMEASURED + index);
            if (failure != null) {
                latencies.failed("first request of a connection: " + failure);
            }
            connected.countDown();
            started.await();
            for (long number = take(index); number >= 0; number = take(index)) {
                request(connection, index, number);
            }
        } catch (IOException | RuntimeException | Error e) {
            latencies.failed("connecting: " + e);
        } catch (InterruptedException e) {
            latencies.failed("interrupted before the start");
        } finally {
            // Also without a connection, or the others would wait for it.
            connected.countDown();
        }
    }

    /** Sends request {@code number}; returns what went wrong, null if its answer was right. */
    private static String failure(Service.Connection connection, long number) {
        try {
            connection.request(number);
            return null;
        } catch (Service.WrongAnswerException e) {
            return "wrong answer: " + e.getMessage();
        } catch (IOException e) {
            return "no answer: " + e;
        } catch (RuntimeException | Error e) {
            // A defect of the load, or no memory for it: it must not end the thread without a word.
            return "the load failed: " + e;
        }
    }

    /** Takes the next request: its number, or -1 at the end of the phase. Its intended start goes into {@code waiting[index]}. */
    private synchronized long take(int index) {
        long now = System.nanoTime() - startNanos;
        if (abandoned || taken == maxRequests) {
            return -1;
        }
        if (schedule != null) {
            long intended = schedule.next();
            if (intended >= nanos) {
                return -1;
            }
            waiting[index] = intended;
        } else {
            if (now >= nanos) {
                return -1;
            }
            waiting[index] = now;
        }
        return firstNumber + taken++;
    }

    private void request(Service.Connection connection, int index, long number) {
        long intended;
        synchronized (this) {
            intended = waiting[index];
        }
        sleepUntil(startNanos + intended);
        String failure = failure(connection, number);
        long end = System.nanoTime() - startNanos;
        synchronized (this) {
            waiting[index] = -1;
            if (abandoned) {
                return;
            }
            if (failure != null) {
                latencies.failed(failure);
            } else {
                latencies.answered((int) ((schedule != null ? intended : end) / 1_000_000_000L), end - intended);
            }
        }
        if (failure != null) {
            // A server that is gone fails at once: do not spin.
            LockSupport.parkNanos(10_000_000);
        }
    }

    private static void sleepUntil(long nanoTime) {
        for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    public Latencies latencies() {
        return latencies;
    }

    /** Returns the number of requests taken so far. */
    public synchronized long taken() {
        return taken;
    }

    /** Returns correct answers per second: of the time to the last answer, in a closed loop also of those after the end. */
    public double throughput() {
        return (latencies.count() - latencies.unanswered()) / seconds();
    }

    private static double ownCpuSeconds() {
        return ProcessHandle.current().info().totalCpuDuration().map(d -> d.toNanos() / 1e9).orElse(0.0);
    }

    private double seconds() {
        return (endNanos - startNanos) / 1e9;
    }

    /** Returns the result as a JSON object: times in milliseconds, throughput in correct answers per second. */
    public Map<String, Object> result() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("name", name);
        map.put("loop", schedule == null ? "closed" : "open");
        map.put("threads", threads);
        if (schedule != null) {
            map.put("rate", rate);
        }
        map.put("startMillis", startMillis);
        map.put("endMillis", startMillis + (endNanos - startNanos) / 1_000_000);
        map.put("seconds", seconds());
        map.put("requests", taken());
        map.put("answers", latencies.count() - latencies.unanswered());
        map.put("errors", latencies.errors());
        map.put("unanswered", latencies.unanswered());
        map.put("throughput", throughput());
        map.put("loadCpuSeconds", cpuSeconds);
        map.put("mean", latencies.meanMillis());
        map.put("p50", latencies.percentileMillis(50));
        map.put("p90", latencies.percentileMillis(90));
        map.put("p99", latencies.percentileMillis(99));
        map.put("p999", latencies.percentileMillis(99.9));
        map.put("max", latencies.maxMillis());
        map.put("errorSamples", latencies.errorSamples());
        map.put("curve", latencies.curve());
        map.put("series", latencies.series());
        map.put("histogramMicros", latencies.compressed());
        return map;
    }
}
