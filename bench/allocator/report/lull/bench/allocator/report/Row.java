// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.allocator.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A line of one of the study's CSV files, by the names of its columns. */
record Row(Map<String, String> cells) {
    /** Reads a file that the replay has written: no cell of it is quoted. */
    static List<Row> read(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        if (lines.isEmpty()) {
            throw new IOException(file + " is empty: run bench/allocator/study.sh again");
        }
        String[] names = lines.getFirst().split(",", -1);
        List<Row> rows = new ArrayList<>();
        for (int i = 1; i < lines.size(); i++) {
            String[] cells = lines.get(i).split(",", -1);
            if (cells.length != names.length) {
                throw new IOException(file + ", line " + (i + 1) + ": " + cells.length + " cells, and there are " + names.length + " columns");
            }
            Map<String, String> row = new HashMap<>();
            for (int c = 0; c < names.length; c++) {
                row.put(names[c], cells[c]);
            }
            rows.add(new Row(row));
        }
        return rows;
    }

    String text(String column) {
        String cell = cells.get(column);
        if (cell == null) {
            throw new IllegalArgumentException("there is no column " + column);
        }
        return cell;
    }

    /** Returns a number, NaN if the cell is empty. */
    double number(String column) {
        String cell = text(column);
        return cell.isEmpty() ? Double.NaN : Double.parseDouble(cell);
    }

    boolean is(String column, String value) {
        return text(column).equals(value);
    }

    boolean fits() {
        return is("outcome", "fits");
    }

    /** Empty lists and runs passed, for each allocation. */
    double traversals() {
        return (number("lists_passed") + number("runs_passed")) / number("look_ups");
    }

    double updates() {
        return number("became_empty") + number("became_non_empty");
    }

    double collectionNs() {
        return number("mark_ns") + number("sweep_ns");
    }
}
