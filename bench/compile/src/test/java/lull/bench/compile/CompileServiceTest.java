// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.compile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import lull.bench.load.FixedRequest;
import lull.bench.load.HttpConnection;
import lull.bench.service.Service;
import lull.bench.service.Services;
import lull.bench.util.Json;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The service as a whole, on two small sources, in this process. */
class CompileServiceTest {
    @TempDir
    private Path data;

    private void makeData(boolean spoil) throws IOException {
        Map<String, String> texts = Map.of("a b/A.java", "class A { class B { } }", "C.java", "class C { java.util.List l = null; }");
        for (Map.Entry<String, String> text : texts.entrySet()) {
            Path file = data.resolve("sources").resolve(text.getKey());
            Files.createDirectories(file.getParent());
            Files.writeString(file, text.getValue());
        }
        List<FixedRequest> right = CompileService.ask(texts);
        FixedRequest.write(data, "test", right.stream()
                .map(r -> spoil ? new FixedRequest(r.target(), r.type(), r.body(), r.status(), r.length(), "00000000") : r).toList());
    }

    /** A source that does not compile with this JDK makes no request. */
    @Test
    void onlyWhatCompilesIsAsked() throws Exception {
        List<FixedRequest> requests = CompileService.ask(Map.of("A.java", "class A { }", "B.java", "class B extends None { }"));
        assertEquals(List.of("/compile?source=A.java"), requests.stream().map(FixedRequest::target).toList());
    }

    @Test
    void answersAreCheckedAndRight() throws Exception {
        makeData(false);
        Service service = Services.find("compile");
        try (Service.Running running = service.start(data, 0, 2)) {
            Service.Caller caller = service.caller(data, 1);
            assertEquals(2, caller.variety());
            try (Service.Connection connection = caller.connect(running.port())) {
                for (int i = 0; i < 4; i++) {
                    connection.request(i);
                }
            }
            try (HttpConnection http = new HttpConnection(running.port(), 10_000)) {
                HttpConnection.Answer health = http.get("/health");
                assertEquals(Map.of("status", "UP", "sources", 2L), Json.parseObject(new String(health.body(), StandardCharsets.UTF_8)));
                assertEquals(404, http.get("/compile?source=none").status());
                assertEquals(400, http.get("/compile").status());
            }
        }
    }

    @Test
    void wrongAnswersAreFound() throws Exception {
        makeData(true);
        Service service = new CompileService();
        try (Service.Running running = service.start(data, 0, 1); Service.Connection connection = service.caller(data, 1).connect(running.port())) {
            Service.WrongAnswerException e = assertThrows(Service.WrongAnswerException.class, () -> connection.request(0));
            assertTrue(e.getMessage().contains("digest is") && e.getMessage().contains("expected 00000000"), e.getMessage());
        }
    }

    @Test
    void missingDataIsExplained() {
        assertTrue(assertThrows(IOException.class, () -> new CompileService().start(data, 0, 1)).getMessage().contains("prepare the service first"));
        assertTrue(assertThrows(IOException.class, () -> new CompileService().prepare(data, Map.of())).getMessage().contains("--openjdk"));
        assertTrue(assertThrows(IOException.class, () -> new CompileService().prepare(data, Map.of("openjdk", "/nowhere"))).getMessage()
                .contains("/nowhere/test/langtools/tools/javac"));
    }

    @Test
    void listIsLargeEnoughAndInOrder() {
        List<String> names = Sources.names();
        assertTrue(names.size() >= Sources.FEWEST, "" + names.size());
        assertEquals(names.stream().sorted().distinct().toList(), names);
    }
}
