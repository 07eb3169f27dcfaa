// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The repository's files, and the names that are in all but the pages: a page may show those. */
final class Sources {
    private static final Set<String> NOT_OURS = Set.of("build", "target", ".git", ".idea", ".vscode");
    private static final Pattern WORD = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final Pattern TARGET = Pattern.compile("(?m)^([a-z][a-z-]*):");
    private static final Pattern FLAG = Pattern.compile("(?:product|develop|notproduct)(?:_pd)?\\(\\s*(\\w+)\\s*,\\s*(\\w+)\\s*,");
    private static final Pattern REMOVED_FLAG = Pattern.compile("\\{ \"(Lull\\w+)\",");
    private static final Pattern EVENT = Pattern.compile("(?:Event|Type) name=\"(\\w+)\"");
    private static final Pattern COMMAND = Pattern.compile("\"([A-Z]\\w*\\.\\w+)\"");
    /** Files that are no text of ours. */
    private static final Pattern OTHER = Pattern.compile(".*\\.(png|jar|gz|bin|zip|jfr|woff2?)");

    private final Path root;
    private final Set<Path> files = new TreeSet<>();
    private final Set<Path> directories = new TreeSet<>();
    private final Set<String> words = new HashSet<>();
    /** The type of each flag. */
    final Map<String, String> flags = new TreeMap<>();
    /** There were once: what was measured with them still shows them. */
    final Set<String> removedFlags = new HashSet<>();
    final Set<String> events = new HashSet<>();
    final Set<String> commands = new HashSet<>();
    final Set<String> targets = new HashSet<>();

    Sources(Path root) throws IOException {
        this.root = root;
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes) {
                Path path = root.relativize(dir);
                if (NOT_OURS.contains(path.getFileName().toString()) && !path.equals(Path.of("hotspot/build"))) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                directories.add(path);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                files.add(root.relativize(file));
                return FileVisitResult.CONTINUE;
            }
        });
        for (Path file : files) {
            read(file);
        }
    }

    private void read(Path file) throws IOException {
        String name = file.getFileName().toString();
        if (!file.startsWith("book")) {
            words(name);
        }
        if (name.endsWith(".md") || file.startsWith("book") || OTHER.matcher(name).matches()) {
            return;
        }
        String text = text(file);
        words(text);
        if (name.equals("Makefile")) {
            all(TARGET, text, targets);
        }
        if (name.equals("lullRemovedFlags.cpp")) {
            all(REMOVED_FLAG, text, removedFlags);
        }
        // The allocator study lays flags of its own over the collector.
        if (file.startsWith("hotspot") || file.startsWith("bench/allocator/hotspot")) {
            if (name.endsWith("globals.hpp") || name.endsWith(".patch")) {
                Matcher flag = FLAG.matcher(text);
                while (flag.find()) {
                    flags.put(flag.group(2), flag.group(1));
                }
            }
            all(EVENT, text, events);
            all(COMMAND, text, commands);
        }
    }

    private static void all(Pattern pattern, String text, Set<String> into) {
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            into.add(matcher.group(1));
        }
    }

    private void words(String text) {
        Matcher word = WORD.matcher(text);
        while (word.find()) {
            words.add(word.group());
        }
    }

    String text(Path file) throws IOException {
        try {
            return Files.readString(root.resolve(file));
        } catch (MalformedInputException e) {
            return "";
        }
    }

    Set<Path> files() {
        return files;
    }

    boolean hasWord(String word) {
        return words.contains(word);
    }

    /** Whether there is a file or directory of this path, in which a star stands for any characters of a name. */
    boolean hasPath(String path) {
        String plain = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
        if (!plain.contains("*")) {
            return files.contains(Path.of(plain)) || directories.contains(Path.of(plain));
        }
        Pattern pattern = Pattern.compile(Pattern.quote(plain).replace("*", "\\E[^/]*\\Q"));
        return files.stream().anyMatch(f -> pattern.matcher(f.toString()).matches());
    }

    /** Whether a path of a file ends so, at a slash. */
    boolean hasEnd(String end) {
        Pattern pattern = Pattern.compile("(?:.*/)?" + Pattern.quote(end).replace("*", "\\E[^/]*\\Q"));
        return files.stream().anyMatch(f -> pattern.matcher(f.toString()).matches());
    }

    /** Whether a pattern is found in a file, or in one below a directory. */
    boolean mention(List<String> places, Pattern pattern) throws IOException {
        for (Path file : files) {
            if (places.stream().anyMatch(file::startsWith) && pattern.matcher(text(file)).find()) {
                return true;
            }
        }
        return false;
    }
}
