// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpFrontTest {
    private final String before = System.getProperty("lull.bench.virtual", "");

    @AfterEach
    void restore() {
        System.setProperty("lull.bench.virtual", before);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void answersOnTheThreadsThatWereAskedFor(boolean virtual) throws Exception {
        System.setProperty("lull.bench.virtual", Boolean.toString(virtual));
        HttpFront.Handler handler = request -> HttpFront.Answer.ok(request.path() + " " + Thread.currentThread().isVirtual());
        try (HttpFront front = new HttpFront(0, 2, handler); HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + front.port() + "/a")).build();
            assertEquals("/a " + virtual, client.send(request, BodyHandlers.ofString()).body());
        }
    }
}
