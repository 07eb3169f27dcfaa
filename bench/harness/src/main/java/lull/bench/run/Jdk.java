// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Which Java a java program is.
 *
 * @param runtime its runtime version, for instance {@code 25.0.3+9-LTS}
 * @param text what {@code java -version} prints, three lines
 * @param libjvm the SHA-256 of its libjvm, which tells builds of one version apart
 */
public record Jdk(String runtime, String text, String libjvm) {
    private static final Map<Path, Jdk> KNOWN = new HashMap<>();

    /** Asks {@code java}; once only. @throws IOException if it does not run */
    public static synchronized Jdk of(Path java) throws IOException, InterruptedException {
        Jdk known = KNOWN.get(java);
        if (known == null) {
            known = ask(java);
            KNOWN.put(java, known);
        }
        return known;
    }

    private static Jdk ask(Path java) throws IOException, InterruptedException {
        Path log = Files.createTempFile("lull-bench-", ".txt");
        try {
            ProcessBuilder builder = new ProcessBuilder(java.toString(), "-XX:+UseSerialGC", "-XshowSettings:properties", "-version");
            int code = Children.run(builder, log, 60);
            List<String> lines = Files.readAllLines(log);
            String runtime = lines.stream().map(String::trim).filter(l -> l.startsWith("java.runtime.version = "))
                    .map(l -> l.substring(l.indexOf('=') + 2)).findFirst().orElse(null);
            if (code != 0 || runtime == null) {
                throw new IOException(java + " -version ended with code " + code + ": " + String.join(" / ", lines));
            }
            List<String> version = lines.stream().filter(l -> l.matches("\\S.*(version|build).*")).toList();
            return new Jdk(runtime, String.join("\n", version), sha256(java.toRealPath().resolveSibling("../lib/server/libjvm.so").normalize()));
        } finally {
            Files.deleteIfExists(log);
        }
    }

    private static String sha256(Path file) throws IOException {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java has SHA-256", e);
        }
    }

    /** Returns the runtime version as a file name. */
    String fileName() {
        return runtime.replaceAll("[^A-Za-z0-9.+-]", "_");
    }
}
