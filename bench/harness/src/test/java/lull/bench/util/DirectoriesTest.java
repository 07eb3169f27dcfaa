// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.util;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoriesTest {
    @TempDir
    private Path top;

    @Test
    void deletesAllInside() throws IOException {
        Files.createDirectories(top.resolve("a/b/c"));
        Files.writeString(top.resolve("a/b/file"), "x");
        Files.writeString(top.resolve("ab"), "x");
        Directories.delete(top.resolve("a"));
        assertFalse(Files.exists(top.resolve("a")));
        assertTrue(Files.exists(top.resolve("ab")));
        Directories.delete(top.resolve("a"));
    }
}
