// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Names of OpenJDK's that pages show, from a list: the source is not in the repository. Where it is there, the list is checked. */
final class Upstream {
    private final Map<String, Integer> entries = new TreeMap<>();
    private final String file;
    private int wrong;

    Upstream(Path list) throws IOException {
        file = list.getFileName().toString();
        if (Files.exists(list)) {
            List<String> lines = Files.readAllLines(list);
            for (int i = 0; i < lines.size(); i++) {
                String line = lines.get(i).replaceAll("#.*", "").strip();
                if (!line.isEmpty()) {
                    entries.put(line, i + 1);
                }
            }
        }
    }

    /** KIND is flag, switch (a flag that is on or off), event, command, option or name. */
    boolean has(String kind, String name) {
        return entries.containsKey(kind + " " + name);
    }

    int wrong() {
        return wrong;
    }

    void check(Path openjdk) throws IOException {
        StringBuilder globals = new StringBuilder();
        StringBuilder commands = new StringBuilder();
        for (Path dir : List.of(openjdk.resolve("src/hotspot"))) {
            try (Stream<Path> files = Files.walk(dir)) {
                for (Path path : (Iterable<Path>) files::iterator) {
                    String name = path.getFileName().toString();
                    if (name.endsWith("globals.hpp") || name.matches("globals_.*\\.hpp")) {
                        globals.append(Files.readString(path));
                    } else if (name.endsWith(".hpp") && (name.contains("DCmd") || name.contains("Dcmd") || name.contains("iagnosticCommand"))) {
                        commands.append(Files.readString(path));
                    }
                }
            }
        }
        String events = Files.readString(openjdk.resolve("src/hotspot/share/jfr/metadata/metadata.xml"));
        entries.forEach((entry, line) -> {
            String name = entry.replaceAll(".* ", "");
            boolean there = switch (entry.replaceAll(" .*", "")) {
                case "flag", "switch" -> globals.toString().matches("(?s).*\\b" + name + ",.*");
                case "event" -> events.contains("name=\"" + name + "\"");
                case "command" -> commands.indexOf("\"" + name + "\"") >= 0;
                default -> true;
            };
            if (!there) {
                wrong++;
                System.out.println(file + ":" + line + ": upstream: OpenJDK has no " + entry);
            }
        });
    }
}
