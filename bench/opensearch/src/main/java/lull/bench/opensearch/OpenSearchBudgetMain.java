// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.opensearch;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lull.bench.budget.Phase;
import lull.bench.budget.PhaseRunner;
import lull.bench.util.Cli;
import lull.bench.util.Json;

/** For the bench of the heap budget: makes OpenSearch's index, or runs phases on it in this JVM and writes what was measured. */
public final class OpenSearchBudgetMain {
    private static final String USAGE = "OpenSearchBudgetMain --index DIR (--make DOCUMENTS | --phases KIND:SECONDS,... --name NAME --out FILE [--group DIR])";
    private static final String INGEST = "ingest";
    private static final String SEARCH = "search";
    private static final String MIXED = "mixed";
    static final List<String> KINDS = List.of(INGEST, SEARCH, MIXED);
    private static final int SEARCH_THREADS = 6;
    private static final int INGEST_THREADS = 2;
    /** Of the requests of the mixed phase, one in so many is a report. */
    private static final int REPORTS = 3;

    private OpenSearchBudgetMain() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("index", "make", "phases", "name", "out", "group"), args, OpenSearchBudgetMain::run);
    }

    private static int run(Cli cli) throws Exception {
        Path data = Path.of(cli.text("index"));
        int documents = (int) cli.number("make", 0, 10, 100_000_000);
        if (documents > 0) {
            StoredIndex.make(data, documents);
            return 0;
        }
        List<Phase> phases = Phase.parse(cli.text("phases"), KINDS);
        String name = cli.text("name");
        Path out = Path.of(cli.text("out"));
        String group = cli.text("group", "");
        Map<String, Object> result = measure(data, phases, group.isEmpty() ? null : Path.of(group));
        result.put("name", name);
        Json.write(out, result);
        return 0;
    }

    static Map<String, Object> measure(Path data, List<Phase> phases, Path memoryGroup) throws IOException, InterruptedException {
        PhaseRunner runner = new PhaseRunner(memoryGroup);
        try (StoredIndex index = new StoredIndex(data)) {
            for (Phase phase : phases) {
                switch (phase.kind()) {
                    case INGEST -> {
                        index.beginIngest();
                        runner.measure(phase, INGEST_THREADS, index::ingest);
                        index.endIngest();
                    }
                    case SEARCH -> runner.measure(phase, SEARCH_THREADS, index::search);
                    case MIXED -> runner.measure(phase, SEARCH_THREADS, random -> {
                        if (random.nextInt(REPORTS) == 0) {
                            index.report(random);
                        } else {
                            index.search(random);
                        }
                    });
                    default -> throw new IllegalArgumentException("no such phase: " + phase.kind());
                }
            }
        }
        return runner.result();
    }
}
