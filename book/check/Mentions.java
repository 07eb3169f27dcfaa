// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Each page that a comment or a message in the sources names is there. */
final class Mentions {
    private static final Pattern PAGE = Pattern.compile("\\bdocs/[\\w/-]+\\.md\\b");

    private Mentions() { }

    static void check(Sources sources, Map<Path, Page> pages, Problems problems) throws IOException {
        for (Path file : sources.files()) {
            if (file.toString().endsWith(".md") || file.startsWith("book")) {
                continue;
            }
            String text = sources.text(file);
            Matcher page = PAGE.matcher(text);
            while (page.find()) {
                if (!pages.containsKey(Path.of(page.group()))) {
                    int line = 1 + (int) text.substring(0, page.start()).chars().filter(c -> c == '\n').count();
                    problems.add(file.toString(), line, "mention", "there is no page " + page.group());
                }
            }
        }
    }
}
