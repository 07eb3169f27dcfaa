// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A service in a JVM of its own under the gate, which System.gc stops twice a second; counts how often it has processed what. */
final class GatedReplica implements AutoCloseable {
    private static final long SECONDS = 120;

    private final Process process;
    private final Path output;
    private final URI uri;
    private final int metrics;
    private final HttpClient client;

    private GatedReplica(Process process, Path output, URI uri, int metrics, HttpClient client) {
        this.process = process;
        this.output = output;
        this.uri = uri;
        this.metrics = metrics;
        this.client = client;
    }

    /** Starts one; skips the test if LULL_GATE_LIBRARY names no agent. */
    static GatedReplica start() throws Exception {
        int port = freePort();
        return start(URI.create("http://127.0.0.1:" + port), "port=" + port + ",deadline=1", null);
    }

    /**
     * Starts one there.
     *
     * @param gate     the gate's options, but for metrics
     * @param identity of a service with TLS; null: without
     */
    static GatedReplica start(URI uri, String gate, Identity identity) throws Exception {
        String library = System.getenv("LULL_GATE_LIBRARY");
        assumeTrue(library != null && Files.exists(Path.of(library)), "LULL_GATE_LIBRARY names no liblull_gate.so (make gate)");
        int metrics = freePort();
        Path output = Files.createTempFile("lull-failover", ".log");
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xms600m", "-Xmx600m",
                "-XX:+UseParallelGC", "-XX:ParallelGCThreads=1",
                // No connection is closed because a machine that others use is slow.
                "-Dsun.net.httpserver.idleInterval=100000", "-agentpath:" + library + "=" + gate + ",metrics=" + metrics,
                "-cp", System.getProperty("java.class.path"), Main.class.getName(), Integer.toString(uri.getPort()),
                identity == null ? "" : identity.store().toString())
                .redirectErrorStream(true).redirectOutput(output.toFile()).start();
        GatedReplica replica = new GatedReplica(process, output, uri, metrics, identity == null ? HttpClient.newHttpClient() : identity.client());
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!Files.readString(output).contains("ready\n")) {
            assertTrue(process.isAlive() && System.nanoTime() < end, () -> "no server: " + replica.text());
            Thread.sleep(20);
        }
        return replica;
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    URI uri() {
        return uri;
    }

    private String text() {
        try {
            return Files.readString(output);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private String get(URI where) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(where).version(HttpClient.Version.HTTP_1_1).header(Busy.PATIENCE, "600000").build();
        return client.send(request, BodyHandlers.ofString()).body();
    }

    /** How often each target was processed. */
    Map<String, Integer> processed() throws IOException, InterruptedException {
        Map<String, Integer> counts = new ConcurrentHashMap<>();
        get(uri.resolve("/processed")).lines().forEach(line -> counts.put(line.split(" ")[0], Integer.valueOf(line.split(" ")[1])));
        return counts;
    }

    /** How many requests the gate has answered. */
    long answered() throws IOException, InterruptedException {
        Matcher matcher = Pattern.compile("(?m)^lull_gate_answered_total ([0-9]+)").matcher(get(URI.create("http://127.0.0.1:" + metrics + "/metrics")));
        assertTrue(matcher.find());
        return Long.parseLong(matcher.group(1));
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        try {
            if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                process.destroy();
            }
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
        }
        Files.delete(output);
    }

    /** The service. It ends when its input does. */
    static final class Main {
        private static final Map<String, AtomicInteger> processed = new ConcurrentHashMap<>();

        public static void main(String[] args) throws Exception {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
            HttpServer server;
            if (args[1].isEmpty()) {
                server = HttpServer.create(address, 0);
            } else {
                HttpsServer secure = HttpsServer.create(address, 0);
                secure.setHttpsConfigurator(new HttpsConfigurator(new Identity(Path.of(args[1])).context()));
                server = secure;
            }
            server.setExecutor(Executors.newFixedThreadPool(4));
            server.createContext("/", exchange -> {
                String target = exchange.getRequestURI().toString();
                exchange.getRequestBody().readAllBytes();
                StringBuilder text = new StringBuilder();
                if (target.equals("/processed")) {
                    processed.forEach((key, count) -> text.append(key).append(' ').append(count).append('\n'));
                } else {
                    processed.computeIfAbsent(target, key -> new AtomicInteger()).incrementAndGet();
                    text.append(target);
                }
                byte[] answer = text.toString().getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(200, answer.length);
                exchange.getResponseBody().write(answer);
                exchange.close();
            });
            server.start();
            // Work for a collector.
            List<Object> live = new ArrayList<>();
            for (int i = 0; i < 1_000_000; i++) {
                live.add(new long[] {i, i, i, i});
            }
            Thread pauses = new Thread(() -> {
                while (true) {
                    System.gc();
                    try {
                        Thread.sleep(500);
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            });
            pauses.setDaemon(true);
            pauses.start();
            System.out.println("ready");
            while (System.in.read() >= 0) {
                // until its end
            }
            System.exit(live.isEmpty() ? 1 : 0);
        }
    }
}
