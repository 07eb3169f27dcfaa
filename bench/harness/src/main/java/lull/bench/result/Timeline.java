// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/**
 * What a server did over time, in seconds since the end of its warm-up.
 *
 * @param seconds to the end
 * @param open when the open loop began; NaN if there was none
 */
public record Timeline(double seconds, double open, List<Pause> pauses, List<Heap> heap, List<Resident> resident, List<Local> local) {
    /** Places on the time axis of a picture: more could not be told apart. */
    private static final int PLACES = 300;

    /**
     * A pause.
     *
     * @param full whether the whole heap was collected in it
     */
    public record Pause(double end, double millis, boolean full) { }

    /**
     * The heap, in megabytes.
     *
     * @param capacity what it has committed; NaN where that is not known
     */
    public record Heap(double second, double used, double capacity) { }

    /** The resident set, in megabytes. */
    public record Resident(double second, double megabytes) { }

    /** Processor milliseconds per second that threads spent in their local collections, up to this second. */
    public record Local(double second, double millis) { }

    /** Of a server without local collections. */
    public Timeline(double seconds, double open, List<Pause> pauses, List<Heap> heap, List<Resident> resident) {
        this(seconds, open, pauses, heap, resident, List.of());
    }

    /** Returns the timeline with no more than a picture can show: of every place on the time axis the longest pause, and the extremes of the heap. */
    public Timeline thinned() {
        List<Pause> longest = new ArrayList<>(places(pauses, Pause::end).values().stream()
                .map(place -> place.stream().reduce((a, b) -> b.millis > a.millis ? b : a).orElseThrow()).toList());
        List<Heap> extremes = new ArrayList<>();
        for (List<Heap> place : places(heap, Heap::second).values()) {
            Heap most = place.getFirst();
            Heap least = place.getFirst();
            for (Heap each : place) {
                most = each.used > most.used ? each : most;
                least = each.used < least.used ? each : least;
            }
            extremes.add(most.second <= least.second ? most : least);
            if (most != least) {
                extremes.add(most.second <= least.second ? least : most);
            }
        }
        return new Timeline(seconds, open, longest, extremes, resident, local);
    }

    private <T> Map<Integer, List<T>> places(Collection<T> all, ToDoubleFunction<T> second) {
        Map<Integer, List<T>> places = new TreeMap<>();
        for (T each : all) {
            places.computeIfAbsent((int) (PLACES * second.applyAsDouble(each) / seconds), p -> new ArrayList<>()).add(each);
        }
        return places;
    }

    /** Returns the timeline as a JSON object, its times to the millisecond. */
    public Map<String, Object> json() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("seconds", round(seconds));
        map.put("open", round(open));
        map.put("pausesEndMsFull", pauses.stream().map(p -> List.of(round(p.end), round(p.millis), p.full)).toList());
        map.put("heapSecondUsedCapacity", heap.stream().map(h -> List.of(round(h.second), round(h.used), round(h.capacity))).toList());
        map.put("residentSecondMegabytes", resident.stream().map(r -> List.of(round(r.second), round(r.megabytes))).toList());
        if (!local.isEmpty()) {
            map.put("localSecondMs", local.stream().map(l -> List.of(round(l.second), round(l.millis))).toList());
        }
        return map;
    }

    /** Reads what {@link #json} returned. @throws IllegalArgumentException if it is not as that writes it */
    static Timeline of(Map<?, ?> map) {
        try {
            return new Timeline(number(map.get("seconds")), number(map.get("open")),
                    rows(map, "pausesEndMsFull").stream().map(p -> new Pause(number(p.get(0)), number(p.get(1)), (Boolean) p.get(2))).toList(),
                    rows(map, "heapSecondUsedCapacity").stream().map(h -> new Heap(number(h.get(0)), number(h.get(1)), number(h.get(2)))).toList(),
                    rows(map, "residentSecondMegabytes").stream().map(r -> new Resident(number(r.get(0)), number(r.get(1)))).toList(),
                    map.containsKey("localSecondMs")
                            ? rows(map, "localSecondMs").stream().map(l -> new Local(number(l.get(0)), number(l.get(1)))).toList() : List.of());
        } catch (ClassCastException | NullPointerException | IndexOutOfBoundsException e) {
            throw new IllegalArgumentException("a result's timeline is not as it should be: " + e.getMessage(), e);
        }
    }

    private static List<List<?>> rows(Map<?, ?> map, String name) {
        List<List<?>> rows = new ArrayList<>();
        ((List<?>) map.get(name)).forEach(row -> rows.add((List<?>) row));
        return rows;
    }

    private static double number(Object value) {
        return value == null ? Double.NaN : ((Number) value).doubleValue();
    }

    private static double round(double value) {
        return Math.rint(value * 1000) / 1000;
    }
}
