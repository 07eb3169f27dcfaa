// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.crud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import lull.bench.load.HttpConnection;
import lull.bench.service.Service;
import lull.bench.service.Service.WrongAnswerException;
import lull.bench.testing.TestedService;
import lull.bench.util.Cli.UsageException;
import lull.bench.util.Json;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The service as a whole, in this process. */
class CrudServiceTest {
    @TempDir
    private static Path data;
    private static TestedService tested;

    @BeforeAll
    static void start() throws Exception {
        tested = TestedService.start("crud", data, Map.of("cities", "200"), 2);
    }

    @AfterAll
    static void stop() throws Exception {
        tested.close();
        try (HttpConnection http = new HttpConnection(tested.port(), 10_000)) {
            assertThrows(IOException.class, () -> http.get("/cities/0"));
        }
    }

    private static HttpConnection.Answer send(String method, String target, String body) throws IOException {
        try (HttpConnection http = new HttpConnection(tested.port(), 10_000)) {
            return http.send(method, target, body == null ? null : "application/json", body == null ? new byte[0] : body.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static Map<String, Object> json(HttpConnection.Answer answer) {
        return Json.parseObject(new String(answer.body(), StandardCharsets.UTF_8));
    }

    @Test
    void clientsAtOnceGetRightAnswers() throws Exception {
        Service.Caller caller = tested.caller(1);
        TestedService.answersAreRight(caller, tested.port(), 4, 6L * caller.variety(), 0);
    }

    /** Another client changes or deletes the book behind the connection's back: each kind of request that reads it must find that. */
    @Test
    void wrongAnswersAreFound() throws Exception {
        CrudCaller caller = (CrudCaller) tested.caller(1);
        for (CrudCaller.Kind kind : List.of(CrudCaller.Kind.GET, CrudCaller.Kind.LIST, CrudCaller.Kind.UPDATE, CrudCaller.Kind.CREATE,
                CrudCaller.Kind.DELETE)) {
            // Several numbers, as one may ask for the empty page behind the last.
            List<Long> numbers = LongStream.range(0, 100).filter(number -> caller.kind(number) == kind).boxed().toList();
            boolean found = false;
            try (CrudConnection connection = (CrudConnection) caller.connect(tested.port())) {
                connection.request(numbers.getFirst());
                if (kind == CrudCaller.Kind.CREATE || kind == CrudCaller.Kind.DELETE) {
                    assertEquals(204, send("DELETE", "/books/" + connection.book(), null).status());
                } else {
                    spoil(connection.book());
                }
                for (int i = 0; i < numbers.size() && !found; i++) {
                    try {
                        connection.request(numbers.get(i));
                    } catch (WrongAnswerException e) {
                        assertTrue(e.getMessage().contains("expected"), e.getMessage());
                        found = true;
                    }
                }
                assertTrue(found, kind.toString());
                // Begins a new book, so this one is right again.
                connection.request(numbers.getFirst());
            }
        }
    }

    private static void spoil(long book) throws IOException {
        for (int page = 0; page < 2; page++) {
            for (Object each : (List<?>) json(send("GET", "/books/" + book + "/contacts?page=" + page, null)).get("entries")) {
                Map<?, ?> contact = (Map<?, ?>) each;
                assertEquals(200, send("PUT", "/books/" + book + "/contacts/" + contact.get("id"), "{\"version\": " + contact.get("version")
                        + ", \"name\": \"" + contact.get("name") + "\", \"email\": \"x\", \"note\": \"x\", \"city\": 1}").status());
            }
        }
    }

    @Test
    void wrongCitiesAreFound() throws Exception {
        List<Cities.Row> spoilt = Cities.read(data).stream().map(row -> new Cities.Row(row.id(), row.name() + "x", row.country())).toList();
        CrudCaller caller = new CrudCaller(spoilt, 1);
        for (long number = 0; number < caller.variety(); number++) {
            if (caller.kind(number) == CrudCaller.Kind.CITY || caller.kind(number) == CrudCaller.Kind.CITIES) {
                long found = number;
                try (Service.Connection connection = caller.connect(tested.port())) {
                    assertThrows(WrongAnswerException.class, () -> connection.request(found));
                }
            }
        }
    }

    @Test
    void closingDeletesTheBook() throws Exception {
        CrudConnection connection = (CrudConnection) tested.caller(1).connect(tested.port());
        connection.request(0);
        String target = "/books/" + connection.book() + "/contacts?page=0";
        assertFalse(json(send("GET", target, null)).get("total").equals(0L));
        connection.close();
        assertEquals(0L, json(send("GET", target, null)).get("total"));
    }

    @Test
    void refusals() throws Exception {
        String contact = "{\"version\": 0, \"name\": \"n\", \"email\": \"e\", \"note\": \"n\", \"city\": %d}";
        Map<String, Object> book = json(send("POST", "/books", "{\"name\": \"b\", \"contacts\": [" + String.format(contact, 3) + "]}"));
        String path = "/books/" + book.get("id") + "/contacts/" + ((Map<?, ?>) ((List<?>) book.get("contacts")).getFirst()).get("id");
        assertEquals(200, send("PUT", path, String.format(contact, 4)).status());
        assertEquals(409, send("PUT", path, String.format(contact, 5)).status());
        assertEquals(4L, ((Map<?, ?>) json(send("GET", path, null)).get("city")).get("id"));
        assertEquals(400, send("POST", "/books/" + book.get("id") + "/contacts", String.format(contact, 9999)).status());
        assertEquals(404, send("POST", "/books/99999999/contacts", String.format(contact, 1)).status());
        assertEquals(404, send("GET", "/cities/9999", null).status());
        assertEquals(400, send("GET", "/cities?country=x&page=-1", null).status());
    }

    /** Returns how many platform threads there are that answer requests, of all servers of this process. */
    private static long threadsOfTomcat() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().contains("-exec-")).count();
    }

    @Test
    void answersOnVirtualThreadsIfAsked(@TempDir Path other) throws Exception {
        long before = threadsOfTomcat();
        assertTrue(before > 0);
        String property = System.getProperty("lull.bench.virtual", "");
        System.setProperty("lull.bench.virtual", "true");
        try (TestedService virtual = TestedService.start("crud", other, Map.of("cities", "7"), 2);
                HttpConnection http = new HttpConnection(virtual.port(), 10_000)) {
            assertEquals(200, http.send("GET", "/cities/3", null, new byte[0]).status());
            assertEquals(before, threadsOfTomcat());
        } finally {
            System.setProperty("lull.bench.virtual", property);
        }
    }

    @Test
    void preparesOnceAndExplainsErrors(@TempDir Path other) throws Exception {
        Service service = tested.service();
        assertTrue(assertThrows(IOException.class, () -> service.start(other, 0, 1)).getMessage().contains("prepare the service first"));
        assertTrue(assertThrows(UsageException.class, () -> service.prepare(other, Map.of("cities", "0"))).getMessage().contains("cities"));
        assertTrue(assertThrows(UsageException.class, () -> service.prepare(other, Map.of("towns", "1"))).getMessage().contains("'towns'"));
        service.prepare(other, Map.of("cities", "7"));
        assertEquals(7, Cities.read(other).size());
        String marked = Files.readString(other.resolve("cities.tsv")).replace("country", "land");
        Files.writeString(other.resolve("cities.tsv"), marked);
        service.prepare(other, Map.of("cities", "7"));
        assertEquals(marked, Files.readString(other.resolve("cities.tsv")));
        service.prepare(other, Map.of("cities", "8"));
        assertEquals(8, Cities.read(other).size());
        Files.writeString(other.resolve("cities.tsv"), "0\ta\n");
        assertTrue(assertThrows(IOException.class, () -> Cities.read(other)).getMessage().contains("prepare again"));
    }
}
