// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.budget;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import lull.bench.util.Json;

/**
 * What {@link StorageService} has measured in one JVM.
 *
 * @param name of the variant; one that begins with {@code static-} has a heap of a fixed size
 * @param phases in their order
 * @param seconds of the whole run, in their order
 */
record Run(String name, List<PhaseResult> phases, List<Second> seconds) {

    /** A phase; {@code lastHalf} is what was done in a second of its last half, when a heap has had time to change, and percentiles are of that half. */
    record PhaseResult(String phase, double perSecond, double lastHalf, double p50Millis, double p99Millis) { }

    /** One second. */
    record Second(double at, String phase, double done, double heapMegabytes, double cacheMegabytes) { }

    boolean isStatic() {
        return name.startsWith("static-");
    }

    static Run read(Path file) throws IOException {
        Map<String, Object> json = Json.readObject(file);
        return new Run((String) json.get("name"),
                rows(json, "phases").map(row -> new PhaseResult((String) row.get("phase"), number(row, "per_second"), number(row, "per_second_last_half"),
                        number(row, "p50_ms"), number(row, "p99_ms"))).toList(),
                rows(json, "series").map(row -> new Second(number(row, "second"), (String) row.get("phase"), number(row, "done"),
                        number(row, "heap_mb"), number(row, "cache_mb"))).toList());
    }

    @SuppressWarnings("unchecked")
    private static Stream<Map<String, Object>> rows(Map<String, Object> json, String name) {
        return ((List<Object>) json.get(name)).stream().map(row -> (Map<String, Object>) row);
    }

    private static double number(Map<String, Object> row, String name) {
        return ((Number) row.get(name)).doubleValue();
    }

    /** Returns the seconds from the beginning of a phase until the heap is, and from there on stays, within a tenth of its size at the phase's end; 0 if it always is. */
    double reactionSeconds(int phase) {
        List<Second> mine = seconds(phase);
        if (mine.isEmpty()) {
            return 0;
        }
        double end = mine.getLast().heapMegabytes();
        double settled = 0;
        for (Second second : mine) {
            if (Math.abs(second.heapMegabytes() - end) > 0.1 * end) {
                settled = second.at() - mine.getFirst().at() + 1;
            }
        }
        return settled;
    }

    /** Returns the seconds of the phase with this number. Neighbours are of different kinds: {@link Phase#parse} asks for that. */
    List<Second> seconds(int phase) {
        int from = 0;
        for (int i = 0; i < phase; i++) {
            from = endOf(from);
        }
        return seconds.subList(from, phase < phases.size() ? endOf(from) : from);
    }

    private int endOf(int from) {
        int end = from;
        while (end < seconds.size() && seconds.get(end).phase().equals(seconds.get(from).phase())) {
            end++;
        }
        return end;
    }
}
