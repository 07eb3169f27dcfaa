// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.budget;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import lull.bench.util.Cli;

/** Prints the table of runs of the same phases, and writes their page. */
public final class ReportMain {
    private static final String USAGE = "ReportMain --runs FILE,FILE,... --settings TEXT --page FILE";

    private ReportMain() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("runs", "settings", "page"), args, ReportMain::run);
    }

    private static int run(Cli cli) throws IOException {
        List<Run> runs = new ArrayList<>();
        for (String file : cli.text("runs").split(",", -1)) {
            Run run = Run.read(Path.of(file));
            if (!runs.isEmpty() && !names(run).equals(names(runs.getFirst()))) {
                throw new IOException(file + " has the phases " + names(run) + ", the first run has " + names(runs.getFirst()) + ": they cannot be compared");
            }
            runs.add(run);
        }
        BudgetPage page = new BudgetPage(runs, cli.text("settings"));
        Files.writeString(Path.of(cli.text("page")), page.html());
        System.out.println(page.text());
        return 0;
    }

    private static List<String> names(Run run) {
        return run.phases().stream().map(Run.PhaseResult::phase).toList();
    }
}
