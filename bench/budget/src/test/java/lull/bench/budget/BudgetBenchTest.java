// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import lull.bench.util.Cli;
import lull.bench.util.Json;
import org.apache.lucene.util.BytesRef;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BudgetBenchTest {
    private static BytesRef payload(int number) {
        return Documents.document(number).getBinaryValue("payload");
    }

    @Test
    void aPayloadTellsItsDocument() {
        assertEquals(4711, Documents.check(payload(4711)));
        BytesRef wrong = payload(4711);
        ByteBuffer.wrap(wrong.bytes, wrong.offset, 4).putInt(4712);
        assertThrows(IllegalStateException.class, () -> Documents.check(wrong));
        assertThrows(IllegalStateException.class, () -> Documents.check(new BytesRef(new byte[10])));
    }

    @Test
    void frequentWordsAreFrequent() {
        Random random = new Random(1);
        long first = IntStream.range(0, 100_000).filter(i -> Documents.term(random).length() <= 3).count();
        assertTrue(first > 10_000 && first < 40_000, first + " of the first 1296 words");
    }

    @Test
    void phasesAreParsed() {
        assertEquals(List.of(new Phase("ingest", 60), new Phase("search", 90)), Phase.parse("ingest:60,search:90", StorageService.KINDS));
        for (String wrong : List.of("", "search", "search:x", "search:1", "read:60", "search:60,search:60", "search:60,")) {
            assertThrows(Cli.UsageException.class, () -> Phase.parse(wrong, StorageService.KINDS), wrong);
        }
    }

    @Test
    void anIndexIsMadeOnce(@TempDir Path directory) throws Exception {
        Path index = directory.resolve("index");
        StoredIndex.make(index, 200);
        long before = Files.getLastModifiedTime(index.resolve("documents")).toMillis();
        StoredIndex.make(index, 200);
        assertEquals(before, Files.getLastModifiedTime(index.resolve("documents")).toMillis());
        try (StoredIndex stored = new StoredIndex(index)) {
            for (int i = 0; i < 100; i++) {
                stored.search(new Random(i));
            }
        }
    }

    @Test
    void aRunIsMeasuredAndReported(@TempDir Path directory) throws Exception {
        Path index = directory.resolve("index");
        StoredIndex.make(index, 500);
        Path file = directory.resolve("run.json");
        try (StoredIndex stored = new StoredIndex(index)) {
            Map<String, Object> result = new StorageService(stored, directory.resolve("scratch"), null, 15).run(Phase.parse("ingest:2,search:2,mixed:2", StorageService.KINDS));
            result.put("name", "static-512");
            Json.write(file, result);
        }
        try (Stream<Path> left = Files.list(directory.resolve("scratch"))) {
            assertEquals(0, left.count(), "what was written is deleted");
        }
        Run run = Run.read(file);
        assertEquals(List.of("ingest", "search", "mixed"), run.phases().stream().map(Run.PhaseResult::phase).toList());
        assertEquals(6, run.seconds().size());
        for (int i = 0; i < 3; i++) {
            assertTrue(run.phases().get(i).perSecond() > 0, "nothing was done in phase " + i);
            assertEquals(2, run.seconds(i).size());
        }
        assertTrue(run.seconds().stream().allMatch(second -> second.heapMegabytes() > 0 && second.cacheMegabytes() == -1));
        BudgetPage page = new BudgetPage(List.of(run, run), "settings");
        assertTrue(page.text().contains("1.00"), page.text());
        assertTrue(page.html().contains("<svg"), "no picture");
    }

    @Test
    void aPhaseWithoutEnoughMemoryIsAResult() throws Exception {
        PhaseRunner runner = new PhaseRunner(null);
        Phase phase = new Phase("mixed", 2);
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> runner.measure(phase, 1, random -> {
            throw new OutOfMemoryError("a test's");
        }));
        assertTrue(e.getCause() instanceof OutOfMemoryError);
        runner.nothing(phase);
        assertEquals(0.0, ((Map<?, ?>) ((List<?>) runner.result().get("phases")).getFirst()).get("per_second"));
        Run ended = run("static-100", 0, 100, 100, 100, 100);
        Run other = run("static-200", 10, 200, 200, 200, 200);
        List<String> findings = new BudgetPage(List.of(ended, other), "settings").findings();
        assertTrue(findings.getFirst().contains("too small"), findings.toString());
        assertTrue(findings.getLast().contains("static-100 0.00"), findings.toString());
    }

    private static Run run(String name, double perSecond, double... heaps) {
        List<Run.Second> seconds = IntStream.range(0, heaps.length)
                .mapToObj(i -> new Run.Second(i + 1, i < heaps.length / 2 ? "ingest" : "search", perSecond, heaps[i], 10)).toList();
        return new Run(name, List.of(new Run.PhaseResult("ingest", perSecond, perSecond, 1, 2), new Run.PhaseResult("search", 4 * perSecond, perSecond, 1, 2)), seconds);
    }

    @Test
    void reactionAndWholeRunAreWorkedOut() {
        Run moved = run("budget-g1", 200, 100, 100, 100, 100, /* search */ 100, 60, 21, 20);
        assertEquals(0, moved.reactionSeconds(0));
        assertEquals(2, moved.reactionSeconds(1), "60 is still 40 from the end, 21 is not");
        assertEquals(3, run("back", 100, 100, 100, 100, 100, /* search */ 100, 400, 400, 100).reactionSeconds(1), "it moves, and comes back");
        assertEquals(0, run("noise", 100, 100, 100, 100, 100, /* search */ 95, 105, 95, 100).reactionSeconds(1));
        Run fixed = run("static-100", 100, 100, 100, 100, 100, 100, 100, 100, 100);
        BudgetPage page = new BudgetPage(List.of(fixed, moved), "settings");
        assertEquals(2, page.wholeRun(moved, fixed), 1e-9);
        List<String> row = page.table().rows().get(2);
        assertEquals("2.00", row.get(2));
        assertEquals("heap MiB", page.table().rows().getFirst().get(4));
        assertEquals("19", row.get(9), "20 * 10^6 bytes");
        for (String text : List.of(page.text(), page.html())) {
            assertTrue(text.contains("p99 ms, closed loop") && text.contains("closed loop, from sending"), text);
        }
    }
}
