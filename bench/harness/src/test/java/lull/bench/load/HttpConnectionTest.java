// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class HttpConnectionTest {
    private final AtomicInteger connections = new AtomicInteger();

    /** Answers the requests on one connection after the other with {@code answers} in turn; an empty one closes it. */
    private ServerSocket serve(List<String> answers) throws IOException {
        ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().start(() -> {
            int next = 0;
            try {
                while (next < answers.size()) {
                    try (Socket socket = server.accept()) {
                        connections.incrementAndGet();
                        InputStream in = socket.getInputStream();
                        while (next < answers.size() && readHead(in)) {
                            String answer = answers.get(next++);
                            socket.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
                            if (answer.isEmpty() || answer.contains("Connection: close")) {
                                break;
                            }
                        }
                    }
                }
            } catch (IOException e) {
                // The test has ended.
            }
        });
        return server;
    }

    private static boolean readHead(InputStream in) throws IOException {
        int newlines = 0;
        while (newlines < 2) {
            int c = in.read();
            if (c < 0) {
                return false;
            }
            newlines = c == '\n' ? newlines + 1 : c == '\r' ? newlines : 0;
        }
        return true;
    }

    @Test
    void lengthsChunksAndPersistence() throws IOException {
        List<String> answers = List.of("HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nhello",
                "HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        try (ServerSocket server = serve(answers); HttpConnection http = new HttpConnection(server.getLocalPort(), 5000)) {
            assertEquals("hello", new String(http.get("/").body(), StandardCharsets.US_ASCII));
            HttpConnection.Answer second = http.get("/");
            assertEquals(404, second.status());
            assertEquals("abc0123456789", new String(second.body(), StandardCharsets.US_ASCII));
            assertEquals(0, http.get("/").body().length);
            assertEquals(1, connections.get());
            assertEquals("ok", new String(http.get("/").body(), StandardCharsets.US_ASCII));
            assertEquals(2, connections.get());
        }
    }

    /** The answer 204 ends with its head; what comes next must be read as the next answer. */
    @Test
    void bodiesAreSentAndMayBeMissing() throws IOException {
        AtomicReference<String> received = new AtomicReference<>();
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
                HttpConnection http = new HttpConnection(server.getLocalPort(), 5000)) {
            Thread.ofPlatform().daemon().start(() -> {
                try (Socket socket = server.accept()) {
                    readHead(socket.getInputStream());
                    received.set(new String(socket.getInputStream().readNBytes(3), StandardCharsets.US_ASCII));
                    socket.getOutputStream().write("HTTP/1.1 204 \r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                    readHead(socket.getInputStream());
                    socket.getOutputStream().write("HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok".getBytes(StandardCharsets.US_ASCII));
                } catch (IOException e) {
                    // The test has ended.
                }
            });
            HttpConnection.Answer first = http.send("PUT", "/a", "text/plain", new byte[] {'x', 'y', 'z'});
            assertEquals(204, first.status());
            assertEquals(0, first.body().length);
            assertEquals("xyz", received.get());
            assertEquals("ok", new String(http.get("/").body(), StandardCharsets.US_ASCII));
        }
    }

    @Test
    void brokenAnswersAreErrors() throws IOException {
        for (String broken : List.of("", "SMTP\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nabc")) {
            try (ServerSocket server = serve(List.of(broken)); HttpConnection http = new HttpConnection(server.getLocalPort(), 5000)) {
                IOException e = assertThrows(IOException.class, () -> http.get("/"), broken);
                assertTrue(e.getMessage() != null);
            }
        }
    }
}
