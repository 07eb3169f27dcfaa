// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.crud;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import lull.bench.load.FixedCaller;
import lull.bench.load.HttpConnection;
import lull.bench.service.Service;
import lull.bench.service.Service.WrongAnswerException;
import lull.bench.util.Json;

/**
 * One connection with its own book, of which it keeps a copy. The book is made with the first request. After a failure the copy may
 * be wrong, so the next request begins a new book.
 */
final class CrudConnection implements Service.Connection {
    private static final int FEWEST = 10;
    private static final int FIRST = 25;
    private static final int MOST = 60;

    private final CrudCaller caller;
    private final HttpConnection http;
    /** The contacts as they must be, as parsed JSON, by number. */
    private final TreeMap<Long, Map<String, Object>> contacts = new TreeMap<>();
    private long book = -1;
    private long lastDeleted = -1;
    private SplittableRandom random;

    CrudConnection(CrudCaller caller, int port) {
        this.caller = caller;
        this.http = new HttpConnection(port, FixedCaller.TIMEOUT_MILLIS);
    }

    /** Returns the number of the book, or -1 if there is none now. */
    long book() {
        return book;
    }

    @Override
    public void request(long number) throws IOException, WrongAnswerException {
        random = new SplittableRandom(number);
        boolean done = false;
        try {
            if (book < 0) {
                begin(number);
            }
            perform(caller.kind(number), number);
            done = true;
        } finally {
            if (!done) {
                book = -1;
            }
        }
    }

    private void perform(CrudCaller.Kind kind, long number) throws IOException, WrongAnswerException {
        switch (kind) {
            case GET -> {
                Map<String, Object> contact = any();
                expect("GET", path(contact), null, 200, contact);
            }
            case LIST -> {
                List<Map<String, Object>> sorted = new ArrayList<>(contacts.values());
                sorted.sort(Comparator.comparing((Map<String, Object> c) -> (String) c.get("name")).thenComparing(c -> (Long) c.get("id")));
                // The last page may be empty.
                int page = random.nextInt(sorted.size() / CrudController.PER_PAGE + 2);
                expect("GET", "/books/" + book + "/contacts?page=" + page, null, 200, page(page, sorted));
            }
            case CREATE, DELETE -> {
                // As often one as the other: the limits keep books of one size.
                if (kind == CrudCaller.Kind.CREATE && contacts.size() < MOST || contacts.size() <= FEWEST) {
                    Map<String, Object> request = contact(number, 0);
                    Map<String, Object> answer = call("POST", "/books/" + book + "/contacts", request, 201);
                    add(request, answer, "POST " + request);
                } else {
                    Map<String, Object> contact = any();
                    expect("DELETE", path(contact), null, 204, null);
                    contacts.remove((Long) contact.get("id"));
                    lastDeleted = (Long) contact.get("id");
                }
            }
            case UPDATE -> {
                Map<String, Object> contact = any();
                long version = (Long) contact.get("version");
                Map<String, Object> request = contact(number, version);
                Map<String, Object> updated = expected(request, (Long) contact.get("id"), version + 1);
                expect("PUT", path(contact), request, 200, updated);
                contacts.put((Long) contact.get("id"), updated);
            }
            case GET_DELETED -> {
                String target = "/books/" + book + "/contacts/" + Math.max(lastDeleted, 0);
                HttpConnection.Answer answer = send("GET", target, null);
                differ("GET " + target, "status", 404, answer.status());
            }
            case CITY -> {
                Cities.Row city = caller.cities().get(random.nextInt(caller.cities().size()));
                expect("GET", "/cities/" + city.id(), null, 200, city(city));
            }
            case CITIES -> {
                String country = caller.cities().get(random.nextInt(caller.cities().size())).country();
                List<Map<String, Object>> all = caller.cities(country).stream().map(CrudConnection::city).toList();
                int page = random.nextInt(all.size() / CrudController.PER_PAGE + 2);
                expect("GET", "/cities?country=" + country + "&page=" + page, null, 200, page(page, all));
            }
        }
    }

    /** Makes a new book with a few contacts. */
    private void begin(long number) throws IOException, WrongAnswerException {
        contacts.clear();
        lastDeleted = -1;
        List<Object> requests = new ArrayList<>();
        for (int i = 0; i < FIRST; i++) {
            requests.add(contact(number, 0));
        }
        Map<String, Object> answer = call("POST", "/books", Map.of("name", "book " + number, "contacts", requests), 201);
        differ("POST /books", "name", "book " + number, answer.get("name"));
        if (!(answer.get("contacts") instanceof List<?> list) || list.size() != FIRST || !(answer.get("id") instanceof Long id)) {
            throw new WrongAnswerException("POST /books: expected a number and " + FIRST + " contacts, found " + answer);
        }
        for (int i = 0; i < FIRST; i++) {
            if (!(list.get(i) instanceof Map<?, ?> map)) {
                throw new WrongAnswerException("POST /books: expected a contact, found " + list.get(i));
            }
            add((Map<?, ?>) requests.get(i), map, "POST /books");
        }
        book = id;
    }

