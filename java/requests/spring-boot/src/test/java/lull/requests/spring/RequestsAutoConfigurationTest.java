// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.requests.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import lull.RequestCounter;
import lull.requests.servlet.RequestsFilter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.server.ResponseStatusException;

/** A Spring Boot service with MVC, found by auto-configuration alone, asked over HTTP. */
class RequestsAutoConfigurationTest {
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @TempDir
    private static Path directory;

    private static RequestCounter counter;

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @RestController
    static class Service {
        /** As early as a filter of an application can be by its order, and defined before that of this library. */
        @Bean
        FilterRegistrationBean<Filter> otherFilter() {
            FilterRegistrationBean<Filter> other = new FilterRegistrationBean<>((request, response, chain) -> {
                ((HttpServletResponse) response).setHeader("Depth", "" + counter.depth());
                chain.doFilter(request, response);
            });
            other.setOrder(Ordered.HIGHEST_PRECEDENCE);
            return other;
        }

        @GetMapping("/map/{name}")
        Map<String, String> map(@PathVariable("name") String name) {
            return Map.of("name", name);
        }

        @GetMapping("/entity")
        ResponseEntity<String> entity() {
            return ResponseEntity.ok("depth " + counter.depth());
        }

        /** The filter that all others are called by. */
        @GetMapping("/outermost")
        String outermost() {
            return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).walk(frames -> frames.map(f -> f.getDeclaringClass())
                    .filter(Filter.class::isAssignableFrom).reduce((inner, outer) -> outer)).orElseThrow().getName();
        }

        @GetMapping("/not-found")
        ResponseEntity<String> notFound() {
            return ResponseEntity.status(HttpStatus.NOT_FOUND).body("none");
        }

        @GetMapping("/status")
        String status() {
            throw new ResponseStatusException(HttpStatus.CONFLICT);
        }

        @GetMapping("/throw")
        String fail() {
            throw new IllegalStateException("expected");
        }

        @GetMapping("/callable")
        Callable<String> callable() {
            return () -> "depth " + counter.depth();
        }

        @GetMapping("/callable-throw")
        Callable<String> callableThrow() {
            return () -> {
                throw new IllegalStateException("expected");
            };
        }

        @GetMapping("/deferred")
        DeferredResult<String> deferred() {
            DeferredResult<String> result = new DeferredResult<>();
            new Thread(() -> result.setResult("deferred")).start();
            return result;
        }

        @GetMapping("/timeout")
        DeferredResult<String> timeout() {
            return new DeferredResult<>(100L, "late");
        }

