// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.util;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** What {@link Files} does not do with directories. */
public final class Directories {
    private Directories() { }

    /** Deletes a directory and all in it, if it is there. */
    public static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        List<Path> inside;
        try (Stream<Path> walk = Files.walk(directory)) {
            // What is in a directory comes before it.
            inside = walk.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path file : inside) {
            Files.deleteIfExists(file);
        }
    }
}
