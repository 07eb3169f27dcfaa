// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.lucene;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import lull.bench.service.Service;
import org.apache.lucene.queryparser.classic.ParseException;

/** The JDK's HTTP server on 127.0.0.1 with one request: {@code GET /search?q=QUERY}. */
final class LuceneServer implements Service.Running {
    private static final int STOP_SECONDS = 1;

    private final Searches searches;
    private final HttpServer server;
    private final ExecutorService executor;

    /** Takes {@code searches} and closes them in the end. */
    LuceneServer(Searches searches, int port, int threads) throws IOException {
        // The server's class reads them once. A load's connections persist, and answers must not wait for more to send.
        System.setProperty("sun.net.httpserver.idleInterval", "600");
        System.setProperty("sun.net.httpserver.nodelay", "true");
        this.searches = searches;
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port), 0);
        } catch (IOException e) {
            searches.close();
            throw new IOException("the HTTP server did not start on port " + port + ": " + e.getMessage(), e);
        }
        executor = Executors.newFixedThreadPool(threads, Thread.ofPlatform().name("request-", 0).factory());
        server.setExecutor(executor);
        server.createContext("/", this::handle);
        server.start();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String query = exchange.getRequestURI().getRawQuery();
            int status = 200;
            String answer;
            if (!exchange.getRequestMethod().equals("GET") || !exchange.getRequestURI().getPath().equals("/search")) {
                status = 404;
                answer = "there is only GET /search?q=QUERY\n";
            } else if (query == null || !query.startsWith("q=")) {
                status = 400;
                answer = "the parameter 'q' is missing\n";
            } else {
                try {
                    answer = searches.answer(URLDecoder.decode(query.substring(2), StandardCharsets.UTF_8));
                } catch (ParseException | IllegalArgumentException e) {
                    status = 400;
                    answer = "this is no query: " + e.getMessage() + "\n";
                }
            }
            byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", status == 200 ? "application/json" : "text/plain; charset=utf-8");
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    @Override
    public int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() throws IOException {
        server.stop(STOP_SECONDS);
        // Waits for what still runs: an index that is closed under a search may end the process.
        executor.close();
        searches.close();
    }
}
