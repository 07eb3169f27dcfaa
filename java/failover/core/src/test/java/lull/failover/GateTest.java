// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two replicas under the gate, stopped all the time: each request is answered, and processed by one replica, once, if it may not be processed twice. */
class GateTest {
    private static final int CLIENTS = 4;
    private static final int MOST_ROUNDS = 20;

    @Test
    void eachRequestIsProcessedOnceThoughManyAreTurnedAway() throws Exception {
        try (GatedReplica one = GatedReplica.start(); GatedReplica two = GatedReplica.start()) {
            HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
            FailoverPolicy policy = new FailoverPolicy(3, Duration.ofSeconds(100));
            FailoverHttpClient client = new FailoverHttpClient(http, policy, Replicas.of(List.of(one.uri(), two.uri())));
            int sent = 0;
            int rounds = 0;
            // Until both have turned away some; on a machine that others use, a pause may take all of a round.
            while (rounds == 0 || one.answered() == 0 || two.answered() == 0) {
                assertTrue(rounds < MOST_ROUNDS, "nothing was turned away in " + sent + " requests");
                sent += round(client, rounds++, false);
            }
            Map<String, Integer> processed = one.processed();
            two.processed().forEach((target, count) -> processed.merge(target, count, Integer::sum));
            assertEquals(sent, processed.size());
            processed.forEach((target, count) -> assertEquals(1, count, target));
        }
    }

    @Test
    void clientsOfTlsAreToldByDatagrams(@TempDir Path directory) throws Exception {
        Identity identity = Identity.make(directory);
        List<URI> uris = List.of(URI.create("https://127.0.0.1:" + GatedReplica.freePort()), URI.create("https://127.0.0.1:" + GatedReplica.freePort()));
        Replicas<URI> replicas = Replicas.of(uris);
        try (GateListener listener = GateListener.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), replicas);
                GatedReplica one = GatedReplica.start(uris.get(0), told(uris.get(0), listener), identity);
                GatedReplica two = GatedReplica.start(uris.get(1), told(uris.get(1), listener), identity)) {
            FailoverHttpClient client = new FailoverHttpClient(identity.client(), new FailoverPolicy(3, Duration.ofSeconds(100)), replicas);
            int sent = 0;
            int rounds = 0;
            long before = listener.heard();
            while (rounds < 2 || listener.heard() - before < 4) {
                assertTrue(rounds < MOST_ROUNDS, "no pause was told of in " + sent + " requests");
                sent += round(client, rounds, rounds % 2 == 1);
                rounds++;
            }
            assertEquals(0, listener.strange());
            assertEquals(0, one.answered() + two.answered(), "the gate cannot read what it has answered");
            Map<String, Integer> processed = one.processed();
            two.processed().forEach((target, count) -> processed.merge(target, count, Integer::sum));
            assertEquals(sent, processed.size());
            // Those of every other round may be processed twice.
            processed.forEach((target, count) -> assertTrue(count == 1 || count == 2 && target.matches("/[0-9]*[13579]/.*"), target + " " + count));
        }
    }

    /** The options of a gate that cannot read what comes. */
    private static String told(URI uri, GateListener listener) {
        return "other-port=" + uri.getPort() + ",datagrams=127.0.0.1:" + listener.address().getPort();
    }

    /** Requests for a second; gives how many. */
    private static int round(FailoverHttpClient client, int round, boolean idempotent) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
        try {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
            List<Future<Integer>> counts = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                String prefix = "/" + round + "/" + i + "/";
                counts.add(threads.submit(() -> {
                    int n = 0;
                    while (System.nanoTime() < end) {
                        String target = prefix + n++;
                        HttpRequest request = HttpRequest.newBuilder(URI.create("http://service" + target)).POST(BodyPublishers.ofString("x")).build();
                        HttpResponse<String> response = client.send(request, BodyHandlers.ofString(), idempotent);
                        assertEquals(200, response.statusCode(), target);
                        assertEquals(target, response.body());
                    }
                    return n;
                }));
            }
            int sum = 0;
            for (Future<Integer> count : counts) {
                sum += count.get();
            }
            return sum;
        } finally {
            threads.shutdown();
        }
    }
}