        @GetMapping("/timeout-error")
        DeferredResult<String> timeoutError() {
            return new DeferredResult<>(100L);
        }
    }

    /** Registers the filter in its own way. */
    @SpringBootConfiguration(proxyBeanMethods = false)
    static class Own extends Service {
        @Bean
        FilterRegistrationBean<RequestsFilter> own() {
            FilterRegistrationBean<RequestsFilter> registration = new FilterRegistrationBean<>(new RequestsFilter());
            registration.addUrlPatterns("/map/*");
            return registration;
        }
    }

    private static ConfigurableApplicationContext start(Class<?> application, String... properties) {
        SpringApplication spring = new SpringApplication(application);
        spring.setDefaultProperties(Map.of("server.address", "127.0.0.1", "server.port", "0", "server.tomcat.threads.max", "4",
                "server.tomcat.basedir", directory.toString(),
                "spring.main.banner-mode", "off"));
        spring.setRegisterShutdownHook(false);
        String[] arguments = new String[properties.length];
        for (int i = 0; i < properties.length; i++) {
            arguments[i] = "--" + properties[i];
        }
        return spring.run(arguments);
    }

    private static HttpResponse<String> get(ConfigurableApplicationContext context, String path, int seconds) throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + context.getEnvironment().getRequiredProperty("local.server.port") + path);
        return CLIENT.send(HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(seconds)).build(), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpResponse<String> get(ConfigurableApplicationContext context, String path) throws IOException, InterruptedException {
        return get(context, path, 20);
    }

    @Test
    void eachDispatchIsBracketed() throws Exception {
        try (RequestCounter c = new RequestCounter()) {
            counter = c;
            try (ConfigurableApplicationContext context = start(Service.class)) {
                check(context, "/map/one", 200, "{\"name\":\"one\"}", 1);
                check(context, "/entity", 200, "depth 1", 1);
                check(context, "/not-found", 404, "none", 1);
                // Answered by Boot's error page.
                check(context, "/nowhere", 404, null, 2);
                check(context, "/status", 409, null, 2);
                check(context, "/throw", 500, null, 2);
                // Spring's own threads are not bracketed; they dispatch the result back.
                check(context, "/callable", 200, "depth 0", 2);
                check(context, "/callable-throw", 500, null, 3);
                check(context, "/deferred", 200, "deferred", 2);
                check(context, "/timeout", 200, "late", 2);
                check(context, "/timeout-error", 503, null, 3);
            }
            int all = 21 * 3;
            assertEquals("%d %d %d".formatted(all, all, all), c.counts());
        }
    }

    /** Three times the same on one connection. */
    private static void check(ConfigurableApplicationContext context, String path, int status, String body, int brackets) throws Exception {
        int before = counter.ended();
        for (int i = 1; i <= 3; i++) {
            HttpResponse<String> answer = get(context, path);
            assertEquals(status, answer.statusCode(), path);
            if (body != null) {
                assertEquals(body, answer.body(), path);
            }
            assertEquals("1", answer.headers().firstValue("Depth").orElse(null), path);
            assertEquals(((before + i * brackets) + " ").repeat(3).trim(), counter.countsAfter(before + i * brackets), path);
        }
    }

    @Test
    void noClientWaitsForACollection() throws Exception {
        CountDownLatch answered = new CountDownLatch(1);
        try (RequestCounter c = new RequestCounter(() -> await(answered))) {
            counter = c;
            try (ConfigurableApplicationContext context = start(Service.class)) {
                try {
                    assertEquals("{\"name\":\"one\"}", get(context, "/map/one").body());
                } finally {
                    answered.countDown();
                }
            }
            assertEquals("1 1 1", c.counts());
        }
    }

    /** Also before those of Spring that claim the same, of which one wraps responses. */
    @Test
    void isTheOutermostFilter() throws Exception {
        try (RequestCounter c = new RequestCounter()) {
            counter = c;
            try (ConfigurableApplicationContext context = start(Service.class, "server.forward-headers-strategy=framework")) {
                assertEquals(RequestsFilter.class.getName(), get(context, "/outermost").body());
            }
            assertEquals("1 1 1", c.counts());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"false", "off", "NO"})
    void closingCanBeSwitchedOff(String off) throws Exception {
        CountDownLatch answered = new CountDownLatch(1);
        try (RequestCounter c = new RequestCounter(() -> await(answered))) {
            counter = c;
            try (ConfigurableApplicationContext context = start(Service.class, "lull.requests.close=" + off)) {
                try {
                    assertThrows(HttpTimeoutException.class, () -> get(context, "/map/one", 1));
                } finally {
                    answered.countDown();
                }
            }
            assertEquals("1 1 1", c.counts());
        }
    }

    @Test
    void canBeSwitchedOff() throws Exception {
        try (RequestCounter c = new RequestCounter()) {
            counter = c;
            try (ConfigurableApplicationContext context = start(Service.class, "lull.requests.enabled=false")) {
                assertEquals("depth 0", get(context, "/entity").body());
                assertEquals(0, context.getBeanNamesForType(RequestsAutoConfiguration.class).length);
            }
            assertEquals("0 0 0", c.counts());
        }
    }

    @Test
    void anApplicationsOwnIsTheOnlyOne() throws Exception {
        try (RequestCounter c = new RequestCounter()) {
            counter = c;
            try (ConfigurableApplicationContext context = start(Own.class)) {
                get(context, "/map/one");
                assertEquals("depth 0", get(context, "/entity").body());
                c.countsAfter(1);
            }
            assertEquals("1 1 1", c.counts());
        }
    }

    @Test
    void onlyInServletApplications() {
        SpringApplication spring = new SpringApplication(Service.class);
        spring.setWebApplicationType(WebApplicationType.NONE);
        spring.setRegisterShutdownHook(false);
        try (ConfigurableApplicationContext context = spring.run("--spring.main.banner-mode=off")) {
            assertEquals(0, context.getBeanNamesForType(RequestsAutoConfiguration.class).length);
            assertNotNull(context.getBean(Service.class));
        }
    }

    @Test
    void virtualThreadsAreNotHeard() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "this JVM has no virtual threads");
        try (RequestCounter c = new RequestCounter()) {
            counter = c;
            try (ConfigurableApplicationContext context = start(Service.class, "spring.threads.virtual.enabled=true")) {
                assertEquals("depth 0", get(context, "/entity").body());
            }
            assertEquals("0 0 0", c.counts());
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
