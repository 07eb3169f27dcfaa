// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.spark;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lull.bench.budget.Phase;
import lull.bench.budget.PhaseRunner;
import lull.bench.load.FixedRequest;
import lull.bench.util.Cli;
import lull.bench.util.Json;

/** For the bench of the heap budget: makes tables on disk, or runs phases of reports on them in this JVM and writes what was measured. */
public final class SparkBudgetMain {
    private static final String USAGE = "SparkBudgetMain --tables DIR (--make ORDERS [--months N] | --phases KIND:SECONDS,... --name NAME --out FILE [--group DIR])";
    /** Reports under way, and threads that work on their tasks. */
    private static final int REPORTS = 4;
    private static final int TASKS = 4;

    private SparkBudgetMain() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("tables", "make", "months", "phases", "name", "out", "group"), args, SparkBudgetMain::run);
    }

    private static int run(Cli cli) throws Exception {
        Path data = Path.of(cli.text("tables"));
        int orders = (int) cli.number("make", 0, 10, 100_000_000);
        if (orders > 0) {
            MonthTables.make(data, orders, (int) cli.number("months", 74, 1, 74));
            return 0;
        }
        List<Phase> phases = Phase.parse(cli.text("phases"), MonthTables.KINDS);
        String name = cli.text("name");
        Path out = Path.of(cli.text("out"));
        String group = cli.text("group", "");
        Map<String, Object> result = measure(data, phases, group.isEmpty() ? null : Path.of(group));
        result.put("name", name);
        Json.write(out, result);
        return 0;
    }

    static Map<String, Object> measure(Path data, List<Phase> phases, Path memoryGroup) throws IOException, InterruptedException {
        List<FixedRequest> all = FixedRequest.read(data);
        PhaseRunner runner = new PhaseRunner(memoryGroup);
        try (Spark spark = new Spark(TASKS)) {
            MonthTables.open(spark, data);
            for (Phase phase : phases) {
                List<FixedRequest> reports = all.stream().filter(report -> report.target().equals("/" + phase.kind())).toList();
                runner.measure(phase, REPORTS, random -> check(spark, reports.get(random.nextInt(reports.size()))));
            }
        }
        return runner.result();
    }

    private static void check(Spark spark, FixedRequest report) throws Exception {
        byte[] answer = spark.answer(report.body()).getBytes(StandardCharsets.UTF_8);
        if (answer.length != report.length() || !FixedRequest.digest(answer).equals(report.digest())) {
            throw new IllegalStateException("the answer to '" + report.body() + "' is not what it was when the tables were made");
        }
    }
}
