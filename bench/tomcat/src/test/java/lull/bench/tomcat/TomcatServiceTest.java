// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.tomcat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import lull.bench.load.FixedRequest;
import lull.bench.load.HttpConnection;
import lull.bench.service.Service;
import lull.bench.service.Services;
import lull.bench.util.Cli.UsageException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The service as a whole, in this process. */
class TomcatServiceTest {
    @TempDir
    private Path data;

    @Test
    void everyAnswerIsRight() throws Exception {
        Service service = Services.find("tomcat");
        service.prepare(data, Map.of("openjdk", "/nowhere"));
        try (Service.Running running = service.start(data, 0, 2)) {
            Service.Caller caller = service.caller(data, 1);
            assertEquals(300, caller.variety());
            try (Service.Connection connection = caller.connect(running.port())) {
                for (int i = 0; i < caller.variety(); i++) {
                    connection.request(i);
                }
            }
        }
    }

    @Test
    void wrongAnswersAreFound() throws Exception {
        Service service = new TomcatService();
        service.prepare(data, Map.of());
        FixedRequest.write(data, "spoilt", FixedRequest.read(data).stream()
                .map(r -> new FixedRequest(r.target(), r.type(), r.body(), r.status(), r.length(), "00000000")).toList());
        try (Service.Running running = service.start(data, 0, 1); Service.Connection connection = service.caller(data, 1).connect(running.port())) {
            for (int i = 0; i < 10; i++) {
                int number = i;
                Service.WrongAnswerException e = assertThrows(Service.WrongAnswerException.class, () -> connection.request(number));
                assertTrue(e.getMessage().contains("digest is") && e.getMessage().contains("expected 00000000"), e.getMessage());
            }
        }
    }

    @Test
    void pagesShowWhatWasAsked() throws Exception {
        Service service = new TomcatService();
        try (Service.Running running = service.start(data, 0, 1); HttpConnection http = new HttpConnection(running.port(), 10_000)) {
            String json = "{\"customer\": \"A & B\", \"items\": [{\"product\": 3, \"quantity\": 10}]}";
            HttpConnection.Answer basket = http.send("POST", "/basket?currency=EUR&sort=name", "application/json", bytes(json));
            int cents = 10 * new Catalogue(10).find(3).cents();
            String page = new String(basket.body(), StandardCharsets.UTF_8);
            assertTrue(page.contains("Basket of A &amp; B"), page);
            assertTrue(page.contains(String.format("10 items, %d.%02d EUR, less 5 %% for 10 items: to pay %d.%02d EUR", cents / 100, cents % 100,
                    (cents - cents / 20) / 100, (cents - cents / 20) % 100)), page);
            assertEquals(404, http.get("/product?id=99999").status());
            assertEquals(400, http.get("/product?id=x").status());
            assertEquals(404, http.get("/search").status());
            assertEquals(400, http.send("POST", "/search", "application/x-www-form-urlencoded", bytes("words=a")).status());
            assertEquals(400, http.send("POST", "/basket?currency=EUR&sort=name", "application/json", bytes("{\"items\": 1}")).status());
            assertEquals(404, http.send("POST", "/basket?currency=EUR&sort=name", "application/json",
                    bytes(json.replace("3", "1000"))).status());
        }
    }

    @Test
    void preparesOnceAndExplainsErrors() throws Exception {
        Service service = new TomcatService();
        assertTrue(assertThrows(IOException.class, () -> service.caller(data, 1)).getMessage().contains("prepare the service first"));
        assertTrue(assertThrows(UsageException.class, () -> service.prepare(data, Map.of("size", "1"))).getMessage().contains("'size'"));
        service.prepare(data, Map.of());
        FileTime old = FileTime.fromMillis(1_000_000);
        Files.setLastModifiedTime(data.resolve("requests.json"), old);
        service.prepare(data, Map.of());
        assertEquals(old, Files.getLastModifiedTime(data.resolve("requests.json")));
    }

    @Test
    void takenPortIsAnErrorAndClosingFreesIt() throws Exception {
        Service service = new TomcatService();
        int port;
        try (Service.Running running = service.start(data, 0, 1)) {
            port = running.port();
            assertTrue(assertThrows(IOException.class, () -> service.start(data, port, 1)).getMessage().contains("" + port));
        }
        service.start(data, port, 1).close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
