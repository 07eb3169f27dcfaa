// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import static lull.failover.Replica.Mood.BREAKS;
import static lull.failover.Replica.Mood.DROPS;
import static lull.failover.Replica.Mood.FAILED;
import static lull.failover.Replica.Mood.FREE;
import static lull.failover.Replica.Mood.GATE;
import static lull.failover.Replica.Mood.HANGS;
import static lull.failover.Replica.Mood.RETRY_AFTER;
import static lull.failover.Replica.Mood.STALLS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.net.ssl.SSLSession;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FailoverHttpClientTest {
    private static final Duration LONG = Duration.ofSeconds(100);

    private final List<Replica> replicas = new ArrayList<>();

    @AfterEach
    void close() {
        replicas.forEach(Replica::close);
    }

    private FailoverHttpClient client(FailoverPolicy policy, Replica.Mood... moods) throws IOException {
        for (Replica.Mood mood : moods) {
            replicas.add(new Replica(replicas.size(), mood));
        }
        return client(policy, replicas.stream().map(Replica::uri));
    }

    private static FailoverHttpClient client(FailoverPolicy policy, Stream<URI> uris) {
        return new FailoverHttpClient(HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build(), policy, Replicas.of(uris.toList()));
    }

    private static HttpResponse<String> post(FailoverHttpClient client, boolean idempotent) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://service/a%20b?q=1%262")).POST(BodyPublishers.ofString("body")).build();
        return client.send(request, BodyHandlers.ofString(), idempotent);
    }

    private List<Integer> counts() {
        return replicas.stream().map(replica -> replica.requests().size()).toList();
    }

    @Test
    void whatTheGateTurnsAwayGoesToTheNextReplicaOnce() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(4, LONG), GATE, GATE, FREE);
        HttpResponse<String> response = post(client, false);
        assertEquals("2 POST /a%20b?q=1%262 body", response.body());
        assertEquals(1, counts().get(0));
        assertEquals(1, counts().get(2));
        // The others are not asked again before their time.
        for (int i = 0; i < 5; i++) {
            assertEquals(200, post(client, false).statusCode());
        }
        assertEquals(List.of(1, 1, 6), counts());
    }

    @Test
    void whenAllAreBusyOneIsToldToKeepTheRequest() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(4, LONG), GATE, GATE);
        assertEquals(200, post(client, false).statusCode());
        assertEquals(3, counts().stream().mapToInt(i -> i).sum());
        List<String> said = replicas.stream().flatMap(replica -> replica.requests().stream()).filter(text -> !text.equals("null")).toList();
        assertEquals(1, said.size());
        assertTrue(Long.parseLong(said.get(0)) > 1000 && Long.parseLong(said.get(0)) <= 100_000, said.get(0));
    }

    @Test
    void theNumberOfAttemptsIsBounded() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(2, LONG), RETRY_AFTER, RETRY_AFTER, RETRY_AFTER);
        HttpResponse<String> response = post(client, true);
        assertEquals(503, response.statusCode());
        assertEquals("not now", response.body());
        assertEquals(2, counts().stream().mapToInt(i -> i).sum());
        assertEquals(1, counts().get(0));
    }

    @Test
    void theLastAnswerIsWholeIfNobodyIsFreeInTime() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(3, Duration.ofSeconds(2)), RETRY_AFTER, RETRY_AFTER);
        HttpResponse<String> response = post(client, true);
        assertEquals(503, response.statusCode());
        assertEquals("not now", response.body());
        assertEquals(List.of(1, 1), counts());
    }

    @Test
    void aHintOfOthersIsNoProof() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(3, LONG), RETRY_AFTER, FREE);
        assertEquals(503, post(client, false).statusCode());
        assertEquals(List.of(1, 0), counts());
        replicas.get(1).mood(RETRY_AFTER);
        assertEquals(503, post(client, false).statusCode());
        assertEquals(List.of(1, 1), counts());
    }

    @Test
    void otherFailuresAreTheCallers() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(3, LONG), FAILED, FREE);
        assertEquals(503, post(client, true).statusCode());
        assertEquals(List.of(1, 0), counts());
    }

    @Test
    void aConnectionThatBreaksIsRepeatedIfTheCallerSaysSo() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(3, LONG), DROPS, FREE);
        assertThrows(IOException.class, () -> post(client, false));
        assertEquals(0, replicas.get(1).requests().size());
        replicas.get(1).mood(DROPS);
        replicas.get(0).mood(FREE);
        assertEquals(200, post(client, true).statusCode());
        assertTrue(replicas.get(1).requests().size() >= 1);
    }

    @Test
    void anAnswerThatHasBegunIsNotRepeated() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(3, LONG), BREAKS, FREE);
        assertThrows(IOException.class, () -> post(client, true));
        assertEquals(List.of(1, 0), counts());
    }

    @Test
    void aClientThatFollowsRedirectsSendsOnlyWhatIsIdempotent() throws Exception {
        replicas.add(new Replica(0, FREE));
        HttpClient following = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).followRedirects(HttpClient.Redirect.NORMAL).build();
        FailoverHttpClient client = new FailoverHttpClient(following, new FailoverPolicy(2, LONG), Replicas.of(List.of(replicas.get(0).uri())));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> post(client, false)).getMessage().contains("Redirect.NEVER"));
        assertEquals(List.of(0), counts());
        assertEquals(200, post(client, true).statusCode());
    }

    @Test
    void whatTheJdkRepeatsItselfIsNotSentOnce(@TempDir Path directory) throws Exception {
        assertTrue(FailoverHttpClient.isSentOnce("POST") && !FailoverHttpClient.isSentOnce("GET") && !FailoverHttpClient.isSentOnce("HEAD"));
        Path file = directory.resolve("net.properties");
        assertFalse(FailoverHttpClient.retriesAll(FailoverHttpClient.retriesIn(file)));
        for (Map.Entry<String, Boolean> line : Map.of("jdk.httpclient.enableAllMethodRetry=true", true, "jdk.httpclient.enableAllMethodRetry=", true,
                "jdk.httpclient.enableAllMethodRetry=false", false, "#jdk.httpclient.enableAllMethodRetry=true", false, "broken=\\u12", false).entrySet()) {
            Files.writeString(file, line.getKey());
            assertEquals(line.getValue(), FailoverHttpClient.retriesAll(FailoverHttpClient.retriesIn(file)), line.getKey());
        }
    }

    @Test
    void aReplicaThatIsNotThereIsPassedBy() throws Exception {
        URI gone;
        try (ServerSocket socket = new ServerSocket(0)) {
            gone = URI.create("http://127.0.0.1:" + socket.getLocalPort());
        }
        replicas.add(new Replica(0, FREE));
        FailoverHttpClient client = client(new FailoverPolicy(2, LONG), Stream.of(gone, replicas.get(0).uri()));
        for (int i = 0; i < 4; i++) {
            assertEquals(200, post(client, false).statusCode());
        }
        FailoverHttpClient nobody = client(new FailoverPolicy(2, LONG), Stream.of(gone));
        assertThrows(IOException.class, () -> post(nobody, false));
    }

    @Test
    void aHedgeIsTheLastResortAndOnlyOne() throws Exception {
        // Long enough for the first attempt to be there before, also on a machine that others use.
        FailoverPolicy hedging = new FailoverPolicy(5, LONG, Optional.of(Duration.ofMillis(300)));
        FailoverHttpClient client = client(hedging, HANGS, FREE, FREE);
        assertEquals(200, post(client, true).statusCode());
        assertEquals(1, counts().get(0));
        assertEquals(1, counts().get(1) + counts().get(2));
        replicas.get(1).mood(HANGS);
        replicas.get(2).mood(HANGS);
        var both = client.sendAsync(request(), BodyHandlers.ofString(), true);
        var one = client.sendAsync(request(), BodyHandlers.ofString(), false);
        while (counts().stream().mapToInt(i -> i).sum() < 5) {
            Thread.sleep(5);
        }
        Thread.sleep(500);
        assertEquals(5, counts().stream().mapToInt(i -> i).sum(), "two of the idempotent request, one of the other");
        assertFalse(both.isDone() || one.isDone());
        both.cancel(true);
        one.cancel(true);
    }

    @Test
    void timeIsBounded() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(3, Duration.ofMillis(200)), HANGS, HANGS);
        assertThrows(HttpTimeoutException.class, () -> post(client, true));
        assertEquals(1, counts().stream().mapToInt(i -> i).sum(), "no time is left for another attempt");
    }

    @Test
    void timeIsBoundedForABodyToo() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(3, Duration.ofMillis(200)), STALLS, FREE);
        var body = client.sendAsync(request(), BodyHandlers.ofString(), true);
        assertInstanceOf(HttpTimeoutException.class, assertThrows(ExecutionException.class, () -> body.get(10, TimeUnit.SECONDS)).getCause());
        assertEquals(List.of(1, 0), counts());
        // A stream is the result, and what comes of it the caller's.
        replicas.get(1).mood(STALLS);
        try (InputStream stream = client.send(request(), BodyHandlers.ofInputStream(), true).body()) {
            assertEquals(1, stream.read());
            Thread.sleep(300);
            assertEquals(0, stream.available());
        }
    }

    @Test
    void aHedgeGoesToAnotherReplicaOnly() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(5, LONG, Optional.of(Duration.ofMillis(20))), HANGS);
        var answer = client.sendAsync(request(), BodyHandlers.ofString(), true);
        Thread.sleep(200);
        replicas.get(0).answer();
        assertEquals("0 GET / ", answer.get(10, TimeUnit.SECONDS).body());
        assertEquals(List.of(1), counts());
    }

    /** The second attempt is over before the first one is. */
    @Test
    void attemptsThatFailAtOnceAreCounted() {
        FailoverHttpClient client = stub(new FailoverPolicy(2, LONG), () -> CompletableFuture.failedFuture(new ConnectException("nobody is there")));
        var answer = client.sendAsync(request(), BodyHandlers.ofString(), false);
        assertInstanceOf(ConnectException.class, assertThrows(ExecutionException.class, () -> answer.get(5, TimeUnit.SECONDS)).getCause());
        IOException e = assertThrows(IOException.class, () -> client.send(request(), BodyHandlers.ofString(), false));
        assertInstanceOf(ConnectException.class, e.getCause());
    }

    @Test
    void anAnswerThatComesTooLateIsClosed() throws Exception {
        List<CompletableFuture<HttpResponse<AutoCloseable>>> asked = new ArrayList<>();
        CountDownLatch both = new CountDownLatch(2);
        FailoverHttpClient client = stub(new FailoverPolicy(2, LONG, Optional.of(Duration.ofMillis(1))), () -> {
            CompletableFuture<HttpResponse<AutoCloseable>> future = new CompletableFuture<>() {
                @Override
                public boolean cancel(boolean mayInterrupt) {
                    return false;   // the answer is already on its way
                }
            };
            asked.add(future);
            both.countDown();
            return future;
        });
        var answer = client.sendAsync(request(), info -> null, true);
        assertTrue(both.await(10, TimeUnit.SECONDS));
        CountDownLatch closed = new CountDownLatch(2);
        asked.get(1).complete(response(closed::countDown));
        answer.get(10, TimeUnit.SECONDS);
        assertEquals(2, closed.getCount(), "the caller's own");
        asked.get(0).complete(response(closed::countDown));
        assertEquals(1, closed.getCount());
    }

    @Test
    void aHedgeIsNotSentOnceTheAnswerHasBegun() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(3, LONG, Optional.of(Duration.ofSeconds(2))), STALLS, FREE);
        CountDownLatch begun = new CountDownLatch(1);
        var answer = client.sendAsync(request(), info -> {
            begun.countDown();
            return BodyHandlers.ofString().apply(info);
        }, true);
        assertTrue(begun.await(60, TimeUnit.SECONDS));
        Thread.sleep(2500);
        assertEquals(List.of(1, 0), counts());
        answer.cancel(true);
    }

    @Test
    void aReplicaIsToldToKeepARequestForItsOwnTimeOnly() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(2, LONG), GATE);
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://service/")).timeout(Duration.ofSeconds(30)).build();
        assertEquals(200, client.send(request, BodyHandlers.ofString(), true).statusCode());
        long said = Long.parseLong(replicas.get(0).requests().get(1));
        assertTrue(said > 1000 && said <= 30_000, said + " ms");
    }

    @Test
    void theTimeOfARequestIsForAllItsAttempts() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(9, LONG, Optional.of(Duration.ofMillis(1600))), HANGS, HANGS, HANGS, HANGS);
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://service/")).timeout(Duration.ofSeconds(2)).build();
        long begin = System.nanoTime();
        assertThrows(HttpTimeoutException.class, () -> client.send(request, BodyHandlers.ofString(), true));
        Duration time = Duration.ofNanos(System.nanoTime() - begin);
        assertTrue(time.toMillis() < 3200, "the second attempt has begun anew: " + time);
        // The JDK's timer may be early by a moment.
        assertTrue(counts().stream().mapToInt(i -> i).sum() <= 3, counts().toString());
    }

    @Test
    void whatTheJdkRepeatsMayHaveBeenProcessed() {
        AtomicInteger sent = new AtomicInteger();
        FailoverHttpClient client = stub(new FailoverPolicy(3, LONG), () -> {
            sent.incrementAndGet();
            return CompletableFuture.failedFuture(new ConnectException("nobody is there"));
        });
        assertThrows(IOException.class, () -> client.send(request(), BodyHandlers.ofString(), false));
        assertEquals(1, sent.getAndSet(0), "a GET, which may have been sent before");
        assertThrows(IOException.class, () -> client.send(request(), BodyHandlers.ofString(), true));
        assertEquals(3, sent.getAndSet(0));
        assertThrows(IOException.class, () -> post(client, false));
        assertEquals(3, sent.get());
    }

    /** Its timers would keep it for a day. */
    @Test
    void nothingKeepsARequestThatIsAnswered() throws Exception {
        FailoverHttpClient client = stub(new FailoverPolicy(2, Duration.ofDays(1), Optional.of(Duration.ofDays(1))),
                () -> CompletableFuture.completedFuture(response("")));
        WeakReference<HttpRequest> request = new WeakReference<>(send(client));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (request.get() != null) {
            assertTrue(System.nanoTime() < end, "still there");
            System.gc();
            Thread.sleep(10);
        }
    }

    private static HttpRequest send(FailoverHttpClient client) throws IOException, InterruptedException {
        HttpRequest request = request();
        client.send(request, BodyHandlers.ofString(), true);
        return request;
    }

    @Test
    void timeIsBoundedWhateverTheCommonPoolDoes() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(3, Duration.ofMillis(200)), HANGS);
        CountDownLatch over = new CountDownLatch(1);
        try {
            for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
                ForkJoinPool.commonPool().execute(() -> await(over));
            }
            var answer = client.sendAsync(request(), BodyHandlers.ofString(), true);
            assertInstanceOf(HttpTimeoutException.class, assertThrows(ExecutionException.class, () -> answer.get(30, TimeUnit.SECONDS)).getCause());
        } finally {
            over.countDown();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void whoWaitsGoesOnWhenTheReplicaIsFree() throws Exception {
        FailoverHttpClient client = client(new FailoverPolicy(9, LONG), RETRY_AFTER);
        var waits = client.sendAsync(request(), BodyHandlers.ofString(), true);
        while (counts().get(0) == 0) {
            Thread.sleep(1);
        }
        replicas.get(0).mood(FREE);
        // By itself it would go on after 10 seconds.
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(8);
        while (!waits.isDone()) {
            assertTrue(System.nanoTime() < end, "it still waits");
            // A first attempt does not wait, and its answer shows that the replica is free again.
            assertEquals(200, post(client, true).statusCode());
            Thread.sleep(10);
        }
        assertEquals(200, waits.get().statusCode());
    }

    private static HttpRequest request() {
        return HttpRequest.newBuilder(URI.create("http://service/")).build();
    }

    private static FailoverHttpClient stub(FailoverPolicy policy, Supplier<CompletableFuture<?>> answers) {
        List<URI> uris = List.of(URI.create("http://127.0.0.1:1"), URI.create("http://127.0.0.1:2"));
        return new FailoverHttpClient(new StubClient(answers), policy, Replicas.of(uris));
    }

    private static <T> HttpResponse<T> response(T body) {
        return new HttpResponse<>() {
            @Override
            public T body() {
                return body;
            }

            @Override
            public int statusCode() {
                return 200;
            }

            @Override
            public HttpHeaders headers() {
                return HttpHeaders.of(Map.of(), (name, value) -> true);
            }

            @Override
            public HttpRequest request() {
                return FailoverHttpClientTest.request();
            }

            @Override
            public Optional<HttpResponse<T>> previousResponse() {
                return Optional.empty();
            }

            @Override
            public Optional<SSLSession> sslSession() {
                return Optional.empty();
            }

            @Override
            public URI uri() {
                return request().uri();
            }

            @Override
            public HttpClient.Version version() {
                return HttpClient.Version.HTTP_1_1;
            }
        };
    }
}
