// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import lull.bench.util.Json;

/**
 * An HTTP request whose answer is always the same, and what tells that answer: for services without state. All of a service
 * are in one file of its data directory, with a text that says what they were computed from.
 *
 * @param target path and query, already encoded
 * @param type of the body; null for a GET without one
 * @param body null if there is none
 * @param status expected
 * @param length of the expected body in bytes
 * @param digest CRC-32C of the expected body, in hexadecimal
 */
public record FixedRequest(String target, String type, String body, int status, long length, String digest) {
    private static final String FILE = "requests.json";

    /** Returns a GET that must be answered with status 200 and {@code answer}. */
    public static FixedRequest get(String target, String answer) {
        return post(target, null, null, answer);
    }

    /** Returns a POST that must be answered with status 200 and {@code answer}. */
    public static FixedRequest post(String target, String type, String body, String answer) {
        byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
        return new FixedRequest(target, type, body, 200, bytes.length, digest(bytes));
    }

    /** Returns the CRC-32C of {@code bytes}, in hexadecimal. */
    public static String digest(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return String.format("%08x", crc.getValue());
    }

    /** Sends the request on {@code http}. */
    public HttpConnection.Answer send(HttpConnection http) throws IOException {
        return type == null ? http.get(target) : http.send("POST", target, type, body.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns null if {@code answer} is as expected, else what differs. */
    public String difference(HttpConnection.Answer answer) {
        if (answer.status() != status) {
            return "status is " + answer.status() + ", expected " + status;
        }
        if (answer.body().length != length) {
            return "length is " + answer.body().length + ", expected " + length;
        }
        String found = digest(answer.body());
        return found.equals(digest) ? null : "digest is " + found + ", expected " + digest;
    }

    /** Writes the file in one step. {@code origin} says from which data and Java. */
    public static void write(Path data, String origin, List<FixedRequest> all) throws IOException {
        List<Object> list = new ArrayList<>();
        for (FixedRequest request : all) {
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("target", request.target);
            map.put("type", request.type);
            map.put("body", request.body);
            map.put("status", request.status);
            map.put("length", request.length);
            map.put("digest", request.digest);
            list.add(map);
        }
        Map<String, Object> file = new LinkedHashMap<>();
        file.put("origin", origin);
        file.put("requests", list);
        Json.write(data.resolve(FILE), file);
    }

    /** Returns whether the file is there and of {@code origin}. */
    public static boolean isOf(Path data, String origin) throws IOException {
        return Files.exists(data.resolve(FILE)) && origin.equals(Json.readObject(data.resolve(FILE)).get("origin"));
    }

    /** Deletes the file, if it is there: before anything changes that it was computed from. */
    public static void delete(Path data) throws IOException {
        Files.deleteIfExists(data.resolve(FILE));
    }

    /** Reads the file. @throws IOException if it is missing or not as written */
    public static List<FixedRequest> read(Path data) throws IOException {
        Path file = data.resolve(FILE);
        if (!Files.exists(file)) {
            throw new IOException(file + " is missing: prepare the service first (PrepareMain --service NAME --data " + data + ")");
        }
        List<FixedRequest> all = new ArrayList<>();
        try {
            for (Object entry : (List<?>) Json.readObject(file).get("requests")) {
                Map<?, ?> map = (Map<?, ?>) entry;
                all.add(new FixedRequest((String) map.get("target"), (String) map.get("type"), (String) map.get("body"),
                        Math.toIntExact((Long) map.get("status")), (Long) map.get("length"), (String) map.get("digest")));
            }
        } catch (ClassCastException | NullPointerException e) {
            throw new IOException(file + " is not a list of requests (" + e.getMessage() + "): delete it and prepare again", e);
        }
        return all;
    }
}
