// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.requests.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletRegistration;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import lull.RequestCounter;
import lull.RequestExecutor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The filter in real containers, asked over real sockets. */
class RequestsFilterTest {
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** The test's filter, and the servlet. */
    private static ServletContainerInitializer application(TestServlet servlet) {
        return (classes, context) -> {
            ServletRegistration.Dynamic registration = context.addServlet("test", servlet);
            registration.setAsyncSupported(true);
            registration.addMapping("/");
            RequestsFilter.addTo(context);
        };
    }

    private static HttpResponse<String> get(Container container, String path) throws IOException, InterruptedException {
        return get(container, path, Duration.ofSeconds(20));
    }

    private static HttpResponse<String> get(Container container, String path, Duration timeout) throws IOException, InterruptedException {
        return CLIENT.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + container.port() + path)).timeout(timeout).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static void check(Container.Kind kind, String errorPage, String path, int status, String body, int brackets) throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            TestServlet servlet = new TestServlet(counter);
            try (Container container = kind.start(application(servlet), errorPage, false)) {
                for (int i = 1; i <= 3; i++) {
                    HttpResponse<String> answer = get(container, path);
                    assertEquals(status, answer.statusCode(), path);
                    if (body != null) {
                        assertEquals(body, answer.body(), path);
                    }
                    String expected = (i * brackets + " ").repeat(3).trim();
                    assertEquals(expected, counter.countsAfter(i * brackets), path);
                }
            }
            // Nothing has come after that, either.
            assertEquals((3 * brackets + " ").repeat(3).trim(), counter.counts(), path);
            assertEquals(Set.of(1), new TreeSet<>(servlet.depths), path);
        }
    }

    @ParameterizedTest
    @EnumSource
    void synchronous(Container.Kind kind) throws Exception {
        check(kind, null, "/stream", 200, "hello", 1);
        check(kind, null, "/writer", 200, "hello", 1);
        check(kind, null, "/length", 200, "hello", 1);
        check(kind, null, "/empty", 200, "", 1);
        check(kind, null, "/no-content", 204, "", 1);
        check(kind, null, "/large", 200, "\0".repeat(TestServlet.LARGE), 1);
        check(kind, null, "/redirect", 302, null, 1);
        check(kind, null, "/status", 404, "hello", 1);
    }

    @ParameterizedTest
    @EnumSource
    void dispatchesWithinAreNotRequests(Container.Kind kind) throws Exception {
        check(kind, null, "/forward", 200, "hello", 1);
        check(kind, null, "/include", 200, "hello and more", 1);
    }

    @ParameterizedTest
    @EnumSource
    void errors(Container.Kind kind) throws Exception {
        check(kind, null, "/throw", 500, null, 1);
        check(kind, null, "/send-error", 418, null, 1);
        // The page is one more dispatch.
        check(kind, "/error-page", "/throw", 500, "page for 500", 2);
        check(kind, "/error-page", "/send-error", 418, "page for 418", 2);
    }

    @ParameterizedTest
    @EnumSource
    void asynchronous(Container.Kind kind) throws Exception {
        check(kind, null, "/complete", 200, "hello", 1);
        check(kind, null, "/complete-now", 200, "hello", 1);
        check(kind, null, "/dispatch", 200, "hello", 2);
        check(kind, null, "/dispatch-now", 200, "hello", 2);
    }

    @ParameterizedTest
    @EnumSource
    void timeouts(Container.Kind kind) throws Exception {
        check(kind, null, "/timeout", 500, null, 1);
        check(kind, "/error-page", "/timeout", 500, "page for 500", 2);
        check(kind, null, "/timeout-complete", 200, "late", 1);
        check(kind, null, "/timeout-dispatch", 200, "hello", 2);
    }

    @ParameterizedTest
    @EnumSource
    void manyOnKeptConnections(Container.Kind kind) throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            try (Container container = kind.start(application(new TestServlet(counter)), null, false)) {
                Thread[] clients = new Thread[4];
                for (int t = 0; t < clients.length; t++) {
                    clients[t] = new Thread(() -> pipeline(container.port(), 250));
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

    /** Sends all requests at once on one connection, so that its thread finds a next one. */
    static void pipeline(int port, int requests) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20_000);
            OutputStream out = socket.getOutputStream();
            String request = "GET /stream HTTP/1.1\r\nHost: localhost\r\n";
            out.write(((request + "\r\n").repeat(requests - 1) + request + "Connection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            String answers = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            if (answers.split("hello", -1).length - 1 != requests) {
                throw new IllegalStateException(answers);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The client has all of the answer while the collection is still to come. */
    @ParameterizedTest
    @EnumSource
    void noClientWaitsForACollection(Container.Kind kind) throws Exception {
        for (String path : new String[] {"/stream", "/writer", "/length", "/empty", "/no-content", "/large", "/include", "/dispatch-now"}) {
            assertTrue(isAnsweredBeforeTheEnd(kind, path, false, Duration.ofSeconds(20)), path);
        }
        // Tomcat lets nobody close these before all filters have returned.
        for (String path : new String[] {"/redirect", "/forward"}) {
            boolean jetty = kind == Container.Kind.JETTY;
            assertEquals(jetty, isAnsweredBeforeTheEnd(kind, path, false, Duration.ofSeconds(jetty ? 20 : 1)), path);
        }
        // Otherwise it does wait: this is what the filter has to do something about.
        assertFalse(isAnsweredBeforeTheEnd(kind, "/stream", true, Duration.ofSeconds(1)));
    }

    /** A container may save a session after all filters; a client that comes again before that would find an old one. */
    @ParameterizedTest
    @EnumSource
    void clientsWithASessionWait(Container.Kind kind) throws Exception {
        assertFalse(isAnsweredBeforeTheEnd(kind, "/session", false, Duration.ofSeconds(1)));
        // One that it names.
        assertFalse(isAnsweredBeforeTheEnd(kind, "/stream;jsessionid=0", false, Duration.ofSeconds(1)));
    }

    private static boolean isAnsweredBeforeTheEnd(Container.Kind kind, String path, boolean wrapped, Duration patience) throws Exception {
        CountDownLatch answered = new CountDownLatch(1);
        int brackets = path.equals("/dispatch-now") ? 2 : 1;
        CountDownLatch first = new CountDownLatch(brackets);
        try (RequestCounter counter = new RequestCounter(() -> {
            first.countDown();
            if (first.getCount() == 0) {
                await(answered);
            }
        })) {
            TestServlet servlet = new TestServlet(counter);
            ServletContainerInitializer application = application(servlet);
            ServletContainerInitializer both = (classes, context) -> {
                if (wrapped) {
                    wrapAll(context.addFilter("outer", (Filter) (request, response, chain) -> {
                        chain.doFilter(request, new HttpServletResponseWrapper((HttpServletResponse) response));
                        ((HttpServletResponse) response).setHeader("Outer", "done");
                    }));
                }
                application.onStartup(classes, context);
            };
            try (Container container = kind.start(both, null, false)) {
                try {
                    get(container, path, patience);
                    return true;
                } catch (HttpTimeoutException e) {
                    return false;
                } finally {
                    answered.countDown();
                }
            } finally {
                assertEquals((brackets + " ").repeat(3).trim(), counter.counts(), path);
            }
        }
    }

    private static void wrapAll(FilterRegistration.Dynamic filter) {
        filter.setAsyncSupported(true);
        filter.addMappingForUrlPatterns(EnumSet.copyOf(RequestsFilter.dispatches()), false, "/*");
    }

    /** What a filter outside does to the answer after the request still works. */
    @ParameterizedTest
    @EnumSource
    void answersThatOthersFinishAreLeftAlone(Container.Kind kind) throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            ServletContainerInitializer application = application(new TestServlet(counter));
            try (Container container = kind.start((classes, context) -> {
                wrapAll(context.addFilter("outer", (Filter) (request, response, chain) -> {
                    chain.doFilter(request, new HttpServletResponseWrapper((HttpServletResponse) response));
                    ((HttpServletResponse) response).setHeader("Outer", "done");
                    response.getOutputStream().print(", world");
                }));
                application.onStartup(classes, context);
            }, null, false)) {
                HttpResponse<String> answer = get(container, "/stream");
                assertEquals("hello, world", answer.body());
                assertEquals("done", answer.headers().firstValue("Outer").orElse(null));
            }
            assertEquals("1 1 1", counter.counts());
        }
    }

    /** Closing may not change an answer: all headers and the body are as without the filter. */
    @ParameterizedTest
    @EnumSource
    void answersAreTheSame(Container.Kind kind) throws Exception {
        for (String path : new String[] {"/stream", "/writer", "/length", "/empty", "/no-content", "/large", "/redirect", "/status", "/throw",
                "/send-error", "/forward", "/include", "/complete", "/dispatch"}) {
            for (String method : new String[] {"GET", "HEAD"}) {
                String without;
                try (Container container = kind.start(application(new TestServlet(null)), "/error-page", false)) {
                    without = raw(container.port(), method, path);
                }
                try (RequestCounter counter = new RequestCounter();
                        Container container = kind.start(application(new TestServlet(counter)), "/error-page", false)) {
                    assertEquals(without, raw(container.port(), method, path), method + " " + path);
                    counter.countsAfter(1);
                    assertTrue(counter.begun() > 0);
                }
            }
        }
    }

    private static String raw(int port, String method, String path) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write((method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1).lines().filter(l -> !l.startsWith("Date:"))
                    .collect(Collectors.joining("\n"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void clientsThatGoAway(Container.Kind kind) throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            try (Container container = kind.start(application(new TestServlet(counter)), null, false)) {
                for (int i = 0; i < 5; i++) {
                    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), container.port())) {
                        socket.setSoLinger(true, 0);
                        socket.getOutputStream().write("GET /huge HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                        assertTrue(socket.getInputStream().read() >= 0);
                    }
                }
                counter.countsAfter(5);
            }
            assertEquals("5 5 5", counter.counts());
        }
    }

    @ParameterizedTest
    @EnumSource
    void virtualThreadsAreNotHeard(Container.Kind kind) throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "this JVM has no virtual threads");
        try (RequestCounter counter = new RequestCounter()) {
            ServletContainerInitializer application = application(new TestServlet(counter));
            try (Container container = kind.start((classes, context) -> {
                wrapAll(context.addFilter("outer", (Filter) (request, response, chain) -> {
                    chain.doFilter(request, response);
                    ((HttpServletResponse) response).setHeader("Outer", "done");
                }));
                application.onStartup(classes, context);
            }, null, true)) {
                for (String path : new String[] {"/stream", "/writer"}) {
                    HttpResponse<String> answer = get(container, path);
                    assertEquals("hello", answer.body());
                    // No collection is to come, so nothing is closed before the container does it.
                    assertEquals("done", answer.headers().firstValue("Outer").orElse(null));
                }
            }
            assertEquals("0 0 0", counter.counts());
        }
    }

    /** Without the filter: all answers have been sent when a task of Tomcat's connector ends, whatever they are. */
    @Test
    void tomcatWithARequestExecutor() throws Exception {
        for (String path : new String[] {"/stream", "/writer", "/redirect", "/forward", "/throw", "/send-error", "/complete", "/dispatch"}) {
            CountDownLatch answered = new CountDownLatch(1);
            try (RequestCounter counter = new RequestCounter(() -> await(answered))) {
                TestServlet servlet = new TestServlet(counter);
                ExecutorService threads = new RequestExecutor(Executors.newFixedThreadPool(4));
                try (Container container = Container.tomcat((classes, context) -> {
                    ServletRegistration.Dynamic registration = context.addServlet("test", servlet);
                    registration.setAsyncSupported(true);
                    registration.addMapping("/");
                }, "/error-page", false, threads)) {
                    get(container, path);
                    assertEquals(Set.of(1), new TreeSet<>(servlet.depths), path);
                    answered.countDown();
                } finally {
                    answered.countDown();
                    threads.shutdown();
                    assertTrue(threads.awaitTermination(10, TimeUnit.SECONDS));
                }
                assertTrue(counter.begun() >= 1, path);
                assertEquals((counter.begun() + " ").repeat(3).trim(), counter.counts(), path);
            }
        }
    }

    @Test
    void closingCanBeSwitchedOff() throws Exception {
        CountDownLatch answered = new CountDownLatch(1);
        try (RequestCounter counter = new RequestCounter(() -> await(answered))) {
            TestServlet servlet = new TestServlet(counter);
            try (Container container = Container.Kind.TOMCAT.start((classes, context) -> {
                context.addServlet("test", servlet).addMapping("/");
                FilterRegistration.Dynamic filter = context.addFilter("requests", RequestsFilter.class);
                filter.setInitParameter(RequestsFilter.CLOSE, "false");
                wrapAll(filter);
            }, null, false)) {
                assertThrows(HttpTimeoutException.class, () -> get(container, "/stream", Duration.ofSeconds(1)));
                answered.countDown();
            }
            assertEquals("1 1 1", counter.counts());
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
