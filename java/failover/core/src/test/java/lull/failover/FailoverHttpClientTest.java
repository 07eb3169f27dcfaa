// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import static lull.failover.Replica.Mood.DROPS;
import static lull.failover.Replica.Mood.FAILED;
import static lull.failover.Replica.Mood.FREE;
import static lull.failover.Replica.Mood.GATE;
import static lull.failover.Replica.Mood.HANGS;
import static lull.failover.Replica.Mood.RETRY_AFTER;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

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
        assertEquals(List.of(1, 1, 1), counts());
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
        assertEquals(List.of(1, 1, 0), counts());
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
        FailoverPolicy hedging = new FailoverPolicy(5, LONG, Optional.of(Duration.ofMillis(20)));
        FailoverHttpClient client = client(hedging, HANGS, FREE, FREE);
        assertEquals("1", post(client, true).body().substring(0, 1));
        assertEquals(List.of(1, 1, 0), counts());
        replicas.get(1).mood(HANGS);
        replicas.get(2).mood(HANGS);
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://service/")).build();
        var both = client.sendAsync(request, BodyHandlers.ofString(), true);
        var one = client.sendAsync(request, BodyHandlers.ofString(), false);
        while (counts().stream().mapToInt(i -> i).sum() < 5) {
            Thread.sleep(5);
        }
        Thread.sleep(100);
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
}
