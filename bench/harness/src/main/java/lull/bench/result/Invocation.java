// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One run of a server, as it is kept.
 *
 * @param number of the repetition, from 1
 * @param seed of the load
 * @param started ISO 8601 time in UTC
 * @param seconds that all of it took
 * @param metrics by their names; those that were not measured are not there
 * @param failure why there is no result: the server ended, or answers were wrong or missing; null if there is one
 * @param latencies all of the open loop, for {@link Distribution#of}; null if there was none
 * @param timeline null if it was not kept
 */
public record Invocation(Setup setup, int number, long seed, String started, double seconds, Map<String, Double> metrics, String failure,
        String latencies, Timeline timeline) {
    /** An invocation of which only numbers are known. */
    public Invocation(Setup setup, int number, long seed, String started, double seconds, Map<String, Double> metrics, String failure) {
        this(setup, number, seed, started, seconds, metrics, failure, null, null);
    }

    /** What tells an invocation from all others that are planned or kept. */
    public record Key(Setup setup, int number, long seed) { }

    public Key key() {
        return new Key(setup, number, seed);
    }

    /** Returns the metric {@code name}; NaN if it was not measured. */
    public double metric(String name) {
        return metrics.getOrDefault(name, Double.NaN);
    }

    /** Returns the invocation as a JSON object. */
    public Map<String, Object> json() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("service", setup.service());
        map.put("options", setup.options());
        map.put("collector", setup.collector());
        map.put("jdk", setup.jdk());
        map.put("libjvm", setup.libjvm());
        map.put("flags", setup.flags());
        map.put("heapMegabytes", setup.heap());
        map.put("factor", setup.factor());
        map.put("work", setup.work());
        map.put("open", setup.open());
        map.put("machine", setup.machine());
        map.put("number", number);
        map.put("seed", seed);
        map.put("started", started);
        map.put("seconds", seconds);
        Map<String, Object> numbers = new LinkedHashMap<>();
        metrics.forEach((name, value) -> {
            if (Double.isFinite(value)) {
                numbers.put(name, value);
            }
        });
        map.put("metrics", numbers);
        map.put("failure", failure);
        if (latencies != null) {
            map.put("latencies", latencies);
        }
        if (timeline != null) {
            map.put("timeline", timeline.json());
        }
        return map;
    }

    /**
     * Reads an invocation from a JSON object.
     *
     * @throws IllegalArgumentException naming a field that is missing or of another type
     */
    static Invocation of(Map<String, Object> map) {
        Setup setup = new Setup(text(map, "service"), text(map, "options"), text(map, "collector"), text(map, "jdk"), text(map, "libjvm"),
                text(map, "flags"), (int) number(map, "heapMegabytes").longValue(), number(map, "factor").doubleValue(), text(map, "work"),
                text(map, "open"), text(map, "machine"));
        Map<String, Double> metrics = new LinkedHashMap<>();
        ((Map<?, ?>) field(map, "metrics", Map.class)).forEach((name, value) -> metrics.put((String) name, ((Number) value).doubleValue()));
        return new Invocation(setup, number(map, "number").intValue(), number(map, "seed").longValue(), text(map, "started"),
                number(map, "seconds").doubleValue(), metrics, map.get("failure") == null ? null : text(map, "failure"),
                map.containsKey("latencies") ? text(map, "latencies") : null,
                map.containsKey("timeline") ? Timeline.of(field(map, "timeline", Map.class)) : null);
    }

    private static String text(Map<String, Object> map, String name) {
        return field(map, name, String.class);
    }

    private static Number number(Map<String, Object> map, String name) {
        return field(map, name, Number.class);
    }

    private static <T> T field(Map<String, Object> map, String name, Class<T> type) {
        if (!type.isInstance(map.get(name))) {
            throw new IllegalArgumentException("no " + name + " in a result, or not as it should be: " + map.get(name));
        }
        return type.cast(map.get(name));
    }
}
