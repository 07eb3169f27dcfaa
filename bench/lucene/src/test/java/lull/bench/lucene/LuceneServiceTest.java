// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.lucene;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.Random;
import lull.bench.load.FixedRequest;
import lull.bench.load.HttpConnection;
import lull.bench.service.Service;
import lull.bench.service.Service.WrongAnswerException;
import lull.bench.service.Services;
import lull.bench.util.Cli.UsageException;
import lull.bench.util.Json;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The service as a whole, in this process, on a small tree of made-up texts. */
class LuceneServiceTest {
    @TempDir
    private Path data;
    @TempDir
    private Path openjdk;
    private final Service service = Services.find("lucene");

    @BeforeEach
    void makeTree() throws IOException {
        Random random = new Random(5);
        Path tree = Files.createDirectories(openjdk.resolve(Corpus.TREE).resolve("lang"));
        for (int file = 0; file < 30; file++) {
            StringBuilder text = new StringBuilder("The zebra of file" + file + "\n");
            for (int word = 0; word < 900; word++) {
                text.append("word").append((char) ('a' + (int) Math.abs(random.nextGaussian() * 8))).append(word % 12 == 11 ? '\n' : ' ');
            }
            Files.writeString(tree.resolve("File" + file + ".java"), text);
        }
        Files.writeString(tree.resolve("Aardvark.java"), "quokka quokka here\n");
        Files.writeString(tree.resolve("Other.java"), "a long text of many words with one quokka there\n");
        Files.writeString(tree.resolve("no.txt"), "quokka");
    }

    private Map<String, String> options(String... more) {
        return more.length == 0 ? Map.of("openjdk", openjdk.toString()) : Map.of("openjdk", openjdk.toString(), more[0], more[1]);
    }

    private void everyAnswerIsRight() throws Exception {
        try (Service.Running running = service.start(data, 0, 2)) {
            Service.Caller caller = service.caller(data, 1);
            assertTrue(caller.variety() > 100, "" + caller.variety());
            try (Service.Connection connection = caller.connect(running.port())) {
                for (int i = 0; i < caller.variety(); i++) {
                    connection.request(i);
                }
            }
        }
    }

    @Test
    void mappedIndexAnswers() throws Exception {
        service.prepare(data, options());
        everyAnswerIsRight();
    }

    @Test
    void indexInTheHeapGivesTheSameAnswers() throws Exception {
        service.prepare(data, options());
        List<FixedRequest> mapped = FixedRequest.read(data);
        service.prepare(data, options("index", "heap"));
        assertEquals(mapped, FixedRequest.read(data));
        everyAnswerIsRight();
    }

    @Test
    void findsTheRightTextsInOrder() throws Exception {
        service.prepare(data, options());
        try (Service.Running running = service.start(data, 0, 1); HttpConnection http = new HttpConnection(running.port(), 10_000)) {
            Map<String, Object> answer = Json.parseObject(new String(http.get("/search?q=quokkas").body(), StandardCharsets.UTF_8));
            assertEquals("2 hits", answer.get("hits"));
            List<?> best = (List<?>) answer.get("best");
            Map<?, ?> first = (Map<?, ?>) best.getFirst();
            Map<?, ?> second = (Map<?, ?>) best.getLast();
            assertEquals("lang/Aardvark.java#0", first.get("name"));
            assertEquals("lang/Other.java#0", second.get("name"));
            assertTrue(Float.parseFloat((String) first.get("score")) > Float.parseFloat((String) second.get("score")));
            String zebras = new String(http.get("/search?q=zebra").body(), StandardCharsets.UTF_8);
            assertEquals("30 hits", Json.parseObject(zebras).get("hits"));
            assertEquals(10, ((List<?>) Json.parseObject(zebras).get("best")).size());
            assertTrue(zebras.contains("The zebra of file"), zebras);
            assertEquals(400, http.get("/search?q=%22").status());
            assertEquals(400, http.get("/search").status());
            assertEquals(404, http.get("/other?q=a").status());
        }
    }

    @Test
    void wrongAnswersAreFound() throws Exception {
        service.prepare(data, options());
        List<FixedRequest> right = FixedRequest.read(data);
        // Another corpus, same words: scores differ, though many of the best texts may be the same.
        service.prepare(data, options("documents", "20"));
        FixedRequest.write(data, "spoilt", right);
        try (Service.Running running = service.start(data, 0, 1); Service.Connection connection = service.caller(data, 1).connect(running.port())) {
            for (int i = 0; i < 10; i++) {
                int number = i;
                WrongAnswerException e = assertThrows(WrongAnswerException.class, () -> connection.request(number));
                assertTrue(e.getMessage().contains("expected") && e.getMessage().contains("/search?q="), e.getMessage());
            }
        }
    }

    @Test
    void preparesOnceAndExplainsErrors() throws Exception {
        assertTrue(assertThrows(IOException.class, () -> service.start(data, 0, 1)).getMessage().contains("prepare the service first"));
        assertTrue(assertThrows(IOException.class, () -> service.prepare(data, Map.of())).getMessage().contains("--openjdk"));
        assertTrue(assertThrows(IOException.class, () -> service.prepare(data, Map.of("openjdk", "/nowhere"))).getMessage().contains("/nowhere/" + Corpus.TREE));
        assertTrue(assertThrows(UsageException.class, () -> service.prepare(data, options("index", "disk"))).getMessage().contains("'disk'"));
        assertTrue(assertThrows(UsageException.class, () -> service.prepare(data, options("documents", "0"))).getMessage().contains("documents"));
        service.prepare(data, options());
        Path file = data.resolve("requests.json");
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));
        service.prepare(data, options());
        assertEquals(FileTime.fromMillis(1_000_000), Files.getLastModifiedTime(file));
        service.prepare(data, options("documents", "7"));
        assertNotEquals(FileTime.fromMillis(1_000_000), Files.getLastModifiedTime(file));
    }

    @Test
    void takenPortIsAnErrorAndClosingFreesIt() throws Exception {
        service.prepare(data, options());
        int port;
        try (Service.Running running = service.start(data, 0, 1)) {
            port = running.port();
            assertTrue(assertThrows(IOException.class, () -> service.start(data, port, 1)).getMessage().contains("" + port));
        }
        service.start(data, port, 1).close();
    }
}
