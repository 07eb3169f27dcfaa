// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsFileTest {
    @TempDir
    private Path directory;
    private final List<String> warnings = new ArrayList<>();

    private static Setup setup(String libjvm) {
        return new Setup("h2", "warehouses=2", "lull", "25.0.3+9", libjvm, "-XX:+UseLullGC", 140, 2.0, "1000 requests", "30 s", "2 x cpu");
    }

    private static Invocation invocation(int number, String failure) {
        return new Invocation(setup("abc"), number, 7, "2026-01-02T03:04:05Z", 30.5, failure == null ? Map.of("throughput", 12.5) : Map.of(), failure);
    }

    private ResultsFile read(Path file) throws IOException {
        return ResultsFile.read(file, warnings::add);
    }

    @Test
    void whatIsAppendedIsRead() throws IOException {
        Path file = directory.resolve("new/results.jsonl");
        assertEquals(List.of(), read(file).invocations());
        read(file).append(invocation(1, null));
        ResultsFile again = read(file);
        again.append(invocation(2, "no heap\nat all"));
        again.append(invocation(3, null));
        List<Invocation> expected = List.of(invocation(1, null), invocation(2, "no heap\nat all"), invocation(3, null));
        assertEquals(expected, again.invocations());
        assertEquals(expected, read(file).invocations());
        assertEquals(3, Files.readAllLines(file).size());
        assertEquals(List.of(), warnings);
    }

    @Test
    void aMetricThatIsNoNumberIsLeftOut() throws IOException {
        Path file = directory.resolve("r.jsonl");
        Invocation plain = invocation(1, null);
        read(file).append(new Invocation(plain.setup(), 1, 7, plain.started(), 30.5, Map.of("throughput", 12.5, "p50", Double.NaN), null));
        assertEquals(List.of(plain), read(file).invocations());
        assertTrue(Double.isNaN(plain.metric("p50")));
    }

    @Test
    void aTornLastLineIsToldAndReplaced() throws IOException {
        Path file = directory.resolve("r.jsonl");
        ResultsFile results = read(file);
        results.append(invocation(1, null));
        results.append(invocation(2, null));
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, java.util.Arrays.copyOf(bytes, bytes.length - 20));

        ResultsFile torn = read(file);
        assertEquals(List.of(invocation(1, null)), torn.invocations());
        assertEquals(1, warnings.size());
        assertTrue(warnings.getFirst().contains("r.jsonl:2") && warnings.getFirst().contains("torn"), warnings.getFirst());
        torn.append(invocation(3, null));
        assertEquals(List.of(invocation(1, null), invocation(3, null)), read(file).invocations());
        assertEquals(1, warnings.size());
    }

    @Test
    void aLastLineThatOnlyLacksItsEndCounts() throws IOException {
        Path file = directory.resolve("r.jsonl");
        read(file).append(invocation(1, null));
        Files.writeString(file, Files.readString(file).stripTrailing());
        ResultsFile results = read(file);
        results.append(invocation(2, null));
        assertEquals(List.of(invocation(1, null), invocation(2, null)), read(file).invocations());
        assertEquals(List.of(), warnings);
    }

    @Test
    void anotherBadLineIsAnError() throws IOException {
        Path file = directory.resolve("r.jsonl");
        read(file).append(invocation(1, null));
        Files.writeString(file, "{\"service\": \"h2\"}\n", StandardOpenOption.APPEND);
        String message = assertThrows(IOException.class, () -> read(file)).getMessage();
        assertTrue(message.contains("r.jsonl:2") && message.contains("options"), message);
    }

    @Test
    void buildsAreDifferentKeys() throws IOException {
        Path file = directory.resolve("r.jsonl");
        ResultsFile results = read(file);
        results.append(invocation(1, null));
        assertTrue(read(file).keys().contains(new Invocation.Key(setup("abc"), 1, 7)));
        assertFalse(read(file).keys().contains(new Invocation.Key(setup("def"), 1, 7)));
        assertNotEquals(setup("abc"), setup("def"));
        assertEquals(setup("abc"), setup("def").with(setup("abc").variant()));
    }
}
