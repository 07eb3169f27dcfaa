// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;

/**
 * The page of a running JVM, for browsers on this machine: each look dumps its recording and makes the page anew, one at a time. There is
 * nothing that can be changed by a request; so that other pages cannot make the JVM work, theirs are refused, as far as browsers say whose they are.
 * Who begins a request and does not end it has a thread for some seconds, and keeps nobody else waiting.
 */
final class PageServer {
    static {
        // The server reads them when it is made first. Seconds that a request may take to come; connections at once, of each of which a thread may read.
        limit("sun.net.httpserver.maxReqTime", "10");
        limit("jdk.httpserver.maxConnections", "64");
    }

    private final RunningJvm jvm;
    private final Arguments arguments;
    private final HttpServer server;

    PageServer(RunningJvm jvm, Arguments arguments) throws InputException, IOException {
        this.jvm = jvm;
        this.arguments = arguments;
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), arguments.port()), 0);
        } catch (BindException e) {
            throw new InputException(InputException.USAGE, "--serve " + arguments.port() + ": " + e.getMessage()
                    + "; give a port that is free and allowed, or 0");
        }
        server.createContext("/", this::answer);
        // Without, its only thread reads what comes, too.
        server.setExecutor(Executors.newCachedThreadPool(work -> {
            Thread thread = new Thread(work, "page");
            thread.setDaemon(true);
            return thread;
        }));
    }

    private static void limit(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }

    void start() {
        server.start();
    }

    void stop() {
        server.stop(0);
    }

    String address() {
        return "http://localhost:" + server.getAddress().getPort() + "/";
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String host = exchange.getRequestHeaders().getFirst("Host");
            if (host == null || !host.matches("(localhost|127\\.0\\.0\\.1|\\[::1\\])(:\\d+)?")) {
                // A page from elsewhere, whose name was made to lead here.
                send(exchange, 403, "text/plain", "Only as localhost.\n");
            } else if (!List.of("none", "same-origin").contains(site(exchange))) {
                send(exchange, 403, "text/plain", "Not from another page; type the address.\n");
            } else if (!List.of("GET", "HEAD").contains(exchange.getRequestMethod())) {
                send(exchange, 405, "text/plain", "There is only GET.\n");
            } else if (!exchange.getRequestURI().getPath().equals("/")) {
                send(exchange, 404, "text/plain", "There is only one page, /.\n");
            } else {
                sendPage(exchange);
            }
        }
    }

    /** Who asks, as browsers say it: a user who has typed the address, the page itself, or another page. What is no browser says nothing. */
    private static String site(HttpExchange exchange) {
        String site = exchange.getRequestHeaders().getFirst("Sec-Fetch-Site");
        return site == null ? "none" : site;
    }

    private synchronized void sendPage(HttpExchange exchange) throws IOException {
        Path recording = Files.createTempFile("lull-doctor", ".jfr");
        try {
            jvm.dump(recording);
            send(exchange, 200, "text/html", Main.page(RecordingReader.read(recording), arguments));
        } catch (InputException e) {
            send(exchange, 503, "text/plain", e.getMessage() + "\n");
        } catch (RuntimeException | OutOfMemoryError e) {
            send(exchange, 503, "text/plain", InputException.unforeseen(e).getMessage() + "\n");
        } finally {
            Files.deleteIfExists(recording);
        }
    }

    private static void send(HttpExchange exchange, int status, String type, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type + "; charset=utf-8");
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        exchange.getResponseHeaders().set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
        boolean head = exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(status, head ? -1 : body.length);
        if (!head) {
            exchange.getResponseBody().write(body);
        }
    }
}
