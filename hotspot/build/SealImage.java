// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import jdk.internal.jimage.BasicImageReader;

/**
 * Makes the lib/modules of a JDK in which files have been replaced, so that jlink and jpackage link from it (JEP 493):
 *
 * <pre>{@code SealImage HOME MODULES RESULT [RESOURCE=FILE | MODULE:DIRECTORY]...}</pre>
 *
 * <p>jlink takes the files of a module from the JDK that it is part of, by a list in its own module: for each file a
 * kind, whether it is a symbolic link, the hash of what it says or the link's target, and its path. It refuses a file
 * with another hash. Here each list gets the hashes of the files in HOME, and a module's own list the files below
 * {@code HOME/DIRECTORY} that it did not have. MODULES is read, and written as RESULT with these lists, and with the
 * contents of each FILE for its RESOURCE.
 *
 * <p>An image whose JDK has jmods has no such lists: nothing is to be done then, and jlink links from the jmods.
 */
final class SealImage {
    private static final String LISTS = "/jdk.jlink/jdk/tools/jlink/internal/runtimelink/fs_";
    private static final String LISTS_END = "_files";
    /** ResourcePoolEntry.Type.NATIVE_LIB, by its place in that enumeration: what goes below lib/ as it is. */
    private static final int BELOW_LIB = 6;

    public static void main(String[] args) throws Exception {
        Path home = Path.of(args[0]);
        Path modules = Path.of(args[1]);
        Map<String, byte[]> replaced = new TreeMap<>();
        Map<String, String> carried = new TreeMap<>();
        for (String arg : List.of(args).subList(3, args.length)) {
            int at = arg.indexOf(arg.startsWith("/") ? '=' : ':');
            if (at < 0) {
                throw new IllegalArgumentException("neither RESOURCE=FILE nor MODULE:DIRECTORY: " + arg);
            }
            if (arg.startsWith("/")) {
                replaced.put(arg.substring(0, at), Files.readAllBytes(Path.of(arg.substring(at + 1))));
            } else {
                carried.put(arg.substring(0, at), arg.substring(at + 1));
            }
        }
        int lists = 0;
        try (BasicImageReader reader = BasicImageReader.open(modules)) {
            for (String name : reader.getEntryNames()) {
                if (name.startsWith(LISTS) && name.endsWith(LISTS_END)) {
                    String module = name.substring(LISTS.length(), name.length() - LISTS_END.length());
                    byte[] list = reader.getResource(ReplaceResources.find(reader, name));
                    String old = new String(list, StandardCharsets.UTF_8);
                    String now = list(home, old, carried.get(module));
                    lists++;
                    if (!now.equals(old)) {
                        replaced.put(name, now.getBytes(StandardCharsets.UTF_8));
                        System.out.println("other files than before: " + module);
                    }
                }
            }
        }
        System.out.println(lists + " lists of files for jlink");
        ReplaceResources.replace(modules, replaced, Path.of(args[2]));
    }

    /** A module's list, as it is to be when HOME has these files and the module has those of a directory, too. */
    private static String list(Path home, String old, String directory) throws IOException {
        StringBuilder now = new StringBuilder();
        for (String line : old.lines().toList()) {
            String[] fields = line.split("\\|", 4);
            String path = fields[3];
            boolean link = fields[1].equals("1");
            if (directory == null || !path.startsWith(directory + "/")) {
                now.append(line(fields[0], link ? fields[2] : hash(home.resolve(path)), path, link));
            }
        }
        if (directory != null) {
            try (Stream<Path> below = Files.walk(home.resolve(directory))) {
                for (Path file : below.filter(Files::isRegularFile).sorted().toList()) {
                    now.append(line("" + BELOW_LIB, hash(file), home.relativize(file).toString(), false));
                }
            }
        }
        // As jlink writes them: without an end of the last line.
        return now.isEmpty() ? "" : now.substring(0, now.length() - 1);
    }

    private static String line(String kind, String hashOrTarget, String path, boolean link) {
        return String.join("|", kind, link ? "1" : "0", hashOrTarget, path) + "\n";
    }

    private static String hash(Path file) throws IOException {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-512").digest(Files.readAllBytes(file)));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private SealImage() {
    }
}
