// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover.spring;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Predicate;
import lull.failover.Attempt;
import lull.failover.Attempts;
import lull.failover.Busy;
import lull.failover.FailoverHttpClient;
import lull.failover.FailoverPolicy;
import lull.failover.Replicas;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.http.client.support.HttpRequestWrapper;

/**
 * Sends requests of a {@code RestClient} or {@code RestTemplate} to replicas. Scheme, host and port of a request's URI are a replica's; the
 * rest is the request's own. It waits for each attempt on the caller's thread, and does not hedge. Interceptors behind it see each attempt,
 * those before it each request. How long one attempt may take is its request factory's to say.
 *
 * <p>The request factory must not follow redirects: a request that was processed and redirected, and then finds the next replica busy or gone, would be
 * sent again, which nobody can see here. For the same reason it must not repeat what has failed by itself; the JDK's does so with GET and HEAD, of
 * which {@linkplain FailoverHttpClient#isSentOnce not even a refused connection} shows that nothing was processed.
 */
public final class FailoverInterceptor implements ClientHttpRequestInterceptor {
    private final FailoverPolicy policy;
    private final Replicas<URI> replicas;
    private final Predicate<HttpRequest> idempotent;

    /**
     * An interceptor for all requests to some replicas.
     *
     * @param idempotent whether it does no harm if a request is processed twice
     */
    public FailoverInterceptor(FailoverPolicy policy, Replicas<URI> replicas, Predicate<HttpRequest> idempotent) {
        this.policy = Objects.requireNonNull(policy);
        this.replicas = Objects.requireNonNull(replicas);
        this.idempotent = Objects.requireNonNull(idempotent);
    }

    @Override
    public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution) throws IOException {
        Attempts<URI> attempts = policy.begin(replicas, idempotent.test(request));
        Optional<Attempt<URI>> next = attempts.next();
        while (true) {
            Attempt<URI> attempt = next.orElseThrow();
            if (!attempt.delay().isZero()) {
                sleep(attempts, attempt);
                attempt = attempts.again(attempt);
            }
            ClientHttpResponse response;
            try {
                response = execution.execute(new Sent(request, attempt), body);
            } catch (IOException e) {
                // A thread that is interrupted is to end, whatever the failure is.
                boolean goesOn = attempts.failed(attempt, e) && !Thread.currentThread().isInterrupted()
                        && (attempts.idempotent() || FailoverHttpClient.isSentOnce(request.getMethod().name()));
                next = goesOn ? attempts.next() : Optional.empty();
                if (next.isEmpty()) {
                    throw e;
                }
                continue;
            }
            Optional<Busy> busy = busy(response);
            if (busy.isEmpty()) {
                attempts.answered(attempt);
                return response;
            }
            next = attempts.busy(attempt, busy.get()) ? attempts.next() : Optional.empty();
            if (next.isEmpty()) {
                return response;
            }
            response.close();
        }
    }

    private static Optional<Busy> busy(ClientHttpResponse response) throws IOException {
        try {
            HttpHeaders fields = response.getHeaders();
            return Busy.of(response.getStatusCode().value(), name -> Optional.ofNullable(fields.getFirst(name)));
        } catch (IOException | RuntimeException e) {
            // Nobody else has it.
            response.close();
            throw e;
        }
    }

    private static void sleep(Attempts<URI> attempts, Attempt<URI> attempt) throws InterruptedIOException {
        CompletableFuture<Void> delay = attempts.delay(attempt);
        try {
            delay.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while all replicas were busy");
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);   // It only ends.
        } finally {
            delay.complete(null);
        }
    }

    /** The request as one replica gets it. */
    private static final class Sent extends HttpRequestWrapper {
        private final URI uri;
        private final HttpHeaders headers = new HttpHeaders();

        Sent(HttpRequest request, Attempt<URI> attempt) {
            super(request);
            URI own = request.getURI();
            String query = own.getRawQuery();
            uri = URI.create(attempt.replica().getScheme() + "://" + attempt.replica().getRawAuthority() + own.getRawPath()
                    + (query == null ? "" : "?" + query));
            headers.putAll(request.getHeaders());
            // The replica's own, which the request factory sets.
            headers.remove(HttpHeaders.HOST);
            attempt.patience().ifPresent(patience -> headers.set(Busy.PATIENCE, Long.toString(patience.toMillis())));
        }

        @Override
        public URI getURI() {
            return uri;
        }

        @Override
        public HttpHeaders getHeaders() {
            return headers;
        }
    }
}
