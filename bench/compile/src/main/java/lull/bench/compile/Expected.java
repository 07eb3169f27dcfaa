// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.compile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What the answer to a source must be. All of them are the lines of {@code expected.tsv} in the data directory, after a line
 * that says from which javac; they are computed by a process that is not under test.
 *
 * @param diagnostics how many messages javac gives
 * @param classes how many class files
 * @param bytes their total size
 * @param digest of names and contents, see {@link Answer#digest}
 */
record Expected(String source, int diagnostics, int classes, long bytes, String digest) {
    private static final String FILE = "expected.tsv";

    static Expected of(Answer answer) {
        return new Expected(answer.source(), answer.diagnostics().count(), answer.classes().size(), answer.bytes(), answer.digest());
    }

    /** Writes the file in one step. {@code origin} says from which javac and sources. */
    static void write(Path data, String origin, List<Expected> all) throws IOException {
        StringBuilder out = new StringBuilder("# " + origin + "\n# source\tdiagnostics\tclasses\tbytes\tdigest\n");
        for (Expected e : all) {
            out.append(String.join("\t", e.source, "" + e.diagnostics, "" + e.classes, "" + e.bytes, e.digest)).append('\n');
        }
        Path temporary = data.resolve(FILE + ".tmp");
        Files.writeString(temporary, out);
        Files.move(temporary, data.resolve(FILE), StandardCopyOption.REPLACE_EXISTING);
    }

    /** Returns whether the file is there and of {@code origin}. */
    static boolean isOf(Path data, String origin) throws IOException {
        try {
            return Files.readString(data.resolve(FILE)).startsWith("# " + origin + "\n");
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /** Reads the file. @throws IOException if it is missing or a line is not as written */
    static List<Expected> read(Path data) throws IOException {
        Path file = data.resolve(FILE);
        if (!Files.exists(file)) {
            throw new IOException(file + " is missing: prepare the service first (PrepareMain --service compile --data " + data + ")");
        }
        List<Expected> all = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            if (line.startsWith("#")) {
                continue;
            }
            String[] field = line.split("\t");
            try {
                all.add(new Expected(field[0], Integer.parseInt(field[1]), Integer.parseInt(field[2]), Long.parseLong(field[3]), field[4]));
            } catch (IndexOutOfBoundsException | NumberFormatException e) {
                throw new IOException(file + ": expected five fields, found '" + line + "': delete the file and prepare again", e);
            }
        }
        return all;
    }

    /**
     * Compares an answer, as parsed JSON.
     *
     * @return null if it is as expected, else what differs
     */
    String difference(Map<String, Object> answer) {
        if (!(answer.get("classes") instanceof List<?> list) || !(answer.get("diagnostics") instanceof Map<?, ?> said)) {
            return "no list of classes or no diagnostics in the answer";
        }
        long sum = 0;
        for (Object entry : list) {
            if (!(entry instanceof Map<?, ?> map) || !(map.get("name") instanceof String) || !(map.get("size") instanceof Long size)) {
                return "a class without name or size: " + entry;
            }
            sum += size;
        }
        return differs("source", source, answer.get("source"),
                differs("ok", true, answer.get("ok"),
                differs("number of diagnostics", (long) diagnostics, said.get("count"),
                differs("number of classes", classes, list.size(),
                differs("total bytes", bytes, answer.get("bytes"),
                differs("sum of class sizes", bytes, sum,
                differs("digest", digest, answer.get("digest"), null)))))));
    }

    private static String differs(String what, Object expected, Object found, String otherwise) {
        return expected.equals(found) ? otherwise : what + " is " + found + ", expected " + expected;
    }
}
