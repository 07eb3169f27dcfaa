// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.service;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;

/** The JDK's HTTP server on 127.0.0.1, as a front for a library that has none. */
public final class HttpFront implements AutoCloseable {
    private static final int STOP_SECONDS = 1;

    private final HttpServer server;
    private final ExecutorService executor;

    /** Answers requests; called by many threads at once. */
    public interface Handler {
        Answer answer(Request request) throws IOException;
    }

    /**
     * A request.
     *
     * @param query what follows the question mark, still encoded; null if there is none
     * @param body empty if there is none
     */
    public record Request(String method, String path, String query, String body) { }

    /** An answer: JSON if its status is 200, else plain text that says what is wrong. */
    public record Answer(int status, String text) {
        public static Answer ok(String json) {
            return new Answer(200, json);
        }
    }

    /**
     * Starts the server.
     *
     * @param port to listen on; 0 chooses a free one
     * @param threads that call {@code handler}, if they are platform threads ({@link RequestThreads})
     */
    public HttpFront(int port, int threads, Handler handler) throws IOException {
        // The server's class reads them once. A load's connections persist, and answers must not wait for more to send.
        System.setProperty("sun.net.httpserver.idleInterval", "600");
        System.setProperty("sun.net.httpserver.nodelay", "true");
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port), 0);
        } catch (IOException e) {
            throw new IOException("the HTTP server did not start on port " + port + ": " + e.getMessage(), e);
        }
        executor = RequestThreads.executor(threads);
        server.setExecutor(executor);
        server.createContext("/", exchange -> handle(exchange, handler));
        server.start();
    }

    private static void handle(HttpExchange exchange, Handler handler) throws IOException {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            Answer answer = handler.answer(new Request(exchange.getRequestMethod(), exchange.getRequestURI().getPath(),
                    exchange.getRequestURI().getRawQuery(), body));
            byte[] bytes = answer.text.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", answer.status == 200 ? "application/json" : "text/plain; charset=utf-8");
            exchange.sendResponseHeaders(answer.status, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    /** Returns where it listens. */
    public int port() {
        return server.getAddress().getPort();
    }

    /** Stops accepting and waits for what still runs. */
    @Override
    public void close() {
        server.stop(STOP_SECONDS);
        executor.close();
    }
}
