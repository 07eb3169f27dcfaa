// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.compile;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import lull.bench.util.Cli;

/**
 * Writes {@code sources.txt}: the names of all single-file programs below {@link Sources#TREE} of an OpenJDK tree that are of
 * 2.5 to 16 KB, have a main method, compile alone, and compile to the same bytes twice. In order of name, so that the same tree and JDK
 * give the same list.
 */
public final class SourcePicker {
    private static final String USAGE = "SourcePicker --openjdk DIR --out sources.txt";
    private static final long SMALLEST = 2560;
    private static final long LARGEST = 16 << 10;

    private SourcePicker() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("openjdk", "out"), args, cli -> {
            Path tree = Path.of(cli.text("openjdk")).resolve(Sources.TREE);
            if (!Files.isDirectory(tree)) {
                throw new Cli.UsageException("no directory " + tree + ": give the top of an OpenJDK source tree");
            }
            List<String> picked = pick(tree);
            StringBuilder out = new StringBuilder("# Programs below " + Sources.TREE + " of OpenJDK 25 that requests compile. Written by SourcePicker.\n");
            picked.forEach(name -> out.append(name).append('\n'));
            Files.writeString(Path.of(cli.text("out")), out);
            System.out.println("picked " + picked.size() + " sources with Java " + System.getProperty("java.runtime.version"));
            return 0;
        });
    }

    private static List<String> pick(Path tree) throws IOException {
        List<Path> files;
        try (Stream<Path> walk = Files.walk(tree)) {
            files = walk.filter(Files::isRegularFile).filter(SourcePicker::fits)
                    .sorted((a, b) -> name(tree, a).compareTo(name(tree, b))).toList();
        }
        MemoryCompiler compiler = new MemoryCompiler();
        List<String> picked = new ArrayList<>();
        for (Path file : files) {
            if (compiles(compiler, name(tree, file), file)) {
                picked.add(name(tree, file));
            }
        }
        System.out.println("tried " + files.size() + " files of " + SMALLEST + " to " + LARGEST + " bytes");
        return picked;
    }

    private static String name(Path tree, Path file) {
        return tree.relativize(file).toString().replace('\\', '/');
    }

    private static boolean fits(Path file) {
        try {
            String name = file.getFileName().toString();
            long size = Files.size(file);
            return name.matches("[A-Za-z0-9_]+\\.java") && size >= SMALLEST && size <= LARGEST;
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean compiles(MemoryCompiler compiler, String name, Path file) throws IOException {
        String text;
        try {
            text = Files.readString(file);
        } catch (MalformedInputException e) {
            return false;
        }
        if (!text.contains("static void main(")) {
            return false;
        }
        try {
            Answer first = compiler.compile(name, text);
            return first.ok() && !first.classes().isEmpty() && first.equals(compiler.compile(name, text));
        } catch (RuntimeException | IOException | StackOverflowError e) {
            // Some of these programs are there to break a compiler.
            return false;
        }
    }
}
