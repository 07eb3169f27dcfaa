// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class RequestExecutorTest {
    private static void end(ExecutorService executor) throws InterruptedException {
        executor.shutdown();
        assertTrue(executor.isShutdown());
        assertTrue(executor.awaitTermination(10, TimeUnit.SECONDS));
        assertTrue(executor.isTerminated());
    }

    @Test
    void eachTaskIsARequest() throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            ExecutorService executor = new RequestExecutor(Executors.newFixedThreadPool(3));
            List<Integer> depths = Collections.synchronizedList(new ArrayList<>());
            List<Callable<Integer>> tasks = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                executor.execute(() -> depths.add(counter.depth()));
                executor.submit(() -> depths.add(counter.depth()));
                tasks.add(counter::depth);
            }
            for (Future<Integer> result : executor.invokeAll(tasks)) {
                depths.add(result.get());
            }
            end(executor);
            assertEquals(Collections.nCopies(300, 1), depths);
            assertEquals("300 300 300", counter.counts());
        }
    }

    @Test
    void alsoTasksThatFail() throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            List<Throwable> uncaught = Collections.synchronizedList(new ArrayList<>());
            ExecutorService executor = new RequestExecutor(Executors.newFixedThreadPool(1, task -> {
                Thread thread = new Thread(task);
                thread.setUncaughtExceptionHandler((t, e) -> uncaught.add(e));
                return thread;
            }));
            Error error = new Error("expected");
            executor.execute(() -> {
                throw error;
            });
            Exception exception = new Exception("expected");
            Future<?> failed = executor.submit((Callable<Void>) () -> {
                throw exception;
            });
            assertSame(exception, assertThrows(ExecutionException.class, failed::get).getCause());
            end(executor);
            assertEquals(List.of(error), uncaught);
            assertEquals("2 2 2", counter.counts());
        }
    }

    /** Who waits for a result does not wait for the collection. */
    @Test
    void resultsAreThereBeforeTheEnd() throws Exception {
        CountDownLatch collected = new CountDownLatch(1);
        try (RequestCounter counter = new RequestCounter(() -> await(collected))) {
            ExecutorService executor = new RequestExecutor(Executors.newFixedThreadPool(1));
            try {
                assertEquals("result", executor.submit(() -> "result").get(10, TimeUnit.SECONDS));
                assertThrows(TimeoutException.class, () -> executor.submit(() -> "next").get(100, TimeUnit.MILLISECONDS));
            } finally {
                collected.countDown();
            }
            end(executor);
            assertEquals("2 2 2", counter.counts());
        }
    }

    /** A task that is cancelled while it runs has ended when its thread has left it. */
    @Test
    void cancelledTasks() throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            ExecutorService executor = new RequestExecutor(Executors.newFixedThreadPool(1));
            CountDownLatch running = new CountDownLatch(1);
            Future<?> cancelled = executor.submit(() -> {
                running.countDown();
                await(new CountDownLatch(1));
            });
            Future<?> neverRun = executor.submit(() -> {});
            running.await();
            neverRun.cancel(true);
            cancelled.cancel(true);
            end(executor);
            // FutureTask.run of the second finds that there is nothing to do.
            assertEquals("2 2 2", counter.counts());
        }
    }

    @Test
    void onTheCallersThreadWithinItsRequest() throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            ThreadPoolExecutor threads = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1),
                    new ThreadPoolExecutor.CallerRunsPolicy());
            ExecutorService executor = new RequestExecutor(threads);
            CountDownLatch go = new CountDownLatch(1);
            executor.execute(() -> await(go));
            executor.execute(() -> {});
            Requests.begin();
            executor.execute(() -> assertEquals(2, counter.depth()));
            assertEquals(0, counter.collections());
            Requests.end();
            assertEquals(1, counter.collections());
            go.countDown();
            end(executor);
            assertEquals("4 4 3", counter.counts());
        }
    }

    @Test
    void shutdownNowReturnsTheTasksAsGiven() throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            ExecutorService executor = new RequestExecutor(Executors.newFixedThreadPool(1));
            CountDownLatch running = new CountDownLatch(1);
            executor.execute(() -> {
                running.countDown();
                await(new CountDownLatch(1));
            });
            running.await();
            Runnable queued = () -> {};
            executor.execute(queued);
            assertEquals(List.of(queued), executor.shutdownNow());
            assertTrue(executor.awaitTermination(10, TimeUnit.SECONDS));
            assertThrows(RejectedExecutionException.class, () -> executor.execute(queued));
            assertThrows(NullPointerException.class, () -> executor.execute(null));
            assertEquals("1 1 1", counter.counts());
        }
    }

    @Test
    void withoutLullTasksRunAsWell() throws Exception {
        assertFalse(Requests.heard());
        ExecutorService executor = new RequestExecutor(Executors.newFixedThreadPool(1));
        assertEquals(42, executor.submit(() -> 42).get());
        end(executor);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
