// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.compile;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The source files that requests compile. Their names are listed in {@code sources.txt}, as paths below {@link #TREE} of an
 * OpenJDK source tree; their texts are copied from there to a data directory and never kept elsewhere.
 */
final class Sources {
    /** Where the sources are in an OpenJDK tree. */
    static final String TREE = "test/langtools/tools/javac";
    /** The fewest sources that make a load. */
    static final int FEWEST = 150;

    private Sources() { }

    /** Returns the listed names, in order. */
    static List<String> names() {
        try (InputStream in = Sources.class.getResourceAsStream("sources.txt")) {
            if (in == null) {
                throw new IllegalStateException("sources.txt is not beside " + Sources.class.getName() + ": build the module again");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().filter(line -> !line.isBlank() && !line.startsWith("#")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Copies the listed sources from the OpenJDK tree to {@code to}; another update of JDK 25 may lack a few.
     *
     * @return the names of those that are there
     * @throws IOException if fewer than {@link #FEWEST} are
     */
    static List<String> copy(Path openjdk, Path to) throws IOException {
        List<String> found = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (String name : names()) {
            Path from = openjdk.resolve(TREE).resolve(name);
            if (!Files.isRegularFile(from)) {
                missing.add(name);
                continue;
            }
            Path target = to.resolve(name);
            Files.createDirectories(target.getParent());
            Files.copy(from, target, StandardCopyOption.REPLACE_EXISTING);
            found.add(name);
        }
        if (found.size() < FEWEST) {
            throw new IOException("only " + found.size() + " of " + (found.size() + missing.size()) + " listed sources are in "
                    + openjdk.resolve(TREE) + ", " + FEWEST + " are needed; the first missing one is " + missing.getFirst()
                    + ". Give the top of an OpenJDK 25 source tree with --openjdk DIR (scripts: OPENJDK_SRC=DIR)");
        }
        if (!missing.isEmpty()) {
            System.err.println("note: " + missing.size() + " listed sources are not in this OpenJDK tree and are left out: " + missing);
        }
        return found;
    }

    /** Reads the texts of {@code names} below {@code directory}. */
    static Map<String, String> read(Path directory, Iterable<String> names) throws IOException {
        Map<String, String> texts = new LinkedHashMap<>();
        for (String name : names) {
            texts.put(name, Files.readString(directory.resolve(name)));
        }
        return texts;
    }
}
