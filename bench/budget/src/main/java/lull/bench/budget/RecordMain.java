// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.budget;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lull.bench.util.Cli;
import lull.bench.util.Json;

/**
 * Writes what the heap budget has measured in runs with heaps of fixed sizes as tables of C++, for the simulation in which the policy is tested. Of each run
 * there must be FILE.json, and FILE.log beside it with {@code -Xlog:gc+budget=trace}.
 */
public final class RecordMain {
    private static final String USAGE = "RecordMain --runs FILE,FILE,... --settings TEXT --out FILE";
    /** Seconds at the beginning of each phase that are left out: the page cache fills, code is compiled. */
    private static final int LEFT_OUT = 12;
    private static final Pattern SIZES = Pattern.compile("\\[([0-9.]+)s\\].* heap ([0-9]+)M, live ([0-9]+)M, ");
    private static final Pattern TIMES = Pattern.compile("interval: paused ([0-9.]+)ms in ([0-9]+) collections, concurrent ([0-9.]+)ms; mutators: running ([0-9.]+)ms,"
            + " waiting ([0-9.]+)ms, stalled ([0-9.]+)ms( \\(not known\\))?; read ([0-9]+)K( \\(not known\\))?;"
            + " allocated ([0-9]+)K; reserve ([0-9]+)M");

    /** Of an interval, in the order of the test's RecordedInterval. */
    private record Interval(double uptime, int heap, List<Long> fields) { }

    private RecordMain() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("runs", "settings", "out"), args, RecordMain::run);
    }

    private static int run(Cli cli) throws IOException {
        StringBuilder tables = new StringBuilder();
        StringBuilder sizes = new StringBuilder();
        for (String file : cli.text("runs").split(",", -1)) {
            Path json = Path.of(file);
            List<Interval> intervals = intervals(Path.of(file.replaceFirst("[.]json$", ".log")));
            for (Map.Entry<String, List<Map<String, Object>>> phase : phases(json).entrySet()) {
                List<String> rows = rows(intervals, phase.getValue());
                if (rows.size() < 5) {
                    throw new IOException(json + ": of the phase " + phase.getKey() + " there are " + rows.size() + " intervals in which all is known: give it more seconds");
                }
                int heap = intervals.getLast().heap();
                String name = "recorded_" + phase.getKey() + "_" + heap;
                tables.append("static const RecordedInterval ").append(name).append("[] = {\n").append(String.join("", rows)).append("};\n\n");
                sizes.append("  { \"").append(phase.getKey()).append("\", ").append(heap).append(", ").append(name).append(", ").append(rows.size()).append(" },\n");
            }
        }
        Files.writeString(Path.of(cli.text("out")), "// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0\n// Written by bench/budget/record.sh: "
                + cli.text("settings") + "\n\n" + tables + "static const RecordedSize recorded_sizes[] = {\n" + sizes + "};\n");
        return 0;
    }

    private static List<Interval> intervals(Path log) throws IOException {
        List<Interval> all = new ArrayList<>();
        Matcher last = null;
        for (String line : Files.readAllLines(log)) {
            Matcher sizes = SIZES.matcher(line);
            Matcher times = TIMES.matcher(line);
            if (sizes.find()) {
                last = sizes;
            } else if (last != null && times.find()) {
                if (times.group(7) == null && times.group(9) == null) {
                    all.add(new Interval(Double.parseDouble(last.group(1)), Integer.parseInt(last.group(2)), List.of(Math.round(Double.parseDouble(times.group(1))),
                            Long.parseLong(times.group(2)), Math.round(Double.parseDouble(times.group(3))), Math.round(Double.parseDouble(times.group(4))),
                            Math.round(Double.parseDouble(times.group(5))), Math.round(Double.parseDouble(times.group(6))), Long.parseLong(times.group(8)),
                            Long.parseLong(times.group(10)), Long.parseLong(last.group(3)), Long.parseLong(times.group(11)))));
                }
                last = null;
            }
        }
        return all;
    }

    /** The seconds of each phase, without those at its beginning. */
    @SuppressWarnings("unchecked")
    private static Map<String, List<Map<String, Object>>> phases(Path json) throws IOException {
        Map<String, List<Map<String, Object>>> phases = new LinkedHashMap<>();
        for (Object row : (List<Object>) Json.readObject(json).get("series")) {
            Map<String, Object> second = (Map<String, Object>) row;
            phases.computeIfAbsent((String) second.get("phase"), name -> new ArrayList<>()).add(second);
        }
        phases.replaceAll((name, seconds) -> seconds.subList(Math.min(LEFT_OUT, seconds.size()), seconds.size()));
        return phases;
    }

    /** The intervals that ended in these seconds, each with what was done in the second. */
    private static List<String> rows(List<Interval> intervals, List<Map<String, Object>> seconds) {
        List<String> rows = new ArrayList<>();
        for (Map<String, Object> second : seconds) {
            double end = ((Number) second.get("uptime")).doubleValue();
            for (Interval interval : intervals) {
                if (interval.uptime() > end - 1 && interval.uptime() <= end) {
                    StringBuilder row = new StringBuilder("  { ");
                    interval.fields().forEach(field -> row.append(field).append(", "));
                    rows.add(row.append(((Number) second.get("done")).longValue()).append(" },\n").toString());
                    break;
                }
            }
        }
        return rows;
    }
}
