// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import lull.bench.util.Cli;
import lull.bench.util.Cli.UsageException;

/**
 * What the scripts are told by the environment. Every variable has a default; a bad value is a usage error that names the variable.
 *
 * @param build the project's build directory: {@code LULL_BUILD}
 * @param baseJdk home of a stock JDK 25, which runs the load and the other vendors' collectors: {@code LULL_BASE_JDK}
 * @param openjdk the OpenJDK source tree: {@code OPENJDK_SRC}, else {@code LULL_BUILD/openjdk}
 * @param flags more flags for each server: {@code LULL_DEMO_FLAGS}, parted by spaces
 * @param seed of the load: {@code LULL_DEMO_SEED}
 * @param threads requests that the server works on at once: {@code LULL_DEMO_THREADS}
 * @param environment the whole environment
 */
public record Settings(Path build, Path baseJdk, Path openjdk, List<String> flags, long seed, int threads, UnaryOperator<String> environment) {
    /** Threads, if nobody says another number. */
    static final int THREADS = 4;

    /** Reads the environment. */
    public static Settings of(Map<String, String> environment) {
        UnaryOperator<String> get = name -> {
            String value = environment.get(name);
            return value == null || value.isBlank() ? null : value.trim();
        };
        Path build = Path.of(required(get, "LULL_BUILD")).toAbsolutePath().normalize();
        Path baseJdk = Path.of(required(get, "LULL_BASE_JDK"));
        Path openjdk = get.apply("OPENJDK_SRC") == null ? build.resolve("openjdk") : Path.of(get.apply("OPENJDK_SRC"));
        Settings settings = new Settings(build, baseJdk, openjdk, words(get.apply("LULL_DEMO_FLAGS")), 0, 0, get);
        return new Settings(build, baseJdk, openjdk, settings.flags, settings.number("LULL_DEMO_SEED", 1, 0, Long.MAX_VALUE),
                (int) settings.number("LULL_DEMO_THREADS", THREADS, 1, 1000), get);
    }

    private static String required(UnaryOperator<String> get, String name) {
        if (get.apply(name) == null) {
            throw new UsageException(name + " is not set: start this by its script in bench/");
        }
        return get.apply(name);
    }

    /** Returns the value of {@code name} or {@code otherwise}. */
    public String text(String name, String otherwise) {
        String value = environment.apply(name);
        return value == null ? otherwise : value;
    }

    /** Returns the words, parted by spaces, of the value of {@code name} or of {@code otherwise}. */
    public List<String> words(String name, String otherwise) {
        return words(text(name, otherwise));
    }

    /** Returns the whole number {@code name} in [low, high]. */
    public long number(String name, long otherwise, long low, long high) {
        String value = environment.apply(name);
        return value == null ? otherwise : Cli.number(name, value, low, high);
    }

    /** Returns the number {@code name} in [low, high]. */
    public double decimal(String name, double otherwise, double low, double high) {
        String value = environment.apply(name);
        return value == null ? otherwise : Cli.decimal(name, value, low, high);
    }

    private static List<String> words(String text) {
        List<String> words = new ArrayList<>();
        for (String word : text == null ? new String[0] : text.split("\\s+")) {
            if (!word.isEmpty()) {
                words.add(word);
            }
        }
        return List.copyOf(words);
    }

    /** Returns these settings with another seed of the load. */
    Settings withSeed(long other) {
        return new Settings(build, baseJdk, openjdk, flags, other, threads, environment);
    }

    /** Returns the {@code java} program of the base JDK. */
    public Path baseJava() {
        return baseJdk.resolve("bin/java");
    }
}
