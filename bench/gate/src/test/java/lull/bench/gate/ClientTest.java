// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import lull.bench.load.FixedRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A client against servers that are busy by script. */
class ClientTest {
    private static final String TEXT = "the answer";

    private final List<HttpServer> servers = new ArrayList<>();
    private final List<List<String>> deadlines = new ArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    /** A server that answers 503 with {@code busyMillis} while the deadline is short, if that is not negative. */
    private int server(int busyMillis, CountDownLatch hold) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        List<String> asked = new ArrayList<>();
        deadlines.add(asked);
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            String deadline = exchange.getRequestHeaders().getFirst("x-envoy-expected-rq-timeout-ms");
            synchronized (asked) {
                asked.add(deadline);
            }
            byte[] body = TEXT.getBytes(StandardCharsets.UTF_8);
            try {
                hold.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            if (busyMillis >= 0 && Integer.parseInt(deadline) < 1000) {
                exchange.getResponseHeaders().add("Busy-Until", "" + busyMillis);
                exchange.sendResponseHeaders(503, -1);
            } else {
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            }
            exchange.close();
        });
        server.start();
        servers.add(server);
        return server.getAddress().getPort();
    }

    private static final CountDownLatch OPEN = new CountDownLatch(0);

    private Client client(Strategy strategy, long hedgeNanos, int... ports) {
        return new Client(List.of(FixedRequest.get("/", TEXT)), ports, new HttpWire(ports), strategy, 20, hedgeNanos, threads);
    }

    @AfterEach
    void stop() {
        servers.forEach(server -> server.stop(0));
        threads.shutdownNow();
    }

    @Test
    void goesToTheNextAndGivesTheLastAllTheTime() throws Exception {
        int[] ports = {server(50, OPEN), server(50, OPEN), server(50, OPEN)};
        try (Client client = client(Strategy.FAIL_OVER, 0, ports)) {
            client.send(1);
            assertEquals(3, client.attempts());
            assertEquals(2, client.busy());
        }
        assertEquals(List.of(List.of("120000"), List.of("20"), List.of("20")), deadlines);
    }

    @Test
    void doesNotAskAgainBeforeTheHint() throws Exception {
        int[] ports = {server(60_000, OPEN), server(-1, OPEN), server(-1, OPEN)};
        try (Client client = client(Strategy.FAIL_OVER_WITH_HINT, 0, ports)) {
            for (int i = 0; i < 6; i++) {
                client.send(3 * i);
            }
            assertEquals(7, client.attempts());
            assertEquals(1, client.busy());
        }
        assertEquals(1, deadlines.getFirst().size());
    }

    @Test
    void hedgesWhenTheFirstDoesNotAnswer() throws Exception {
        CountDownLatch hold = new CountDownLatch(1);
        int[] ports = {server(-1, hold), server(-1, OPEN)};
        try (Client client = client(Strategy.HEDGE, 1_000_000, ports)) {
            client.send(0);
            assertEquals(2, client.attempts());
        } finally {
            hold.countDown();
        }
    }

    @Test
    void leavesAReplicaThatStopsAndDoesNotAskItUntilItRuns() throws Exception {
        CountDownLatch hold = new CountDownLatch(1);
        int[] ports = {server(-1, hold), server(-1, OPEN)};
        try (Client client = client(Strategy.TOLD, 0, ports)) {
            Thread stop = new Thread(() -> {
                while (client.attempts() == 0) {
                    Thread.onSpinWait();
                }
                GateDatagrams.tell(client, "lull-gate 1 4711 " + ports[0] + " busy 60000\n");
            });
            stop.start();
            client.send(0);
            stop.join();
            assertEquals(2, client.attempts());
            client.send(0);
            assertEquals(3, client.attempts());
            hold.countDown();
            GateDatagrams.tell(client, "lull-gate 1 4711 " + ports[0] + " runs\n");
            // A pause shorter than the deadline is waited for.
            GateDatagrams.tell(client, "lull-gate 1 4711 " + ports[1] + " busy 20\n");
            client.send(0);
            assertEquals(4, client.attempts());
        } finally {
            hold.countDown();
        }
    }

    @Test
    void aWrongAnswerIsAnError() throws Exception {
        int[] ports = {server(-1, OPEN)};
        try (Client client = new Client(List.of(FixedRequest.get("/", "another")), ports, new HttpWire(ports), Strategy.WAIT, 20, 0, threads)) {
            assertThrows(Client.WrongAnswerException.class, () -> client.send(0));
        }
    }
}
