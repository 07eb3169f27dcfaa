// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.net.http.HttpTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The JDK's {@link HttpClient} with replicas. Of a request's URI the path and the query count; scheme, host and port are a replica's. Its body
 * must be one that can be sent again, as those of {@link HttpRequest.BodyPublishers} are, but for one of an input stream that cannot be
 * opened anew.
 *
 * <p>A body handler is applied to the answer of each attempt that has one, but not to a busy answer that is followed by another attempt: of an
 * idempotent request it may be more than one, also at the same time, if it is hedged or leaves a replica. So what a handler writes to must be made
 * when it is applied; one file or list of all its applications is not safe. An answer that it has been applied to is not repeated, if its body breaks
 * off, too. Answers that come too late are closed if their bodies are {@link AutoCloseable}. The policy's time ends with the handler's result: a stream
 * that it has returned is the caller's to bound.
 */
public final class FailoverHttpClient {
    private static final String RETRIES = "jdk.httpclient.enableAllMethodRetry";
    /** What the JDK's file says of it, or null. */
    private static final String RETRIES_IN_FILE = retriesIn(Path.of(System.getProperty("java.home"), "conf", "net.properties"));
    /** As the JDK finds it, once, when its client is first used: that may have been before, or be later. */
    private static final boolean RETRIES_ALL = retriesAll(RETRIES_IN_FILE);

