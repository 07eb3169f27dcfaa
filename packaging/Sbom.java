// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The bill of materials of a JDK of ours, by CycloneDX 1.6, on standard output: {@code Sbom HOME COMMIT EPOCH
 * SHA256-OF-THE-SOURCE}.
 *
 * <p>No generator knows what is inside libjvm or lib/modules. OpenJDK says it itself: each module has a legal notice
 * for each piece of others' software, whose first line names the piece and its version.
 */
final class Sbom {
    private static final Pattern TITLE =
            Pattern.compile("## (.+?)(?:,? (?:[vV]ersion|[vV]|release)[ .]*| (?=[0-9][0-9.]*$))([0-9][^ ]*)?$");
    private static final String OUR_LICENSE = "GPL-2.0-only WITH Classpath-exception-2.0";

    private record Piece(String name, String version, List<String> modules) { }

    public static void main(String[] args) throws IOException {
        Path home = Path.of(args[0]);
        Properties release = new Properties();
        try (var in = Files.newBufferedReader(home.resolve("release"))) {
            release.load(in);
        }
        String runtime = value(release, "JAVA_RUNTIME_VERSION");
        String java = runtime.replaceAll("-.*", "");
        StringBuilder components = new StringBuilder();
        StringBuilder names = new StringBuilder();
        String hash = args[3].isEmpty() ? "" : ", \"hashes\": [{\"alg\": \"SHA-256\", \"content\": " + quoted(args[3]) + "}]";
        components.append(component("library", "openjdk", "openjdk", java, "pkg:generic/openjdk@" + java.replace("+", "%2B"),
                OUR_LICENSE, hash));
        names.append(quoted("openjdk"));
        for (Map.Entry<String, Piece> piece : pieces(home.resolve("legal")).entrySet()) {
            Piece what = piece.getValue();
            components.append(",\n    ").append(component("library", piece.getKey(), what.name(), what.version(), null, null,
                    property("lull:module", String.join(" ", what.modules()))));
            names.append(", ").append(quoted(piece.getKey()));
        }
        String subject = component("framework", "lull-jdk", "lull-jdk", java + "-" + value(release, "LULL_VERSION"), null,
                OUR_LICENSE, property("lull:commit", args[1]));
        String when = Instant.ofEpochSecond(Long.parseLong(args[2])).toString();
        String body = """
                  "metadata": {
                    "timestamp": %s,
                    "component": %s
                  },
                  "components": [
                    %s
                  ],
                  "dependencies": [{"ref": "lull-jdk", "dependsOn": [%s]}]
                }
                """.formatted(quoted(when), subject, components, names);
        System.out.print("""
                {
                  "bomFormat": "CycloneDX",
                  "specVersion": "1.6",
                  "serialNumber": "urn:uuid:%s",
                  "version": 1,
                %s""".formatted(UUID.nameUUIDFromBytes(body.getBytes(StandardCharsets.UTF_8)), body));
    }

    /** By their reference: the name and version without what is not usual in one. */
    private static Map<String, Piece> pieces(Path legal) throws IOException {
        Map<String, Piece> pieces = new TreeMap<>();
        try (Stream<Path> notices = Files.walk(legal)) {
            List<Path> files = notices.filter(p -> p.toString().endsWith(".md") && Files.isRegularFile(p)).sorted().toList();
            for (Path notice : files) {
                String title = Files.readAllLines(notice, StandardCharsets.UTF_8).getFirst().trim();
                Matcher matcher = TITLE.matcher(title);
                boolean versioned = matcher.matches();
                String name = versioned ? matcher.group(1) : title.replaceFirst("^#+ *", "");
                String version = versioned ? matcher.group(2) : null;
                String reference = (name + (version == null ? "" : "-" + version)).replaceAll("[^A-Za-z0-9.]+", "-");
                pieces.computeIfAbsent(reference, r -> new Piece(name, version, new ArrayList<>())).modules()
                        .add(notice.getParent().getFileName().toString());
            }
        }
        return pieces;
    }

    private static String property(String name, String value) {
        return ", \"properties\": [{\"name\": " + quoted(name) + ", \"value\": " + quoted(value) + "}]";
    }

    private static String component(String type, String reference, String name, String version, String purl, String license,
            String more) {
        return "{\"type\": " + quoted(type) + ", \"bom-ref\": " + quoted(reference) + ", \"name\": " + quoted(name)
                + (version == null ? "" : ", \"version\": " + quoted(version))
                + (license == null ? "" : ", \"licenses\": [{\"expression\": " + quoted(license) + "}]")
                + (purl == null ? "" : ", \"purl\": " + quoted(purl)) + more + "}";
    }

    private static String value(Properties release, String name) {
        return Objects.requireNonNull(release.getProperty(name), "the release file has no " + name).replace("\"", "");
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\');
            }
            quoted.append(c < ' ' ? ' ' : c);
        }
        return quoted.append('"').toString();
    }

    private Sbom() {
    }
}
