// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.crud;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** The seeded table: lines of {@code cities.tsv} in the data directory, number, name and country. */
final class Cities {
    private static final String FILE = "cities.tsv";
    private static final String[] SYLLABLES = {"al", "bor", "cas", "den", "el", "fal", "gor", "hav", "is", "kir", "lun", "mar", "nor", "os", "pel",
        "ros", "sten", "tor", "ul", "ven"};
    private static final int COUNTRIES = 20;

    private Cities() { }

    /** A city; numbers are those of lines, from 0. */
    record Row(int id, String name, String country) { }

    private static String head(int count) {
        return "# " + count + " cities, 1";
    }

    static boolean isThere(Path data, int count) throws IOException {
        try {
            return Files.readString(data.resolve(FILE)).startsWith(head(count) + "\n");
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /** Makes {@code count} cities, always the same, and writes the file in one step. */
    static void write(Path data, int count) throws IOException {
        Random random = new Random(count);
        StringBuilder out = new StringBuilder(head(count)).append('\n');
        for (int id = 0; id < count; id++) {
            StringBuilder name = new StringBuilder();
            for (int i = 2 + random.nextInt(3); i > 0; i--) {
                name.append(SYLLABLES[random.nextInt(SYLLABLES.length)]);
            }
            name.setCharAt(0, Character.toUpperCase(name.charAt(0)));
            out.append(id).append('\t').append(name).append('\t').append("country").append(random.nextInt(COUNTRIES)).append('\n');
        }
        Path temporary = data.resolve(FILE + ".tmp");
        Files.writeString(temporary, out);
        Files.move(temporary, data.resolve(FILE), StandardCopyOption.REPLACE_EXISTING);
    }

    /** Reads the file. @throws IOException if it is missing or a line is not as written */
    static List<Row> read(Path data) throws IOException {
        Path file = data.resolve(FILE);
        if (!Files.exists(file)) {
            throw new IOException(file + " is missing: prepare the service first (PrepareMain --service crud --data " + data + ")");
        }
        List<Row> rows = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            if (!line.startsWith("#")) {
                String[] field = line.split("\t");
                if (field.length != 3 || !field[0].equals("" + rows.size())) {
                    throw new IOException(file + ": expected city " + rows.size() + " with name and country, found '" + line
                            + "': delete the file and prepare again");
                }
                rows.add(new Row(rows.size(), field[1], field[2]));
            }
        }
        return rows;
    }
}
