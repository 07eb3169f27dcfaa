// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import lull.bench.util.Cli.UsageException;

/**
 * A collector to measure: on which Java and by which flags.
 *
 * <p>Lull, parts of it ({@code lull-whole}, {@code lull-global}, {@code lull-tracking}, {@code lull-barrier}), G1,
 * Parallel and Serial run on the project's JDK ({@code LULL_BUILD/jdk}), so that nothing but the collector differs; if that is not built, the others than Lull
 * run on the base JDK. ZGC, Shenandoah and Epsilon are the base JDK's, and so is {@code g1-base}, which
 * tells whether our build makes a difference. {@code LULL_JAVA} names another java program for the first group, {@code LULL_JAVA_G1}
 * and so on for one collector. {@code JDKS} adds the G1 of other JDKs, by version.
 *
 * <p>{@code g1-27} and so on are the collectors of a JDK 27, which is {@code LULL_BUILD/jdk27} or {@code LULL_JDK27}, the home of another one.
 */
public record Collector(String name, String label, Path java, List<String> flags) {
    private record Kind(String label, boolean ours, List<String> flags) { }

    /** How the names of JDK 27's collectors end. */
    private static final String OF_27 = "-27";
    private static final String LULL = "-XX:+UseLullGC";

    private static final Map<String, Kind> KINDS = Map.ofEntries(
            entry("lull", "Lull", true, LULL),
            entry("lull-whole", "Lull without young collections", true,
                    LULL, "-XX:-LullYoungCollections"),
            entry("lull-barrier", "Lull, barrier only", true,
                    LULL, "-XX:+UnlockExperimentalVMOptions", "-XX:-LullLocalCollections", "-XX:-LullYoungCollections", "-XX:+LullAlwaysPublic"),
            entry("lull-tracking", "Lull, tracking only", true,
                    LULL, "-XX:-LullLocalCollections", "-XX:-LullYoungCollections"),
            entry("lull-global", "Lull, global collections only", true,
                    LULL, "-XX:-LullTracking"),
            entry("g1", "G1", true, "-XX:+UseG1GC"),
            entry("parallel", "Parallel", true, "-XX:+UseParallelGC"),
            entry("serial", "Serial", true, "-XX:+UseSerialGC"),
            entry("g1-base", "G1 of the base JDK", false, "-XX:+UseG1GC"),
            entry("epsilon", "Epsilon", false, "-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC"),
            entry("zgc", "ZGC", false, "-XX:+UseZGC"),
            entry("shenandoah", "Shenandoah", false, "-XX:+UseShenandoahGC"),
            entry("genshen", "Generational Shenandoah", false, "-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"));

    private static Map.Entry<String, Kind> entry(String name, String label, boolean ours, String... flags) {
        return Map.entry(name, new Kind(label, ours, List.of(flags)));
    }

    /** Returns the collectors {@code names}, in that order. Errors tell which name or java program is wrong. */
    public static List<Collector> of(Settings settings, List<String> names) {
        List<Collector> collectors = new ArrayList<>();
        for (String name : names) {
            Collector collector = of(settings, name);
            if (collectors.contains(collector)) {
                throw new UsageException("collector '" + name + "' is named twice");
            }
            collectors.add(collector);
        }
        if (collectors.isEmpty()) {
            throw new UsageException("no collector: set COLLECTORS to some of " + KINDS.keySet().stream().sorted().toList());
        }
        return collectors;
    }

    /**
     * Returns the G1 of each JDK in {@code homes}, named by its version: {@code g1-26.0.1}.
     *
     * @throws UsageException if one is no JDK, or two have the same version
     */
    static List<Collector> ofJdks(List<String> homes) throws IOException, InterruptedException {
        List<Collector> collectors = new ArrayList<>();
        for (String home : homes) {
            Path java = Path.of(home, "bin/java");
            if (!Files.isExecutable(java)) {
                throw new UsageException("JDKS has '" + home + "', which has no program bin/java: give homes of JDKs, parted by spaces");
            }
            String version = Jdk.of(java).runtime().replaceAll("[+-].*", "");
            String name = "g1-" + version;
            if (collectors.stream().anyMatch(c -> c.name.equals(name))) {
                throw new UsageException("JDKS has two JDKs of version " + version + ": leave one out");
            }
            collectors.add(new Collector(name, "G1 of " + version, java, List.of("-XX:+UseG1GC")));
        }
        return collectors;
    }

    /** Returns the collector {@code name}. */
    public static Collector of(Settings settings, String name) {
        boolean of27 = name.endsWith(OF_27);
        Kind kind = KINDS.get(of27 ? name.substring(0, name.length() - OF_27.length()) : name);
        if (kind == null || of27 && (kind.flags.contains(LULL) || name.startsWith("g1-base"))) {
            throw new UsageException("no collector '" + name + "': COLLECTORS takes some of " + KINDS.keySet().stream().sorted().toList()
                    + ", and of those that are not ours with " + OF_27 + " at the end");
        }
        return of27 ? new Collector(name, kind.label + " of JDK 27", java27(settings, name), kind.flags)
                : new Collector(name, kind.label, java(settings, name, kind), kind.flags);
    }

    private static Path java27(Settings settings, String name) {
        Path home = Path.of(settings.text("LULL_JDK27", settings.build().resolve("jdk27").toString()));
        Path java = Path.of(settings.text(variable(name), home.resolve("bin/java").toString()));
        if (!Files.isExecutable(java)) {
            throw new UsageException("no java program " + java + " for collector '" + name + "': run bench/jdk27.sh, or set LULL_JDK27 to the home of a JDK 27");
        }
        return java;
    }

    private static String variable(String name) {
        return "LULL_JAVA_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    private static Path java(Settings settings, String name, Kind kind) {
        Path built = settings.build().resolve("jdk/bin/java");
        String variable = variable(name);
        String given = settings.text(variable, kind.ours ? settings.text("LULL_JAVA", null) : null);
        Path java;
        if (given != null) {
            java = Path.of(given);
        } else if (kind.ours && (Files.exists(built) || kind.flags.contains(LULL))) {
            java = built;
        } else {
            java = settings.baseJava();
        }
        if (!Files.isExecutable(java)) {
            throw new UsageException("no java program " + java + " for collector '" + name + "': run `make jdk`, or set " + variable
                    + ", or leave the collector out of COLLECTORS");
        }
        return java;
    }
}
