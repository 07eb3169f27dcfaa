// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The reference has each product flag, and each option of our Rust programs. */
final class Complete {
    private static final Path REFERENCE = Path.of("docs/reference");
    private static final Pattern PRODUCT_FLAG = Pattern.compile("product\\(\\s*\\w+\\s*,\\s*(\\w+)\\s*,");
    private static final Pattern OPTION = Pattern.compile("#\\[arg\\([^\\]]*\\blong\\b[^\\]]*\\)\\]\\s*(?:pub )?(\\w+):");
    private static final Pattern PROGRAM = Pattern.compile("native/(?:budget|stall|far/(?:front|memd|heap))/src/main\\.rs");

    private Complete() { }

    static void check(Sources sources, Map<Path, Page> pages, Problems problems) throws IOException {
        StringBuilder reference = new StringBuilder();
        pages.values().stream().filter(p -> p.path.startsWith(REFERENCE)).forEach(p -> reference.append(String.join("\n", p.lines)).append('\n'));
        if (reference.isEmpty()) {
            return;
        }
        for (Path file : sources.files()) {
            if (file.startsWith("hotspot/src") && file.toString().endsWith("globals.hpp")) {
                each(PRODUCT_FLAG, sources.text(file), file, reference, problems, "flag", false);
            } else if (PROGRAM.matcher(file.toString()).matches()) {
                each(OPTION, sources.text(file), file, reference, problems, "option", true);
            }
        }
    }

    private static void each(Pattern pattern, String text, Path file, CharSequence reference, Problems problems, String kind, boolean dashed) {
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            String name = dashed ? "--" + matcher.group(1).replace('_', '-') : matcher.group(1);
            if (!Pattern.compile("`[^`]*" + Pattern.quote(name) + "(?![\\w-])").matcher(reference).find()) {
                int line = 1 + (int) text.substring(0, matcher.start(1)).chars().filter(c -> c == '\n').count();
                problems.add(file.toString(), line, "reference", "no page of " + REFERENCE + " has the " + kind + " " + name);
            }
        }
    }
}