    /** Adds a created contact to the copy: the server chooses its number, the rest must be as requested. */
    private void add(Map<?, ?> request, Map<?, ?> answer, String what) throws WrongAnswerException {
        if (!(answer.get("id") instanceof Long id) || contacts.containsKey(id)) {
            throw new WrongAnswerException(what + ": expected a new number, found " + answer);
        }
        Map<String, Object> expected = expected(request, id, 0);
        differ(what, "the contact", expected, answer);
        contacts.put(id, expected);
    }

    private Map<String, Object> any() {
        Long from = contacts.firstKey() + random.nextLong(contacts.lastKey() - contacts.firstKey() + 1);
        return contacts.ceilingEntry(from).getValue();
    }

    private String path(Map<String, Object> contact) {
        return "/books/" + book + "/contacts/" + contact.get("id");
    }

    /** Returns a contact to send. Each differs from all others that this connection sends, so that an update that is lost shows. */
    private Map<String, Object> contact(long number, long version) {
        Map<String, Object> map = new LinkedHashMap<>();
        String name = Long.toString(random.nextLong(36L * 36 * 36 * 36 * 36), 36);
        map.put("version", version);
        map.put("name", name);
        map.put("email", name + "@example.org");
        map.put("note", "request " + number + " \u00fcber " + random.nextLong());
        map.put("city", (long) random.nextInt(caller.cities().size()));
        return map;
    }

    /** Returns what the server must show of a contact that was sent. */
    private Map<String, Object> expected(Map<?, ?> request, long id, long version) {
        Map<String, Object> map = new HashMap<>();
        map.put("id", id);
        map.put("version", version);
        for (String same : List.of("name", "email", "note")) {
            map.put(same, request.get(same));
        }
        map.put("city", city(caller.cities().get(((Long) request.get("city")).intValue())));
        return map;
    }

    private static Map<String, Object> city(Cities.Row city) {
        return Map.of("id", (long) city.id(), "name", city.name(), "country", city.country());
    }

    private static Map<String, Object> page(int page, List<Map<String, Object>> all) {
        int from = Math.min(page * CrudController.PER_PAGE, all.size());
        return Map.of("page", (long) page, "total", (long) all.size(),
                "entries", all.subList(from, Math.min(from + CrudController.PER_PAGE, all.size())));
    }

    /** Sends a request whose answer must have {@code status} and be {@code expected}, which is null for an empty body. */
    private void expect(String method, String target, Map<String, Object> body, int status, Map<String, Object> expected)
            throws IOException, WrongAnswerException {
        differ(method + " " + target, "the answer", expected, call(method, target, body, status));
    }

    private Map<String, Object> call(String method, String target, Map<String, Object> body, int status) throws IOException, WrongAnswerException {
        HttpConnection.Answer answer = send(method, target, body);
        String text = new String(answer.body(), StandardCharsets.UTF_8);
        if (answer.status() != status) {
            throw new WrongAnswerException(method + " " + target + ": status is " + answer.status() + ", expected " + status + "; the answer is: " + text);
        }
        try {
            return text.isEmpty() ? null : Json.parseObject(text);
        } catch (IllegalArgumentException e) {
            throw new WrongAnswerException(method + " " + target + ": " + e.getMessage());
        }
    }

    private HttpConnection.Answer send(String method, String target, Map<String, Object> body) throws IOException {
        byte[] bytes = body == null ? new byte[0] : Json.write(body).getBytes(StandardCharsets.UTF_8);
        return http.send(method, target, body == null ? null : "application/json", bytes);
    }

    private static void differ(String what, String part, Object expected, Object found) throws WrongAnswerException {
        if (!Objects.equals(expected, found)) {
            throw new WrongAnswerException(what + ": " + part + " is " + found + ", expected " + expected);
        }
    }

    /** Deletes the book, so that a server under a long load does not fill up. */
    @Override
    public void close() {
        if (book >= 0) {
            try {
                send("DELETE", "/books/" + book, null);
            } catch (IOException e) {
                // The server may be gone.
            }
        }
        http.close();
    }
}
