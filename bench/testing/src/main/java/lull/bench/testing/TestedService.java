// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongPredicate;
import lull.bench.load.Phase;
import lull.bench.load.Progress;
import lull.bench.service.Service;
import lull.bench.service.Services;

/** A service that has been prepared and runs in this process, for the tests of a module. */
public final class TestedService implements AutoCloseable {
    /** The most that a phase of a test may take. */
    private static final double SECONDS = 300;

    private final Service service;
    private final Path data;
    private final Service.Running running;

    private TestedService(Service service, Path data, Service.Running running) {
        this.service = service;
        this.data = data;
        this.running = running;
    }

    /** Prepares the service {@code name} in {@code data}, with the option that the scripts always give, and starts it. */
    public static TestedService start(String name, Path data, Map<String, String> options, int threads) throws Exception {
        Service service = Services.find(name);
        Map<String, String> all = new LinkedHashMap<>(options);
        all.put("openjdk", "/nowhere");
        service.prepare(data, all);
        return new TestedService(service, data, service.start(data, 0, threads));
    }

    public Service service() {
        return service;
    }

    public int port() {
        return running.port();
    }

    public Service.Caller caller(long seed) throws IOException {
        return service.caller(data, seed);
    }

    /** Has {@code clients} send {@code requests} at once, the first of which is {@code first}, and asserts that each has its right answer. */
    public static void answersAreRight(Service.Caller caller, int port, int clients, long requests, long first) throws InterruptedException {
        Phase phase = Phase.closed("test", caller, port, clients, SECONDS, requests, first);
        phase.run(new Progress(System.out), 1000);
        assertEquals(0, phase.latencies().errors(), phase.result().get("errorSamples").toString());
        assertEquals(requests, phase.latencies().count());
    }

    /** Returns the first number of a request that is {@code wanted}. */
    public static long number(LongPredicate wanted) {
        long number = 0;
        while (!wanted.test(number)) {
            number++;
        }
        return number;
    }

    @Override
    public void close() throws IOException {
        running.close();
    }
}
