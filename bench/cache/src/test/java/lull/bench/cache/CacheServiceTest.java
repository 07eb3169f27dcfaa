// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import lull.bench.cache.CacheCaller.Kind;
import lull.bench.load.HttpConnection;
import lull.bench.service.Service;
import lull.bench.service.Service.WrongAnswerException;
import lull.bench.testing.TestedService;
import lull.bench.util.Cli.UsageException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The service as a whole, in this process. */
class CacheServiceTest {
    private static final Map<String, String> SMALL = Map.of("entries", "20000");

    @TempDir
    private Path data;

    @Test
    void clientsAtOnceGetTheVersionsThatTheyMayGet() throws Exception {
        try (TestedService service = TestedService.start("cache", data, SMALL, 4)) {
            CacheCaller caller = (CacheCaller) service.caller(1);
            TestedService.answersAreRight(caller.with(Kind.FILL, 0), service.port(), 4, 200, 0);
            assertEquals("20000", text(service, "GET", "/size"));
            // A third of the requests replaces a batch.
            TestedService.answersAreRight(caller.with(Kind.SERVE, 333), service.port(), 4, 3000, 0);
            assertEquals("20000", text(service, "GET", "/size"));
            text(service, "POST", "/drop");
            assertEquals("10000", text(service, "GET", "/size"));
            TestedService.answersAreRight(caller, service.port(), 4, 1000, 0);
        }
    }

    /** An old version behind the load's back, and a newer one, are found. */
    @Test
    void versionsThatNobodyAskedForAreFound() throws Exception {
        Entries entries = new Entries(10_000);
        Products products = new Products(entries);
        try (CacheServer server = new CacheServer(products, 0, 2)) {
            CacheCaller caller = new CacheCaller(entries, 1).with(Kind.SERVE, 0);
            try (Service.Connection connection = caller.connect(server.port())) {
                connection.request(0);
                for (int batch = 0; batch < entries.batches(); batch++) {
                    products.replace(batch);
                }
                WrongAnswerException newer = assertThrows(WrongAnswerException.class, () -> connection.request(0));
                assertTrue(newer.getMessage().contains("is no version from 0 to 0"), newer.getMessage());
            }
            CacheCaller replacing = new CacheCaller(entries, 1).with(Kind.SERVE, 1000);
            try (Service.Connection connection = replacing.connect(server.port())) {
                WrongAnswerException wrong = assertThrows(WrongAnswerException.class, () -> connection.request(0));
                assertTrue(wrong.getMessage().contains("expected 1"), wrong.getMessage());
            }
        }
    }

    @Test
    void onlyTheShareThatIsAskedForReplaces() {
        CacheCaller caller = new CacheCaller(new Entries(1000), 7);
        long replaced = 0;
        for (int number = 0; number < 10 * caller.variety(); number++) {
            replaced += caller.replaces(number) ? 1 : 0;
        }
        assertEquals(10 * CacheCaller.USUAL_SHARE, replaced);
        assertTrue(!caller.with(Kind.SERVE, 0).replaces(0));
    }

    @Test
    void explainsErrors() throws Exception {
        assertTrue(assertThrows(IOException.class, () -> Entries.read(data)).getMessage().contains("prepare the service first"));
        assertTrue(assertThrows(UsageException.class, () -> Entries.of(Map.of("size", "1"))).getMessage().contains("'size'"));
        assertEquals(new Entries(1200), Entries.of(Map.of("entries", "1299")));
        Files.writeString(data.resolve("entries.json"), "{\"entries\":7}");
        assertTrue(assertThrows(IOException.class, () -> Entries.read(data)).getMessage().contains("prepare again"));
        try (TestedService service = TestedService.start("cache", data, SMALL, 1)) {
            try (HttpConnection http = new HttpConnection(service.port(), 60_000)) {
                assertEquals(400, http.get("/product?20000").status());
                assertEquals(400, http.get("/product").status());
                assertEquals(404, http.get("/fill?1").status());
            }
        }
    }

    private static String text(TestedService service, String method, String target) throws IOException {
        try (HttpConnection http = new HttpConnection(service.port(), 60_000)) {
            HttpConnection.Answer answer = http.send(method, target, "text/plain", new byte[0]);
            assertEquals(200, answer.status());
            return new String(answer.body());
        }
    }
}
