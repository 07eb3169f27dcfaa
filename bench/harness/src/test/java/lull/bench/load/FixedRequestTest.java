// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FixedRequestTest {
    @TempDir
    private Path data;

    @Test
    void fileKeepsRequestsAndOrigin() throws IOException {
        List<FixedRequest> all = List.of(FixedRequest.get("/a?b=c", "x"), FixedRequest.post("/d", "text/plain", "\u00e9\n", "y"));
        FixedRequest.write(data, "here", all);
        assertEquals(all, FixedRequest.read(data));
        assertTrue(FixedRequest.isOf(data, "here"));
        assertFalse(FixedRequest.isOf(data, "there"));
        Files.writeString(data.resolve("requests.json"), "{\"requests\": [1]}");
        assertTrue(assertThrows(IOException.class, () -> FixedRequest.read(data)).getMessage().contains("prepare again"));
        FixedRequest.delete(data);
        assertFalse(FixedRequest.isOf(data, "here"));
        assertTrue(assertThrows(IOException.class, () -> FixedRequest.read(data)).getMessage().contains("prepare the service first"));
    }

    @Test
    void everyDifferenceIsFound() {
        FixedRequest request = FixedRequest.get("/", "abc");
        assertNull(request.difference(new HttpConnection.Answer(200, bytes("abc"))));
        assertEquals("status is 500, expected 200", request.difference(new HttpConnection.Answer(500, bytes("abc"))));
        assertEquals("length is 4, expected 3", request.difference(new HttpConnection.Answer(200, bytes("abcd"))));
        assertTrue(request.difference(new HttpConnection.Answer(200, bytes("abd"))).startsWith("digest is "));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
