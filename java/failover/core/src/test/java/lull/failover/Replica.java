// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** An HTTP server of this process that answers, or is busy as the gate says it, or in other ways. For tests. */
public final class Replica implements AutoCloseable {
    /** What a replica does with a request. */
    public enum Mood {
        /** Answers 200 with its number, the method, the target and the body. */
        FREE,
        /** As the gate: busy, unless the client has patience. */
        GATE,
        /** 503 with Retry-After, whatever the client says. */
        RETRY_AFTER,
        /** 503 and nothing else. */
        FAILED,
        /** Takes the request and closes the connection. */
        DROPS,
        /** Answers when told to, or closed. */
        HANGS,
        /** Begins an answer and closes the connection. */
        BREAKS,
        /** The same, but closes it only when told to, or closed. */
        STALLS
    }

    private final int number;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final List<String> patience = new CopyOnWriteArrayList<>();
    private volatile Mood mood;

    /** A replica at a port of its own. */
    public Replica(int number, Mood mood) throws IOException {
        this.number = number;
        this.mood = mood;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            String said = exchange.getRequestHeaders().getFirst(Busy.PATIENCE);
            patience.add(String.valueOf(said));
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            Mood now = this.mood;
            if (now == Mood.BREAKS || now == Mood.STALLS) {
                exchange.sendResponseHeaders(200, 1000);
                exchange.getResponseBody().write(number);
                exchange.getResponseBody().flush();
            }
            if (now == Mood.HANGS || now == Mood.STALLS) {
                await(closed);
            }
            if (now == Mood.BREAKS || now == Mood.STALLS) {
                exchange.close();
                return;
            }
            if (now == Mood.DROPS) {
                exchange.close();
                return;
            }
            if (now == Mood.GATE && said == null) {
                exchange.getResponseHeaders().set("Busy-Until", "5000");
            }
            if (now == Mood.RETRY_AFTER) {
                exchange.getResponseHeaders().set("Retry-After", "60");
            }
            boolean free = now == Mood.FREE || now == Mood.HANGS || now == Mood.GATE && said != null;
            byte[] answer = (free ? number + " " + exchange.getRequestMethod() + " " + exchange.getRequestURI() + " " + body : "not now")
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(free ? 200 : 503, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Its scheme, host and port. */
    public URI uri() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    /** Changes what it does. */
    public void mood(Mood mood) {
        this.mood = mood;
    }

    /** Answers what hangs. */
    public void answer() {
        closed.countDown();
    }

    /** What each request said of its client's patience, "null" if nothing. */
    public List<String> requests() {
        return List.copyOf(patience);
    }

    @Override
    public void close() {
        answer();
        server.stop(0);
        threads.shutdown();
    }
}
