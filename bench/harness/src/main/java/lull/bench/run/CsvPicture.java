// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lull.bench.report.Colours;
import lull.report.page.Chart;
import lull.report.page.Chart.Point;
import lull.report.page.Scale;

/**
 * A picture of a table: reads lines of values between commas from standard input, writes an SVG to standard output. The
 * first line names the columns; the first column is the horizontal axis, each other one a line. A cell without a number
 * is a point that is not there. A column that is named after a collector has that collector's colour.
 */
public final class CsvPicture {
    private static final double HEIGHT = 260;
    private static final List<String> KNOWN = List.of("lull", "g1", "parallel", "serial", "zgc", "shenandoah");
    private static final List<String> OTHERS = List.of("other", "epsilon", "g1-base", "plain");

    private record Table(List<String> columns, List<double[]> rows) { }

    private CsvPicture() { }

    /** What to draw: whether the horizontal axis is logarithmic, what stands below it and above the vertical one, and what it is about. */
    record Words(boolean log, String x, String unit, String description) { }

    public static void main(String[] args) throws IOException {
        if (args.length != 4 || !List.of("linear", "log").contains(args[0])) {
            System.err.println("CsvPicture: linear|log X-TITLE UNIT DESCRIPTION < table.csv > picture.svg; got " + Arrays.toString(args));
            System.exit(2);
        }
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            System.out.print(draw(in.lines().toList(), new Words(args[0].equals("log"), args[1], args[2], args[3])));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    static String draw(List<String> lines, Words words) {
        Table table = parse(lines);
        double low = table.rows.stream().mapToDouble(row -> row[0]).min().orElse(0);
        double high = table.rows.stream().mapToDouble(row -> row[0]).max().orElse(1);
        double most = table.rows.stream().flatMapToDouble(row -> Arrays.stream(row).skip(1)).filter(v -> !Double.isNaN(v)).max().orElse(1);
        Chart chart = new Chart(HEIGHT, words.description);
        chart.yAxis(Scale.linear(0, most * 1.05, chart.bottom(), Chart.TOP), words.unit);
        Scale x = words.log ? Scale.log(low, high, Chart.LEFT, Chart.RIGHT) : Scale.linear(low, high, Chart.LEFT, Chart.RIGHT);
        chart.xAxis(x, x.marks(6), Scale::label, words.x);
        List<String> classes = new ArrayList<>();
        for (int column = 1; column < table.columns.size(); column++) {
            classes.add(colour(table.columns.get(column), column));
            int at = column;
            chart.line(classes.getLast(), table.rows.stream().filter(row -> !Double.isNaN(row[at])).map(row -> new Point(row[0], row[at])).toList());
        }
        return chart.key(classes, table.columns.subList(1, table.columns.size())).alone(Colours.ALL);
    }

    private static String colour(String name, int column) {
        String word = name.toLowerCase(java.util.Locale.ROOT);
        return KNOWN.contains(word) ? word : OTHERS.get(column % OTHERS.size());
    }

    private static Table parse(List<String> lines) {
        if (lines.size() < 2) {
            throw new IllegalArgumentException("a table has a line of names and a line of values at least, this one has " + lines.size() + " lines");
        }
        List<String> columns = List.of(lines.getFirst().split(",", -1));
        List<double[]> rows = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            String[] cells = line.split(",", -1);
            if (cells.length != columns.size()) {
                throw new IllegalArgumentException(cells.length + " cells below " + columns.size() + " names: " + line);
            }
            double[] row = Arrays.stream(cells).mapToDouble(CsvPicture::number).toArray();
            if (Double.isNaN(row[0])) {
                throw new IllegalArgumentException("the first cell is no number: " + line);
            }
            rows.add(row);
        }
        return new Table(columns, rows);
    }

    private static double number(String cell) {
        try {
            return Double.parseDouble(cell.strip());
        } catch (NumberFormatException e) {
            return Double.NaN;
        }
    }
}
