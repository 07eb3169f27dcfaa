// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.util.TreeSet;

/** What is wrong, a line each: {@code page:line: kind: what}. */
final class Problems {
    private record Problem(String page, int line, String text) { }

    private final TreeSet<Problem> found = new TreeSet<>((a, b) -> {
        int byPage = a.page.compareTo(b.page);
        int byLine = byPage != 0 ? byPage : Integer.compare(a.line, b.line);
        return byLine != 0 ? byLine : a.text.compareTo(b.text);
    });

    void add(Page page, int line, String kind, String text) {
        add(page.path.toString(), line, kind, text);
    }

    void add(String file, int line, String kind, String text) {
        found.add(new Problem(file, line, kind + ": " + text));
    }

    int count() {
        return found.size();
    }

    void print() {
        found.forEach(p -> System.out.println(p.page + ":" + p.line + ": " + p.text));
    }
}
