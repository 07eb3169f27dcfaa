// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import lull.bench.util.Cli;
import lull.bench.util.Cli.UsageException;
import lull.report.gclog.GcLog;

/**
 * A long closed loop on one Java: N requests, or those of a time, every answer checked. Fails if one is wrong or missing, if the server ends or does not stop
 * as it should, or if not all N are done in the time allowed. See {@code bench/soak.sh}.
 */
public final class Soak {
    private static final String USAGE = "soak.sh (no arguments; settings are environment variables, see `soak.sh --help`)";

    private Soak() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of(), args, cli -> run(Settings.of(System.getenv())));
    }

    private static int run(Settings settings) throws Exception {
        Path java = Path.of(settings.text("SOAK_JAVA", settings.build().resolve("jdk-debug/bin/java").toString()));
        if (!Files.isExecutable(java)) {
            throw new UsageException("SOAK_JAVA is '" + java + "', which is no program: run `make jdk-debug`, or name another java");
        }
        long requests = settings.number("SOAK_REQUESTS", 100_000, 1, 100_000_000);
        int heap = (int) settings.number("SOAK_HEAP", 256, 8, 1 << 20);
        long seconds = settings.number("SOAK_SECONDS", 0, 0, 30 * 86_400);
        if (seconds > 0 && !settings.text("SOAK_REQUESTS", "").isEmpty()) {
            throw new UsageException("SOAK_SECONDS is " + seconds + " and SOAK_REQUESTS " + requests + ": a soak ends after a time or after a number of requests, so give one of them");
        }
        double hours = settings.decimal("SOAK_HOURS", 24, 0.001, 24 * 30);
        int every = (int) settings.number("SOAK_PROGRESS", 10, 1, 3600);
        List<String> flags = new ArrayList<>(settings.words("SOAK_FLAGS", "-XX:+UseLullGC -XX:+UnlockDiagnosticVMOptions -XX:+VerifyAfterGC"));
        Collector collector = new Collector("soak", "soak", java, flags);

        Workload workload = new Workload(settings, settings.text("SERVICE", "compile"));
        workload.prepare(java);
        Path directory = settings.build().resolve("soak").resolve(workload.service());
        System.out.println(Jdk.of(java).text());
        System.out.println("flags: " + String.join(" ", flags) + "  heap: " + heap + " MB  " + (seconds > 0 ? "seconds: " + seconds : "requests: " + requests) + "  seed: " + settings.seed());
        Load load = seconds > 0 ? new Load(0, seconds, Load.UNLIMITED, 0, "1", every) : new Load(0, hours * 3600, "" + requests, 0, "1", every);
        Trial trial = Trial.run(workload, collector, heap, load, Server.Allowance.ready(1200), directory, System.out::println);

        long answers = (long) trial.number("closed", "answers");
        long missing = missing(trial, seconds > 0 ? 0 : requests);
        GcLog log = trial.log(trial.measuredFrom(), trial.measuredTo());
        System.out.printf(Locale.ROOT, "%n%d requests in %.0f s (%.1f/s): %d right answers, %d errors, %d not done%n", answers + trial.errors() + missing,
                trial.number("closed", "seconds"), trial.number("closed", "throughput"), answers, trial.errors(), missing);
        System.out.printf(Locale.ROOT, "%d pauses, %.0f ms in all, longest %.1f ms; latency p50 %.1f ms, p99 %.1f ms, max %.1f ms%n", log.pauses().size(),
                log.totalMillis(), log.longestMillis(), trial.number("closed", "p50"), trial.number("closed", "p99"), trial.number("closed", "max"));
        for (Object sample : (List<?>) trial.phase("closed").get("errorSamples")) {
            System.out.println("error: " + sample);
        }
        List<String> failures = failures(trial, seconds > 0 ? 0 : requests);
        System.out.println(failures.isEmpty() ? "soak passed" : "soak FAILED: " + String.join("; ", failures) + " (files: " + directory + ")");
        return failures.isEmpty() ? 0 : 1;
    }

    /** Returns how many requests have neither an answer nor an error: of {@code requests}, or, if that is 0, of those that were begun. */
    private static long missing(Trial trial, long requests) {
        long begun = (long) trial.number("closed", "requests");
        return (long) trial.number("closed", "unanswered") + (requests == 0 ? 0 : requests - begun);
    }

    /** Returns why the soak failed, nothing if it passed. {@code requests} is 0 if it was to end by time. */
    static List<String> failures(Trial trial, long requests) {
        List<String> failures = new ArrayList<>();
        if (trial.number("closed", "answers") == 0) {
            failures.add("no answer");
        }
        if (trial.errors() > 0) {
            failures.add(trial.errors() + " errors");
        }
        if (missing(trial, requests) != 0) {
            failures.add(missing(trial, requests) + " requests not done");
        }
        // A debug build checks itself when it stops, too.
        if (trial.end().failure() != null) {
            failures.add(trial.end().failure());
        }
        return failures;
    }
}
