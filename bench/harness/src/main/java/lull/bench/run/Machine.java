// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * The machine of a run.
 *
 * @param processors how many this process may use
 */
public record Machine(String cpu, int processors, String memory, String kernel) {
    /** Reads the machine's files below /proc. */
    public static Machine here() throws IOException {
        String cpu = field(Path.of("/proc/cpuinfo"), "model name", System.getProperty("os.arch"));
        String memory = field(Path.of("/proc/meminfo"), "MemTotal", "0 kB").replace("kB", "").trim();
        return new Machine(cpu.replaceAll(" +", " "), Runtime.getRuntime().availableProcessors(),
                String.format(Locale.ROOT, "%.1f GB", Long.parseLong(memory) / 1024.0 / 1024.0),
                System.getProperty("os.name") + " " + System.getProperty("os.version"));
    }

    private static String field(Path file, String name, String otherwise) throws IOException {
        return Files.readString(file).lines().filter(l -> l.startsWith(name)).map(l -> l.substring(l.indexOf(':') + 1).trim())
                .findFirst().orElse(otherwise);
    }

    @Override
    public String toString() {
        return processors + " x " + cpu + ", " + memory + ", " + kernel;
    }
}
