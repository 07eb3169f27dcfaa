// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.requests.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import lull.LullJvm;
import lull.RequestCounter;
import lull.Requests;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The handler in a server on a real event loop, asked over real sockets. */
class RequestsHandlerTest {
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private static HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
        return CLIENT.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).timeout(Duration.ofSeconds(60)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    /** Three times on connections that are kept, if the server keeps them; each a bracket. */
    private static void check(Server.Transport transport, String path, int status, String body) throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            try (Server server = new Server(transport, true, () -> "depth " + counter.depth())) {
                for (int i = 1; i <= 3; i++) {
                    HttpResponse<String> answer = get(server.port(), path);
                    assertEquals(status, answer.statusCode(), path);
                    assertEquals(body, answer.body(), path);
                    assertEquals((i + " ").repeat(3).trim(), counter.countsAfter(i), path);
                }
            }
            assertEquals("3 3 3", counter.counts(), path);
        }
    }

    @ParameterizedTest
    @EnumSource
    void eachRequestIsBracketed(Server.Transport transport) throws Exception {
        check(transport, "/flush", 200, "depth 1");
        check(transport, "/write", 200, "depth 1");
        check(transport, "/nowhere", 404, "");
    }

    @ParameterizedTest
    @EnumSource
    void alsoThoseThatFail(Server.Transport transport) throws Exception {
        check(transport, "/throw", 500, "expected");
    }

    @ParameterizedTest
    @EnumSource
    void otherThreadsAreNot(Server.Transport transport) throws Exception {
        check(transport, "/later", 200, "depth 0");
    }

    @ParameterizedTest
    @EnumSource
    void alsoTheLastOfAConnection(Server.Transport transport) throws Exception {
        check(transport, "/close", 200, "depth 1");
    }

    @ParameterizedTest
    @EnumSource
    void theHandlerMayBeRemovedInARequest(Server.Transport transport) throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            try (Server server = new Server(transport, true, () -> "depth " + counter.depth()); Client client = new Client(server.port())) {
                client.send("/remove", 1);
                client.receive("depth 0", 1);
                client.send("/flush", 1);
                client.receive("depth 0", 1);
            }
            assertEquals("1 1 1", counter.counts());
        }
    }

    @ParameterizedTest
    @EnumSource
    void theChannelMayLeaveItsEventLoopInARequest(Server.Transport transport) throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            try (Server server = new Server(transport, true, () -> "depth " + counter.depth()); Client client = new Client(server.port())) {
                client.send("/deregister", 1);
                client.receive("depth 1", 1);
                assertEquals("1 1 1", counter.countsAfter(1));
            }
            assertEquals("1 1 1", counter.counts());
        }
    }

    /** A transport that has failed need not say that its read is complete. */
    @Test
    void readsThatAreNeverComplete() {
        try (RequestCounter counter = new RequestCounter()) {
            EmbeddedChannel channel = new EmbeddedChannel(new RequestsHandler());
            channel.writeOneInbound("one");
            channel.writeOneInbound("two");
            assertEquals("1 0 0", counter.counts().substring(0, 5));
            channel.deregister();
            assertEquals("1 1 1", counter.counts());
            assertEquals("one", channel.readInbound());
            assertEquals("two", channel.readInbound());
        }
    }

    /** What comes together is one request. Neither connections nor closes nor silence are requests. */
    @ParameterizedTest
    @EnumSource
    void pipelined(Server.Transport transport) throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            try (Server server = new Server(transport, true, () -> "depth " + counter.depth())) {
                try (Client client = new Client(server.port()); Client silent = new Client(server.port())) {
                    client.send("/write", 10);
                    client.receive("depth 1", 10);
                    assertEquals("1 1 1", counter.countsAfter(1));
                    client.send("/write", 5);
                    client.receive("depth 1", 5);
                    assertTrue(silent.isSilent());
                }
                Thread.sleep(100);
            }
            assertEquals("2 2 2", counter.counts());
        }
    }

    /** A request of many reads, which the client sends in pieces, is as many brackets as Netty reads it in; all are ended. */
    @ParameterizedTest
    @EnumSource
    void large(Server.Transport transport) throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            try (Server server = new Server(transport, true, () -> "depth " + counter.depth()); Client client = new Client(server.port())) {
                client.out.write(("POST /flush HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
                for (int i = 0; i < 9; i++) {
                    client.out.write(new byte[100_000]);
                    client.out.flush();
                    Thread.sleep(20);
                }
                client.receive("depth 1", 1);
                counter.countsAfter(counter.begun());
            }
            assertTrue(counter.begun() > 1, counter.counts());
            assertEquals((counter.begun() + " ").repeat(3).trim(), counter.counts());
        }
    }

    @ParameterizedTest
    @EnumSource
    void manyConnections(Server.Transport transport) throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            try (Server server = new Server(transport, true, () -> "depth " + counter.depth())) {
                Thread[] clients = new Thread[4];
                for (int t = 0; t < clients.length; t++) {
                    clients[t] = new Thread(() -> {
                        try (Client client = new Client(server.port())) {
                            for (int i = 0; i < 250; i++) {
                                client.send("/flush", 1);
                                client.receive("depth 1", 1);
                            }
                        } catch (IOException e) {
                            throw new IllegalStateException(e);
                        }
                    });
                    clients[t].start();
                }
                for (Thread client : clients) {
                    client.join();
                }
                counter.countsAfter(1000);
            }
            assertEquals("1000 1000 1000", counter.counts());
        }
    }

    @ParameterizedTest
    @EnumSource
    void noClientWaitsForACollection(Server.Transport transport) throws Exception {
        for (String path : new String[] {"/flush", "/write", "/throw"}) {
            CountDownLatch answered = new CountDownLatch(1);
            try (RequestCounter counter = new RequestCounter(() -> await(answered))) {
                try (Server server = new Server(transport, true, () -> "depth " + counter.depth())) {
                    try {
                        get(server.port(), path);
                    } finally {
                        answered.countDown();
                    }
                }
                assertEquals("1 1 1", counter.counts(), path);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void withoutLullAnswersAreTheSame(Server.Transport transport) throws Exception {
        assertFalse(Requests.heard());
        try (Server server = new Server(transport, true, () -> "body")) {
            assertEquals("body", get(server.port(), "/flush").body());
            assertEquals("body", get(server.port(), "/write").body());
        }
    }

    private static long localCollections(Server.Transport transport, boolean bracketed, int requests) throws Exception {
        try (LullJvm jvm = LullJvm.start(Server.class, transport, bracketed); Client client = new Client(jvm.port())) {
            for (int i = 0; i < requests; i++) {
                client.send("/flush", 1);
                client.receive("1024", 1);
            }
            return jvm.localCollections();
        }
    }

    /** The JVM sees no wait of Netty's own transport. */
    @Test
    void anEventLoopCollectsAtTheEndOfEachRequest() throws Exception {
        int requests = 100;
        long with = localCollections(Server.Transport.EPOLL, true, requests);
        assertTrue(with >= requests * 9 / 10, with + " local collections in " + requests + " requests");
        long without = localCollections(Server.Transport.EPOLL, false, requests);
        assertTrue(without <= requests / 2, without + " local collections in " + requests + " requests without the handler");
        with = localCollections(Server.Transport.NIO, true, requests);
        assertTrue(with >= requests * 9 / 10, with + " local collections in " + requests + " requests on NIO");
    }

    private static final class Client implements AutoCloseable {
        private final Socket socket;
        private final InputStream in;
        final OutputStream out;

        Client(int port) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(60_000);
            in = socket.getInputStream();
            out = socket.getOutputStream();
        }

        /** Sends requests in one piece. */
        void send(String path, int times) throws IOException {
            out.write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").repeat(times).getBytes(StandardCharsets.US_ASCII));
        }

        void receive(String body, int times) throws IOException {
            String expected = ("HTTP/1.1 200 OK\r\ncontent-length: " + body.length() + "\r\n\r\n" + body).repeat(times);
            assertEquals(expected, new String(in.readNBytes(expected.length()), StandardCharsets.US_ASCII));
        }

        boolean isSilent() throws IOException {
            socket.setSoTimeout(50);
            try {
                in.read();
                return false;
            } catch (SocketTimeoutException e) {
                return true;
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
