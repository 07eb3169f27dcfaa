// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A service and its clients in one JVM, for agents to look at: each request makes garbage that nobody else sees. Prints
 * "warm" after a number of requests, "served" after more, and goes on until its standard input ends.
 */
public class Service {
    private static final int THREADS = 4;
    private static final int WARM = 4_000;
    private static final int REQUESTS = 12_000;
    private static final int LINES = 1500;

    static volatile boolean done;
    static final AtomicInteger served = new AtomicInteger();

    static int answer(int lines) {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < lines; i++) {
            all.add("line " + i);
        }
        int length = 0;
        for (String line : all) {
            length += line.length();
        }
        return length;
    }

    static void serve(HttpExchange exchange) throws IOException {
        byte[] body = Integer.toString(answer(LINES)).getBytes(StandardCharsets.US_ASCII);
        exchange.sendResponseHeaders(200, body.length);
        try (var out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    static void ask(URL url, String expected) {
        try {
            while (!done) {
                try (var in = url.openConnection().getInputStream()) {
                    String body = new String(in.readAllBytes(), StandardCharsets.US_ASCII);
                    if (!body.equals(expected)) {
                        throw new AssertionError("answer " + body + " instead of " + expected);
                    }
                }
                int count = served.incrementAndGet();
                if (count == WARM || count == REQUESTS) {
                    System.out.println(count == WARM ? "warm" : "served");
                }
                Thread.sleep(1);
            }
        } catch (Throwable t) {
            t.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newFixedThreadPool(THREADS));
        server.createContext("/", Service::serve);
        server.start();
        URL url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/").toURL();
        String expected = Integer.toString(answer(LINES));
        for (int i = 0; i < THREADS; i++) {
            Thread client = new Thread(() -> ask(url, expected), "client-" + i);
            client.setDaemon(true);
            client.start();
        }
        while (System.in.read() >= 0) {
            // Nothing is said there.
        }
        done = true;
        System.exit(0);
    }
}
