// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The JDK's {@link HttpClient} with replicas. Of a request's URI the path and the query count; scheme, host and port are a replica's. Its body
 * must be one that can be sent again, as those of {@link HttpRequest.BodyPublishers} are, but for one of an input stream that cannot be
 * opened anew.
 */
public final class FailoverHttpClient {
    private final HttpClient client;
    private final FailoverPolicy policy;
    private final Replicas<URI> replicas;

    /** Sends by {@code client} to one of {@code replicas}, of whose URIs scheme, host and port are used. */
    public FailoverHttpClient(HttpClient client, FailoverPolicy policy, Replicas<URI> replicas) {
        this.client = Objects.requireNonNull(client);
        this.policy = Objects.requireNonNull(policy);
        this.replicas = Objects.requireNonNull(replicas);
    }

    /**
     * Sends a request and waits for its answer.
     *
     * @param idempotent whether it does no harm if it is processed twice
     * @return the first answer that is not <em>busy</em>, or the last
     * @throws IOException as of {@link HttpClient#send}, of the last attempt
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

    /** {@link #send} without waiting. To cancel it cancels what is under way. */
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> handler, boolean idempotent) {
        Exchange<T> exchange = new Exchange<>(request, handler, policy.begin(replicas, idempotent));
        exchange.begin();
        return exchange.result;
    }

    /** One request. */
    private final class Exchange<T> {
        private final HttpRequest request;
        private final BodyHandler<T> handler;
        private final Attempts<URI> attempts;
        private final CompletableFuture<HttpResponse<T>> result = new CompletableFuture<>();
        private final Queue<CompletableFuture<?>> underWay = new ConcurrentLinkedQueue<>();
        /** Attempts that are not over. */
        private final AtomicInteger open = new AtomicInteger();

        Exchange(HttpRequest request, BodyHandler<T> handler, Attempts<URI> attempts) {
            this.request = Objects.requireNonNull(request);
            this.handler = Objects.requireNonNull(handler);
            this.attempts = attempts;
        }

        void begin() {
            result.whenComplete((response, error) -> underWay.forEach(future -> future.cancel(true)));
            another();
            if (policy.hedgeAfter().isPresent() && attempts.idempotent()) {
                after(policy.hedgeAfter().get()).execute(() -> {
                    if (!result.isDone()) {
                        another();
                    }
                });
            }
        }

        /** Begins another attempt; false if there may be none. */
        private boolean another() {
            return begin(attempts.next());
        }

        private boolean begin(Optional<Attempt<URI>> next) {
            next.ifPresent(attempt -> {
                open.incrementAndGet();
                if (attempt.delay().isZero()) {
                    ask(attempt);
                } else {
                    after(attempt.delay()).execute(() -> ask(attempt));
                }
            });
            return next.isPresent();
        }

        private void ask(Attempt<URI> attempt) {
            if (result.isDone()) {
                return;
            }
            // Whether the answer is busy and will be followed by another attempt, so that its body is nobody's.
            AtomicBoolean again = new AtomicBoolean();
            CompletableFuture<HttpResponse<T>> future;
            try {
                future = client.sendAsync(to(attempt), info -> {
                    Optional<Busy> busy = Busy.of(info.statusCode(), info.headers()::firstValue);
                    if (busy.isPresent() && attempts.busy(attempt, busy.get())) {
                        again.set(true);
                        return BodySubscribers.replacing(null);
                    }
                    return handler.apply(info);
                });
            } catch (RuntimeException e) {
                result.completeExceptionally(e);
                return;
            }
            underWay.add(future);
            if (result.isDone()) {
                future.cancel(true);
            }
            leaveWhenTold(attempt, future);
            future.whenComplete((response, error) -> over(attempt, again.get(), response, error));
        }

        /** When the replica says by itself that it is stopped, another one is asked, too. */
        private void leaveWhenTold(Attempt<URI> attempt, CompletableFuture<?> future) {
            if (policy.leaveFor().isEmpty() || !attempts.idempotent()) {
                return;
            }
            AtomicBoolean left = new AtomicBoolean();
            Runnable leave = () -> {
                if (!future.isDone() && attempts.isToLeave(attempt) && left.compareAndSet(false, true)) {
                    begin(attempts.elsewhere());
                }
            };
            attempts.watch(attempt, leave);
            future.whenComplete((response, error) -> attempts.unwatch(attempt, leave));
            // It may have said so since it was chosen.
            leave.run();
        }

        private void over(Attempt<URI> attempt, boolean again, HttpResponse<T> response, Throwable error) {
            if (result.isDone()) {
                return;
            }
            if (error == null && !again) {
                if (Busy.of(response.statusCode(), response.headers()::firstValue).isEmpty()) {
                    attempts.answered(attempt);
                }
                result.complete(response);
                return;
            }
            Throwable cause = error instanceof CompletionException ? error.getCause() : error;
            if (again || attempts.failed(cause)) {
                try {
                    if (another()) {
                        open.decrementAndGet();
                        return;
                    }
                } catch (RuntimeException e) {
                    cause = e;
                }
            }
            // Another attempt that is under way may still be answered.
            if (open.decrementAndGet() == 0) {
                result.completeExceptionally(cause != null ? cause : new HttpTimeoutException("no replica was free within " + policy.within()));
            }
        }

        private HttpRequest to(Attempt<URI> attempt) {
            URI replica = attempt.replica();
            String query = request.uri().getRawQuery();
            String path = request.uri().getRawPath() + (query == null ? "" : "?" + query);
            Duration left = attempts.left();
            // The client takes no timeout of zero.
            Duration timeout = request.timeout().filter(own -> own.compareTo(left) < 0).orElse(left.plusMillis(1));
            HttpRequest.Builder builder = HttpRequest.newBuilder(request, (name, value) -> true)
                    .uri(URI.create(replica.getScheme() + "://" + replica.getRawAuthority() + path))
                    .timeout(timeout);
            attempt.patience().ifPresent(patience -> builder.setHeader(Busy.PATIENCE, Long.toString(patience.toMillis())));
            return builder.build();
        }
    }

    private static Executor after(Duration delay) {
        return CompletableFuture.delayedExecutor(delay.toNanos(), TimeUnit.NANOSECONDS);
    }
}