    /** For clients that have no executor. As the JDK's own: it must not be that one of those who wait here keeps another from going on. */
    private static final Executor THREADS = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "lull-failover");
        thread.setDaemon(true);
        return thread;
    });

    private static final Duration SHORTEST = Duration.ofMillis(1);

    private final HttpClient client;
    private final FailoverPolicy policy;
    private final Replicas<URI> replicas;
    private final Executor executor;

    /**
     * Sends by {@code client} to one of {@code replicas}, of whose URIs scheme, host and port are used.
     *
     * @param client one that follows redirects sends only what is idempotent: of the last answer it cannot be told whether those before it came of
     *               a request that was processed
     */
    public FailoverHttpClient(HttpClient client, FailoverPolicy policy, Replicas<URI> replicas) {
        this.client = Objects.requireNonNull(client);
        this.policy = Objects.requireNonNull(policy);
        this.replicas = Objects.requireNonNull(replicas);
        executor = client.executor().orElse(THREADS);
    }

    /**
     * Whether the JDK's client sends a request of this method once only. It repeats GET and HEAD by itself when a connection ends without an answer,
     * and with {@code jdk.httpclient.enableAllMethodRetry}, a system property or one of the JDK's {@code conf/net.properties}, all methods. If it
     * finds nobody then, that does not show that the request was not processed before.
     */
    public static boolean isSentOnce(String method) {
        return !method.equals("GET") && !method.equals("HEAD") && !RETRIES_ALL && !retriesAll(RETRIES_IN_FILE);
    }

    static String retriesIn(Path netProperties) {
        Properties defaults = new Properties();
        try (InputStream in = Files.newInputStream(netProperties)) {
            defaults.load(in);
        } catch (IOException | IllegalArgumentException e) {
            // The JDK does without, too.
            return null;
        }
        return defaults.getProperty(RETRIES);
    }

    /** By the system property, else by what the file says. */
    static boolean retriesAll(String inFile) {
        String all = System.getProperty(RETRIES, inFile);
        return all != null && (all.isEmpty() || Boolean.parseBoolean(all));
    }

    /**
     * Sends a request and waits for its answer.
     *
     * @param idempotent whether it does no harm if it is processed twice
     * @return the first answer that is not busy, or a busy one after which there may be no other attempt
     * @throws HttpTimeoutException     if it has no answer within the policy's time or the request's own, which is that of all its attempts
     * @throws IOException              if its last attempt has failed in another way; the cause says how, whatever kind of exception it is
     * @throws InterruptedException     if the thread is interrupted; what is under way is cancelled
     * @throws IllegalArgumentException if it is not idempotent and the client follows redirects
     */
    public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler, boolean idempotent) throws IOException, InterruptedException {
        CompletableFuture<HttpResponse<T>> response = sendAsync(request, handler, idempotent);
        try {
            return response.get();
        } catch (InterruptedException e) {
            response.cancel(true);
            throw e;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof HttpTimeoutException timeout) {
                throw timeout;
            }
            throw new IOException(e.getCause().getMessage(), e.getCause());
        }
    }

    /**
     * {@link #send} without waiting. To cancel it cancels what is under way. A failure is that of the last attempt itself.
     *
     * @throws IllegalArgumentException if it is not idempotent and the client follows redirects
     */
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> handler, boolean idempotent) {
        if (!idempotent && client.followRedirects() != HttpClient.Redirect.NEVER) {
            throw new IllegalArgumentException("the client follows redirects (" + client.followRedirects() + "), so that a request may be processed twice "
                    + "that is not idempotent: build it with Redirect.NEVER, which is the default");
        }
        // Nobody is to keep a request for longer than it lasts.
        FailoverPolicy bounded = request.timeout().map(policy::atMost).orElse(policy);
        Exchange<T> exchange = new Exchange<>(request, handler, bounded.begin(replicas, idempotent));
        exchange.begin();
        return exchange.result;
    }

    /** One request. */
    private final class Exchange<T> {
        private final HttpRequest request;
        private final BodyHandler<T> handler;
        private final Attempts<URI> attempts;
        private final long begin = System.nanoTime();
        private final CompletableFuture<HttpResponse<T>> result = new CompletableFuture<>();
        private final Queue<CompletableFuture<?>> underWay = new ConcurrentLinkedQueue<>();
        /** Attempts that are not over. */
        private final AtomicInteger open = new AtomicInteger();
        /** Why the last attempt that has failed did; set before it is over. */
        private volatile Throwable failure;
        /** Whether an answer has begun that is the handler's. */
        private volatile boolean answering;

        Exchange(HttpRequest request, BodyHandler<T> handler, Attempts<URI> attempts) {
            this.request = Objects.requireNonNull(request);
            this.handler = Objects.requireNonNull(handler);
            this.attempts = attempts;
        }

        void begin() {
            // The JDK's own timer ends with an answer's header; this one ends with the result.
            after(policy.within(), () -> result.completeExceptionally(new HttpTimeoutException("no answer within " + policy.within())));
            result.whenComplete((response, error) -> underWay.forEach(future -> future.cancel(true)));
            begin(attempts.next());
            if (policy.hedgeAfter().isPresent() && attempts.idempotent() && policy.attempts() > 1 && replicas.size() > 1) {
                after(policy.hedgeAfter().get(), () -> {
                    if (!answering) {
                        begin(attempts.elsewhere());
                    }
                });
            }
        }

        /** Does this after a time, unless there is a result before. */
        private void after(Duration time, Runnable then) {
            after(new CompletableFuture<Void>().completeOnTimeout(null, time.toNanos(), TimeUnit.NANOSECONDS), then);
        }

        /** Does this when a wait is over, unless there is a result before. */
        private void after(CompletableFuture<Void> wait, Runnable then) {
            wait.thenRun(() -> {
                if (!result.isDone()) {
                    // Not on the timer's thread: what depends on the result is the caller's.
                    execute(then);
                }
            });
            // Not cancelled: before Java 21 that leaves the timer, and this request, where they are.
            result.whenComplete((response, error) -> wait.complete(null));
        }

        /** Begins an attempt, if there may be one. */
        private void begin(Optional<Attempt<URI>> next) {
            next.ifPresent(attempt -> {
                open.incrementAndGet();
                if (attempt.delay().isZero()) {
                    ask(attempt);
                } else {
                    after(attempts.delay(attempt), () -> ask(attempts.again(attempt)));
                }
            });
        }

        private void ask(Attempt<URI> attempt) {
            if (result.isDone()) {
                return;
            }
            Answer answer = new Answer(attempt);
            CompletableFuture<HttpResponse<T>> future;
            try {
                future = client.sendAsync(to(attempt), answer);
            } catch (RuntimeException e) {
                result.completeExceptionally(e);
                return;
            }
            underWay.add(future);
            if (result.isDone()) {
                future.cancel(true);
            }
            leaveWhenTold(attempt, future);
            future.whenComplete((response, error) -> over(answer, response, error));
        }

        /** When the replica says by itself that it is stopped, another one is asked, too. */
        private void leaveWhenTold(Attempt<URI> attempt, CompletableFuture<?> future) {
            if (policy.leaveFor().isEmpty() || !attempts.idempotent()) {
                return;
            }
            AtomicBoolean left = new AtomicBoolean();
            Runnable leave = () -> {
                if (!future.isDone() && attempts.isToLeave(attempt) && left.compareAndSet(false, true)) {
                    Optional<Attempt<URI>> other = attempts.elsewhere();
                    if (other.isEmpty()) {
                        // There may be somebody when it says so again.
                        left.set(false);
                    }
                    begin(other);
                }
            };
            attempts.watch(attempt, leave);
            future.whenComplete((response, error) -> attempts.unwatch(attempt, leave));
            // It may have said so since it was chosen.
            leave.run();
        }

        /** What comes of an attempt: the handler's, but for a busy answer that another attempt follows. */
        private final class Answer implements BodyHandler<T> {
            private final Attempt<URI> attempt;
            /** What follows. It is known before the answer's body is given up, so that the last answer is whole. */
            private volatile Optional<Attempt<URI>> next = Optional.empty();
            /** Whether the answer is the handler's. Then no failure shows that nothing was processed, and none is repeated. */
            private volatile boolean handled;

            Answer(Attempt<URI> attempt) {
                this.attempt = attempt;
            }

            @Override
            public BodySubscriber<T> apply(ResponseInfo info) {
                Optional<Busy> busy = Busy.of(info.statusCode(), info.headers()::firstValue);
                if (busy.isPresent() && attempts.busy(attempt, busy.get())) {
                    next = attempts.next();
                }
                if (next.isPresent()) {
                    return BodySubscribers.replacing(null);
                }
                handled = true;
                answering = true;
                if (busy.isEmpty()) {
                    attempts.answered(attempt);
                }
                return handler.apply(info);
            }
        }

        private void over(Answer answer, HttpResponse<T> response, Throwable error) {
            if (error == null && answer.next.isEmpty()) {
                if (!result.complete(response)) {
                    close(response.body());
                }
                return;
            }
            if (result.isDone()) {
                return;
            }
            Optional<Attempt<URI>> next = answer.next;
            if (next.isEmpty()) {
                failure = error instanceof CompletionException ? error.getCause() : error;
                if (!answer.handled && attempts.failed(answer.attempt, failure) && (attempts.idempotent() || isSentOnce(request.method()))) {
                    next = attempts.next();
                }
            }
            begin(next);
            // Another attempt that is under way may still be answered. The one that has just begun may be over already, so this comes last.
            if (open.decrementAndGet() == 0) {
                result.completeExceptionally(failure);
            }
        }

        private HttpRequest to(Attempt<URI> attempt) {
            URI replica = attempt.replica();
            String query = request.uri().getRawQuery();
            String path = request.uri().getRawPath() + (query == null ? "" : "?" + query);
            HttpRequest.Builder builder = HttpRequest.newBuilder(request, (name, value) -> true)
                    .uri(URI.create(replica.getScheme() + "://" + replica.getRawAuthority() + path));
            // The JDK counts from each attempt on.
            request.timeout().ifPresent(timeout -> builder.timeout(remaining(timeout)));
            attempt.patience().ifPresent(patience -> builder.setHeader(Busy.PATIENCE, Long.toString(patience.toMillis())));
            return builder.build();
        }

        /** What is left of the request's time, which must be more than 0 where it is told. */
        private Duration remaining(Duration timeout) {
            Duration left = timeout.minusNanos(System.nanoTime() - begin);
            return left.compareTo(SHORTEST) > 0 ? left : SHORTEST;
        }
    }

    private void execute(Runnable task) {
        try {
            executor.execute(task);
        } catch (RejectedExecutionException e) {
            // It has ended. The request must, too.
            task.run();
        }
    }

    /** Gives back the connection of an answer that nobody reads. */
    private static void close(Object body) {
        if (body instanceof AutoCloseable open) {
            try {
                open.close();
            } catch (Exception e) {
                // Nobody waits for it.
            }
        }
    }
}
