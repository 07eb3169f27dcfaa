// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import lull.bench.util.Json;

/**
 * How much work an invocation does: numbers of requests that take G1 about the time that was asked for, and a rate of the open loop.
 * It is measured once and kept per state of the service, machine, Java of G1 and heap, so that all collectors, all builds of them and all days do the same work.
 *
 * @param warmup requests of the warm-up
 * @param requests of the closed loop
 * @param rate requests per second of the open loop
 * @param megabytes that G1 allocated for a request
 * @param before megabytes that G1 allocated before the first request
 */
record Calibration(long warmup, long requests, double rate, double megabytes, double before) {
    /** Of the smallest heap, in which G1 is measured: ample, so that the work does not depend on how well it collects. */
    private static final double FACTOR = 4;
    private static final String BEFORE = "megabytesBefore";
    /** A closed loop that takes this many times as long as G1's is broken off. */
    static final double PATIENCE = 20;

    /**
     * What is asked for.
     *
     * @param warmup seconds that it should take
     * @param closed seconds that the closed loop should take
     * @param share the open loop's rate as a part of the closed loop's throughput
     */
    record Wish(double warmup, double closed, double share) { }

    /** Returns the work of {@code workload}, from {@code file} if it is known. */
    static Calibration find(Settings settings, Workload workload, Collector g1, int smallest, Wish wish, Path file, Consumer<String> say)
            throws IOException, InterruptedException {
        Map<String, Object> known = Files.exists(file) ? Json.readObject(file) : new LinkedHashMap<>();
        int heap = (int) Math.round(FACTOR * smallest);
        String key = key(settings, workload, g1, heap, wish);
        if (known.get(key) instanceof Map<?, ?> found) {
            // Older files do not have the last number.
            double before = found.containsKey(BEFORE) ? number(found, BEFORE).doubleValue() : 0;
            return new Calibration(number(found, "warmup").longValue(), number(found, "requests").longValue(), number(found, "rate").doubleValue(),
                    number(found, "megabytesPerRequest").doubleValue(), before);
        }
        say.accept(workload.service() + ": measuring how many requests G1 does in the time, in " + heap + " MB (kept in " + file + ")");
        Path directory = file.resolveSibling("runs").resolve(workload.service() + "-calibration");
        Trial trial = Trial.run(workload, g1, heap, new Load(wish.warmup, wish.closed, Load.UNLIMITED, 0, "1", 10), Server.Allowance.ready(300),
                directory, line -> say.accept("  " + line));
        if (trial.errors() > 0) {
            throw new IOException(trial.errors() + " errors of " + workload.service() + " on G1: see " + directory);
        }
        Calibration found = of(trial.number("warm-up", "requests"), trial.number("closed", "answers"), trial.number("closed", "throughput"),
                wish.share, trial.allocatedPerAnswer(), trial.allocatedBefore());
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("warmup", found.warmup);
        entry.put("requests", found.requests);
        entry.put("rate", found.rate);
        entry.put("megabytesPerRequest", found.megabytes);
        entry.put(BEFORE, found.before);
        known.put(key, entry);
        Json.write(file, known);
        return found;
    }

    /**
     * What the work depends on: with another Java, heap or state of the service, G1 does another number of requests in the time. Builds of one
     * version are the same Java here, for G1 is in builds of Lull, too, which are to be compared by the same work.
     */
    static String key(Settings settings, Workload workload, Collector g1, int heap, Wish wish) throws IOException, InterruptedException {
        return String.join(" | ", workload.service(), workload.options(), settings.threads() + " threads", Machine.here().toString(),
                String.format(Locale.ROOT, "warm-up %s s, closed loop %s s, rate %s", wish.warmup, wish.closed, wish.share),
                Jdk.of(g1.java()).text().replace("\n", ", "), heap + " MB", String.join(" ", settings.flags()), "service " + workload.identity());
    }

    private static Number number(Map<?, ?> map, String name) {
        return (Number) map.get(name);
    }

    /** Rounds what was measured to two digits, which are enough, and easy to repeat by hand. */
    static Calibration of(double warmup, double answers, double throughput, double share, double megabytes, double before) {
        return new Calibration(Math.max(1, (long) twoDigits(warmup)), Math.max(1, (long) twoDigits(answers)), twoDigits(share * throughput), megabytes,
                before);
    }

    private static double twoDigits(double value) {
        return BigDecimal.valueOf(value).round(new MathContext(2)).doubleValue();
    }

    /** Describes the fixed work: invocations of equal descriptions may be compared. */
    String work(int threads) {
        return threads + " threads; warm-up of " + warmup + " requests; closed loop of " + requests + " requests";
    }

    /** Describes the open loop. */
    String open(double seconds) {
        return seconds == 0 ? "" : String.format(Locale.ROOT, "%s s at %s/s", seconds, rate);
    }

    /** Returns the load of an invocation with {@code open} seconds of open loop. */
    Load load(Wish wish, double open) {
        return new Load(PATIENCE * wish.warmup, "" + warmup, PATIENCE * wish.closed, "" + requests, open, "" + rate, 10);
    }

    /** Returns why {@code trial} did not do the work, or null if it did. */
    String failure(Trial trial) {
        if (trial.errors() > 0) {
            for (String phase : List.of("warm-up", "closed", "open")) {
                if (trial.phase(phase) != null && trial.number(phase, "errors") > 0) {
                    return trial.errors() + " errors, the first: " + ((List<?>) trial.phase(phase).get("errorSamples")).getFirst();
                }
            }
        }
        String undone = undone(trial, "warm-up", warmup);
        return undone != null ? undone : undone(trial, "closed", requests);
    }

    private static String undone(Trial trial, String phase, long wanted) {
        double answers = trial.number(phase, "answers");
        return answers == wanted ? null : String.format(Locale.ROOT, "%.0f of %d answers of the %s loop in %.0f s, which is %.0f times as long as G1 needs",
                answers, wanted, phase, trial.number(phase, "seconds"), PATIENCE);
    }

    /**
     * Returns the heap in megabytes that never needs a collection for the fixed work: a collector that does none needs it.
     *
     * @param smallest heap in which the service runs with collection
     */
    int heapWithoutCollection(int smallest) {
        // A quarter more, as requests differ and what is allocated during a collection was not seen, and the smallest heap for what it kept.
        return (int) Math.ceil(1.25 * (before + megabytes * (warmup + requests))) + 2 * smallest + 64;
    }
}
