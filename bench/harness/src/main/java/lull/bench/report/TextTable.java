// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.report;

import java.util.ArrayList;
import java.util.List;

/** A table for a terminal, also as CSV: the first column left-aligned, the others right-aligned. */
public final class TextTable {
    private final List<List<String>> rows = new ArrayList<>();

    /** Adds a row; the first one is the heading. */
    public void add(List<String> row) {
        if (!rows.isEmpty() && row.size() != rows.getFirst().size()) {
            throw new IllegalArgumentException("a row of " + row.size() + " cells, expected " + rows.getFirst().size() + ": " + row);
        }
        rows.add(List.copyOf(row));
    }

    public List<List<String>> rows() {
        return List.copyOf(rows);
    }

    /** Returns the table with a line below the heading. */
    @Override
    public String toString() {
        int columns = rows.getFirst().size();
        int[] width = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                width[i] = Math.max(width[i], row.get(i).length());
            }
        }
        StringBuilder out = new StringBuilder();
        for (int r = 0; r < rows.size(); r++) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                String cell = rows.get(r).get(i);
                String pad = " ".repeat(width[i] - cell.length());
                line.append(i == 0 ? cell + pad : "  " + pad + cell);
            }
            out.append(line.toString().stripTrailing()).append('\n');
            if (r == 0) {
                out.append("-".repeat(line.length())).append('\n');
            }
        }
        return out.toString();
    }

    /** Returns the table as CSV (RFC 4180, but with line feeds). */
    public String csv() {
        StringBuilder out = new StringBuilder();
        for (List<String> row : rows) {
            out.append(String.join(",", row.stream().map(TextTable::csvCell).toList())).append('\n');
        }
        return out.toString();
    }

    private static String csvCell(String cell) {
        return cell.matches("[^\",\r\n]*") ? cell : "\"" + cell.replace("\"", "\"\"") + "\"";
    }
}
