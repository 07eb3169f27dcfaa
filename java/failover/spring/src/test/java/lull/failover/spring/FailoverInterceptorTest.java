// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lull.failover.FailoverPolicy;
import lull.failover.Replica;
import lull.failover.Replicas;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;

/** A RestClient of Spring and replicas that are busy. */
class FailoverInterceptorTest {
    private final List<Replica> replicas = new ArrayList<>();

    @AfterEach
    void close() {
        replicas.forEach(Replica::close);
    }

    private RestClient client(int attempts, Replica.Mood... moods) throws IOException {
        for (Replica.Mood mood : moods) {
            replicas.add(new Replica(replicas.size(), mood));
        }
        Replicas<URI> all = Replicas.of(replicas.stream().map(Replica::uri).toList());
        FailoverPolicy policy = new FailoverPolicy(attempts, Duration.ofSeconds(100));
        return RestClient.builder().baseUrl("http://service")
                .requestInterceptor(new FailoverInterceptor(policy, all, request -> request.getMethod() == HttpMethod.PUT)).build();
    }

    private static String post(RestClient client) {
        return client.post().uri("/a/{b}?q={c}", "x y", "1&2").body("body").retrieve().body(String.class);
    }

    private List<Integer> counts() {
        return replicas.stream().map(replica -> replica.requests().size()).toList();
    }

    @Test
    void whatTheGateTurnsAwayGoesToTheNextReplica() throws Exception {
        RestClient client = client(4, Replica.Mood.GATE, Replica.Mood.GATE, Replica.Mood.FREE);
        for (int i = 0; i < 4; i++) {
            assertEquals("2 POST /a/x%20y?q=1%262 body", post(client));
        }
        assertEquals(List.of(1, 1, 4), counts());
    }

    @Test
    void whenAllAreBusyOneIsToldToKeepTheRequest() throws Exception {
        RestClient client = client(3, Replica.Mood.GATE, Replica.Mood.GATE);
        assertTrue(post(client).endsWith("body"));
        assertEquals(1, replicas.stream().flatMap(replica -> replica.requests().stream()).filter(text -> !text.equals("null")).count());
    }

    @Test
    void theLastAnswerIsTheCallers() throws Exception {
        RestClient client = client(2, Replica.Mood.RETRY_AFTER, Replica.Mood.RETRY_AFTER, Replica.Mood.RETRY_AFTER);
        assertThrows(HttpServerErrorException.ServiceUnavailable.class, () -> client.put().uri("/").retrieve().toBodilessEntity());
        assertEquals(2, counts().stream().mapToInt(i -> i).sum());
        // Not proved to be unprocessed, and not idempotent.
        assertThrows(HttpServerErrorException.ServiceUnavailable.class, () -> post(client));
        assertEquals(3, counts().stream().mapToInt(i -> i).sum());
    }

    @Test
    void aConnectionThatBreaksIsRepeatedIfTheCallerSaysSo() throws Exception {
        RestClient client = client(3, Replica.Mood.DROPS, Replica.Mood.FREE);
        assertThrows(ResourceAccessException.class, () -> post(client));
        assertEquals(0, counts().get(1));
        replicas.get(0).mood(Replica.Mood.FREE);
        replicas.get(1).mood(Replica.Mood.DROPS);
        assertTrue(client.put().uri("/p").retrieve().body(String.class).startsWith("0 PUT /p"));
    }

    @Test
    void whatAClientMayRepeatByItselfIsSentOnceIfItCannotBeReached() throws Exception {
        for (HttpMethod method : List.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.POST)) {
            for (boolean idempotent : new boolean[] {false, true}) {
                AtomicInteger sent = new AtomicInteger();
                HttpRequest request = new JdkClientHttpRequestFactory().createRequest(URI.create("http://service/"), method);
                assertThrows(ConnectException.class, () -> interceptor(idempotent).intercept(request, new byte[0], (to, body) -> {
                    sent.incrementAndGet();
                    throw new ConnectException("nobody is there");
                }));
                assertEquals(idempotent || method == HttpMethod.POST ? 3 : 1, sent.get(), method + " " + idempotent);
            }
        }
    }

    @Test
    void aRequestWaitsUntilAReplicaIsFree() throws Exception {
        RestClient client = client(9, Replica.Mood.RETRY_AFTER);
        CompletableFuture<String> waits = CompletableFuture.supplyAsync(() -> client.put().uri("/p").retrieve().body(String.class),
                task -> new Thread(task).start());
        while (counts().get(0) == 0) {
            Thread.sleep(1);
        }
        replicas.get(0).mood(Replica.Mood.FREE);
        // By itself it would go on after 10 seconds.
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(8);
        while (!waits.isDone()) {
            assertTrue(System.nanoTime() < end, "it still waits");
            // Another one's first attempt does not wait, and its answer shows that the replica is free again.
            assertTrue(post(client).startsWith("0 POST"));
            Thread.sleep(10);
        }
        assertTrue(waits.get().startsWith("0 PUT /p"));
    }

    @Test
    void whoIsInterruptedWaitsNoMore() throws Exception {
        RestClient client = client(9, Replica.Mood.RETRY_AFTER);
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                client.put().uri("/p").retrieve().toBodilessEntity();
                failure.complete(null);
            } catch (ResourceAccessException e) {
                failure.complete(Thread.interrupted() ? e.getCause() : e);
            }
        });
        thread.start();
        while (counts().get(0) == 0) {
            Thread.sleep(1);
        }
        Thread.sleep(200);
        thread.interrupt();
        assertInstanceOf(IOException.class, failure.get(5, TimeUnit.SECONDS));
    }

    private static FailoverInterceptor interceptor() {
        return interceptor(true);
    }

    private static FailoverInterceptor interceptor(boolean idempotent) {
        Replicas<URI> nobody = Replicas.of(List.of(URI.create("http://127.0.0.1:1"), URI.create("http://127.0.0.1:2")));
        return new FailoverInterceptor(new FailoverPolicy(3, Duration.ofSeconds(100)), nobody, request -> idempotent);
    }

    private static HttpRequest request() throws IOException {
        return new JdkClientHttpRequestFactory().createRequest(URI.create("http://service/"), HttpMethod.GET);
    }

    @Test
    void nothingIsRepeatedByAThreadThatIsInterrupted() throws Exception {
        AtomicInteger sent = new AtomicInteger();
        HttpRequest request = request();
        try {
            IOException e = assertThrows(IOException.class, () -> interceptor().intercept(request, new byte[0], (to, body) -> {
                sent.incrementAndGet();
                Thread.currentThread().interrupt();   // as request factories do that have been interrupted
                throw new IOException("expected");
            }));
            assertEquals("expected", e.getMessage());
        } finally {
            assertTrue(Thread.interrupted());
        }
        assertEquals(1, sent.get());
    }

    @Test
    void anAnswerThatCannotBeReadIsClosed() throws Exception {
        AtomicInteger closed = new AtomicInteger();
        HttpRequest request = request();
        ClientHttpResponse broken = new ClientHttpResponse() {
            @Override
            public HttpStatusCode getStatusCode() throws IOException {
                throw new IOException("expected");
            }

            @Override
            public String getStatusText() {
                return "";
            }

            @Override
            public InputStream getBody() {
                return InputStream.nullInputStream();
            }

            @Override
            public HttpHeaders getHeaders() {
                return new HttpHeaders();
            }

            @Override
            public void close() {
                closed.incrementAndGet();
            }
        };
        assertThrows(IOException.class, () -> interceptor().intercept(request, new byte[0], (to, body) -> broken));
        assertEquals(1, closed.get());
    }
}
