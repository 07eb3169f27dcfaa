// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;

/** Lines of 100 columns; dates in measurements and in what was tried alone; each page of docs/ in the index. */
final class Style {
    private static final int COLUMNS = 100;
    private static final Pattern DATE = Pattern.compile(".*\\b20[0-9]{2}-[0-9]{2}-[0-9]{2}\\b.*");
    private static final Path DOCS = Path.of("docs");
    private static final Path INDEX = Path.of("docs/README.md");
    private static final Path MEASUREMENTS = Path.of("docs/measurements");
    private static final Path TRIED = Path.of("docs/design/tried.md");

    private Style() { }

    static void check(Page page, Problems problems) {
        boolean dated = !page.path.startsWith(DOCS) || page.path.startsWith(MEASUREMENTS) || page.path.equals(TRIED);
        for (int i = 0; i < page.lines.size(); i++) {
            String line = page.lines.get(i);
            boolean table = line.startsWith("|");
            boolean breakable = line.strip().replaceFirst("^(?:[*+-]|[0-9]+[.)]) +", "").contains(" ");
            if (!table && !page.inBlock[i] && breakable && line.codePointCount(0, line.length()) > COLUMNS) {
                problems.add(page, i + 1, "style", "more than " + COLUMNS + " columns");
            }
            if (!dated && DATE.matcher(line).matches()) {
                problems.add(page, i + 1, "style", "a date: it belongs into docs/measurements, or into docs/design/tried.md");
            }
        }
    }

    /** The contents of the site are made of the index. */
    static void checkIndex(Map<Path, Page> pages, Problems problems) {
        Page index = pages.get(INDEX);
        if (index == null) {
            return;
        }
        String text = String.join("\n", index.lines);
        for (Page page : pages.values()) {
            if (page.path.startsWith(DOCS) && page != index && !text.contains("](" + DOCS.relativize(page.path) + ")")) {
                problems.add(page, 1, "style", "not in " + INDEX);
            }
        }
    }
}
