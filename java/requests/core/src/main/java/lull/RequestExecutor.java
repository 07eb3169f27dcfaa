// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * An executor each of whose tasks is a request: {@link Requests#begin} before it, {@link Requests#end} after it, also if it throws, on
 * the thread of another executor that runs it. It pays where tasks follow each other without a wait, that is when the other's queue
 * seldom runs empty.
 *
 * <p>A {@code Future} of this executor is done before the request ends, so nobody who waits for its result waits for a collection.
 *
 * <p>The other executor gets wrapped tasks: its rejection handler sees those, and a queue that orders tasks cannot be used.
 * {@link #shutdownNow} returns the tasks as they were given. Tasks that were given to the other executor directly are not requests.
 */
public final class RequestExecutor extends AbstractExecutorService {
    private final ExecutorService threads;

    /**
     * Wraps an executor.
     *
     * @param threads runs the tasks; shut down with this one
     */
    public RequestExecutor(ExecutorService threads) {
        this.threads = Objects.requireNonNull(threads);
    }

    @Override
    public void execute(Runnable task) {
        threads.execute(new Request(Objects.requireNonNull(task)));
    }

    @Override
    public void shutdown() {
        threads.shutdown();
    }

    @Override
    public List<Runnable> shutdownNow() {
        return threads.shutdownNow().stream().map(t -> t instanceof Request request ? request.task : t).toList();
    }

    @Override
    public boolean isShutdown() {
        return threads.isShutdown();
    }

    @Override
    public boolean isTerminated() {
        return threads.isTerminated();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return threads.awaitTermination(timeout, unit);
    }

    @Override
    public String toString() {
        return "RequestExecutor[" + threads + "]";
    }

    private record Request(Runnable task) implements Runnable {
        @Override
        public void run() {
            Requests.run(task);
        }
    }
}
