// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.budget;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lull.bench.util.Cli;
import lull.bench.util.Json;

/** Makes the index, or runs the phases on it in this JVM and writes what was measured. */
public final class BudgetMain {
    private static final String USAGE = "BudgetMain --index DIR (--make DOCUMENTS | --phases KIND:SECONDS,... --name NAME --out FILE [--live MEGABYTES] [--group DIR])";

    private BudgetMain() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("index", "make", "phases", "name", "out", "live", "group"), args, BudgetMain::run);
    }

    private static int run(Cli cli) throws Exception {
        Path path = Path.of(cli.text("index"));
        int documents = (int) cli.number("make", 0, 10, 1_000_000_000);
        if (documents > 0) {
            StoredIndex.make(path, documents);
            return 0;
        }
        List<Phase> phases = Phase.parse(cli.text("phases"), StorageService.KINDS);
        String name = cli.text("name");
        Path out = Path.of(cli.text("out"));
        String group = cli.text("group", "");
        int live = (int) cli.number("live", 300, 10, 100_000);
        try (StoredIndex index = new StoredIndex(path)) {
            Map<String, Object> result = new StorageService(index, path.resolve("scratch"), group.isEmpty() ? null : Path.of(group), live).run(phases);
            result.put("name", name);
            Json.write(out, result);
        }
        return 0;
    }
}
