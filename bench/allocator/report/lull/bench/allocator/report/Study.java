// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.allocator.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;

/** All that a study has measured, and how to ask for it. */
record Study(List<Row> traces, List<Row> smallest, List<Row> heaps, List<Row> firstFit, List<Row> lists, Map<String, List<Row>> overTime) {
    static final List<String> COALESCINGS = List.of("never", "deferred", "immediate");
    static final List<String> SEARCHES = List.of("traverse", "next-hit", "bitmap");
    /** Lists of the pictures over the heap: 128 of words of 8 bytes, up to the 1 KB of the thesis' 256 of 4 bytes. */
    static final String LISTS = "128";
    private static final List<String> SYNTHETIC = List.of("generations-1", "phases-1", "uniform-1");

    static Study read(Path directory) throws IOException {
        Map<String, List<Row>> overTime = new HashMap<>();
        for (String coalescing : COALESCINGS) {
            Path file = directory.resolve("over-time-" + coalescing + ".csv");
            if (Files.exists(file)) {
                overTime.put(coalescing, Row.read(file));
            }
        }
        return new Study(Row.read(directory.resolve("traces.csv")), Row.read(directory.resolve("smallest.csv")), Row.read(directory.resolve("heaps.csv")),
                Row.read(directory.resolve("first-fit.csv")), Row.read(directory.resolve("lists.csv")), overTime);
    }

    /** Were the programs run in HotSpot? Then there is nothing over time, and no count of marked objects. */
    boolean inHotspot() {
        return overTime.isEmpty();
    }

    List<String> allTraces() {
        return traces.stream().map(row -> row.text("trace")).toList();
    }

    /** The recorded ones, of which there is a reference. */
    List<String> programs() {
        return allTraces().stream().filter(name -> !SYNTHETIC.contains(name) && smallest.stream().anyMatch(r -> r.is("trace", name))).toList();
    }

    /** The reference of the heap axis, in bytes. */
    double reference(String trace) {
        return smallest.stream().filter(r -> r.is("trace", trace) && r.is("search", "next-hit") && r.is("coalescing", "immediate")).findFirst().orElseThrow()
                .number("smallest_heap_bytes");
    }

    /** The heap of a row as a multiple of the smallest one. */
    double factor(Row row) {
        return Math.round(100 * row.number("heap_bytes") / reference(row.text("trace"))) / 100.0;
    }

    List<Double> factors() {
        return heaps.stream().map(this::factor).distinct().sorted().toList();
    }

    /** The points of one policy in one program that fit, by heap. */
    List<Row> over(String trace, String search, String coalescing) {
        return heaps.stream().filter(r -> r.is("trace", trace) && r.is("search", search) && r.is("coalescing", coalescing) && r.fits())
                .sorted((a, b) -> Double.compare(a.number("heap_bytes"), b.number("heap_bytes"))).toList();
    }

    /** The point of one policy in one program and heap, null if it does not fit. */
    Row at(String trace, String search, String coalescing, double factor) {
        return over(trace, search, coalescing).stream().filter(r -> factor(r) == factor).findFirst().orElse(null);
    }

    /** Ratios of {@code value} of two policies in every program at {@code factor} where both fit. */
    double[] ratios(double factor, String search1, String coalescing1, String search2, String coalescing2, ToDoubleFunction<Row> value) {
        return programs().stream().flatMapToDouble(program -> {
            Row first = at(program, search1, coalescing1, factor);
            Row second = at(program, search2, coalescing2, factor);
            return first == null || second == null ? DoubleStream.empty() : DoubleStream.of(value.applyAsDouble(first) / value.applyAsDouble(second));
        }).toArray();
    }

    static double geometricMean(double[] values) {
        return Math.exp(DoubleStream.of(values).map(Math::log).average().orElse(Double.NaN));
    }
}
