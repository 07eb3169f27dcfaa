// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import lull.bench.load.FixedRequest;
import lull.bench.load.Latencies;

/** A client of several replicas. Safe for use by many threads. */
final class Client implements Sender, AutoCloseable {
    private final List<FixedRequest> requests;
    private final int[] ports;
    private final Wire wire;
    private final Strategy strategy;
    private final int deadlineMillis;
    private final long hedgeNanos;
    private final ExecutorService threads;
    /** When each replica is expected to run again, by System.nanoTime; 0 if it has not told. */
    private final AtomicLongArray busyUntil;
    /** Of each replica, for TOLD: completes when it stops for longer than the deadline. */
    private final AtomicReferenceArray<CompletableFuture<Void>> stops;
    private final AtomicLong attempts = new AtomicLong();
    private final AtomicLong busy = new AtomicLong();
    /** What busy answers took, from before the request was sent. */
    private volatile Latencies busyLatencies = new Latencies();

    /** An answer that is not as expected. */
    static final class WrongAnswerException extends IOException {
        private static final long serialVersionUID = 1;

        WrongAnswerException(String message) {
            super(message);
        }
    }

    /**
     * @param ports of the replicas
     * @param wire to them, closed with the client
     * @param deadlineMillis how long a replica may take that is not the last, for FAIL_OVER, or may be stopped, for TOLD
     * @param hedgeNanos how long until the second attempt, for HEDGE
     * @param threads runs the attempts of HEDGE and TOLD
     */
    Client(List<FixedRequest> requests, int[] ports, Wire wire, Strategy strategy, int deadlineMillis, long hedgeNanos, ExecutorService threads) {
        this.requests = requests;
        this.ports = ports.clone();
        this.wire = wire;
        this.strategy = strategy;
        this.deadlineMillis = deadlineMillis;
        this.hedgeNanos = hedgeNanos;
        this.threads = threads;
        this.busyUntil = new AtomicLongArray(ports.length);
        this.stops = new AtomicReferenceArray<>(ports.length);
        for (int i = 0; i < ports.length; i++) {
            stops.set(i, new CompletableFuture<>());
        }
    }

    /** Opens connections until there are {@code count} to each replica, and sends a request on each. */
    void connect(int count) throws IOException {
        wire.connect(requests.getFirst(), count);
    }

    @Override
    public void send(long number) throws IOException, InterruptedException {
        FixedRequest request = requests.get((int) (number % requests.size()));
        int first = (int) (number % ports.length);
        switch (strategy) {
            case WAIT -> attempt(request, first, 0);
            case HEDGE -> hedge(request, first);
            case FAIL_OVER, FAIL_OVER_WITH_HINT -> failOver(request, first);
            case TOLD -> leaveWhenTold(request, first);
        }
    }

    /** The replica at this port says that it is stopped, and for so long; or, with a time that is not positive, that it runs. */
    void told(int port, long millis) {
        for (int replica = 0; replica < ports.length; replica++) {
            if (ports[replica] != port) {
                continue;
            }
            busyUntil.set(replica, millis > 0 ? System.nanoTime() + millis * 1_000_000 : 0);
            CompletableFuture<Void> stop = stops.get(replica);
            if (millis > deadlineMillis) {
                stop.complete(null);
            } else if (stop.isDone()) {
                stops.set(replica, new CompletableFuture<>());
            }
        }
    }

    private void leaveWhenTold(FixedRequest request, int first) throws IOException, InterruptedException {
        boolean[] asked = new boolean[ports.length];
        int replica = nextByHint(first, asked);
        asked[replica] = true;
        CompletableFuture<Void> stop = stops.get(replica);
        boolean nobodyElse = stop.isDone();
        CompletableFuture<Void> answer = new CompletableFuture<>();
        threads.submit(() -> complete(answer, request, replica));
        try {
            if (!nobodyElse) {
                CompletableFuture.anyOf(answer, stop).get();
                int other = nextByHint(first, asked);
                if (!answer.isDone() && !stops.get(other).isDone()) {
                    threads.submit(() -> complete(answer, request, other));
                }
            }
            answer.get();
        } catch (ExecutionException e) {
            throw failure(e);
        }
    }

    private void failOver(FixedRequest request, int first) throws IOException {
        boolean[] asked = new boolean[ports.length];
        for (int left = ports.length; left > 1; left--) {
            int replica = strategy == Strategy.FAIL_OVER ? nextInTurn(first, asked) : nextByHint(first, asked);
            asked[replica] = true;
            if (attempt(request, replica, deadlineMillis)) {
                return;
            }
        }
        attempt(request, nextInTurn(first, asked), 0);
    }

    private static int nextInTurn(int first, boolean[] asked) {
        int replica = first;
        while (asked[replica]) {
            replica = (replica + 1) % asked.length;
        }
        return replica;
    }

    /** The first in turn that is not known to be busy, else the one that is expected back first. */
    private int nextByHint(int first, boolean[] asked) {
        long now = System.nanoTime();
        int best = -1;
        long least = Long.MAX_VALUE;
        for (int i = 0; i < ports.length; i++) {
            int replica = (first + i) % ports.length;
            long until = busyUntil.get(replica);
            long wait = until == 0 ? 0 : Math.max(0, until - now);
            if (!asked[replica] && wait < least) {
                best = replica;
                least = wait;
            }
        }
        return best;
    }

    private void hedge(FixedRequest request, int first) throws IOException, InterruptedException {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        Future<?> one = threads.submit(() -> complete(answer, request, first));
        try {
            answer.get(hedgeNanos, TimeUnit.NANOSECONDS);
            return;
        } catch (TimeoutException e) {
            threads.submit(() -> complete(answer, request, (first + 1) % ports.length));
        } catch (ExecutionException e) {
            throw failure(e);
        }
        try {
            answer.get();
        } catch (ExecutionException e) {
            throw failure(e);
        }
    }

    private static IOException failure(ExecutionException e) {
        return e.getCause() instanceof IOException io ? io : new IOException(e.getCause());
    }

    private void complete(CompletableFuture<Void> answer, FixedRequest request, int replica) {
        try {
            attempt(request, replica, 0);
            answer.complete(null);
        } catch (IOException | RuntimeException e) {
            answer.completeExceptionally(e);
        }
    }

    /** Asks {@code replica}; returns whether it answered, false if it was busy. {@code deadline} is in milliseconds, 0 for none. */
    private boolean attempt(FixedRequest request, int replica, int deadline) throws IOException {
        attempts.incrementAndGet();
        long begin = System.nanoTime();
        long busyMillis = wire.send(request, replica, deadline);
        if (busyMillis == Wire.ANSWERED) {
            return true;
        }
        busyLatencies.answered(0, System.nanoTime() - begin);
        busy.incrementAndGet();
        busyUntil.set(replica, System.nanoTime() + busyMillis * 1_000_000);
        return false;
    }

    /** From now on, what busy answers took counts there. */
    void countBusyIn(Latencies latencies) {
        busyLatencies = latencies;
    }

    /** Attempts that were made. */
    long attempts() {
        return attempts.get();
    }

    /** Busy answers that came. */
    long busy() {
        return busy.get();
    }

    @Override
    public void close() {
        wire.close();
    }
}
