// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What mdBook makes the site of: the pages that docs/README.md lists, in its order and under its headings, and all else
 * that is in docs/. A link to a file that is no part of the site becomes plain text. Code that is too long for a narrow
 * screen is marked so: lines may break within it, and not within a flag or a name.
 */
final class Stage {
    private static final Pattern LINK = Pattern.compile("(?<!!)\\[([^\\[\\]]*)\\]\\(([^()#\\s:]+)(#[^()\\s]*)?\\)");
    private static final Pattern ENTRY = Pattern.compile("( *)\\* \\[([^\\[\\]]+)\\]\\(([^()#\\s]+)\\).*");
    private static final Pattern CODE = Pattern.compile("(?<!`)`((?:[^`\n]|\n(?!\n))+)`(?!`)");
    private static final int NARROW = 34;   // characters of code
    private static final Path INDEX = Path.of("docs/README.md");
    private static final Path README = Path.of("README.md");

    private final Path root;
    private final Path stage;
    private final Map<Path, Page> pages;
    private final Map<Path, String> titles = new LinkedHashMap<>();

    Stage(Path root, Map<Path, Page> pages, Path stage) {
        this.root = root;
        this.pages = pages;
        this.stage = stage;
    }

    void write(Set<Path> files) throws IOException {
        String contents = contents();
        for (Path file : files) {
            boolean listed = titles.containsKey(file) && pages.containsKey(file);
            if (listed || (file.startsWith("docs") && !file.toString().endsWith(".md"))) {
                Path to = stage.resolve(file);
                Files.createDirectories(to.getParent());
                if (listed) {
                    Files.writeString(to, withLongCodeMarked(pages.get(file), withoutLinksOut(pages.get(file))));
                } else {
                    Files.copy(root.resolve(file), to, StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
        Files.writeString(stage.resolve("SUMMARY.md"), contents);
    }

    private String contents() {
        titles.put(README, "Lull");
        titles.put(INDEX, "All pages");
        StringBuilder contents = new StringBuilder("# Summary\n\n[Lull](README.md)\n\n[All pages](docs/README.md)\n");
        for (String line : pages.get(INDEX).lines) {
            Matcher entry = ENTRY.matcher(line);
            if (line.startsWith("## ")) {
                contents.append("\n# ").append(line.substring(3)).append("\n\n");
            } else if (entry.matches()) {
                Path path = INDEX.resolveSibling(entry.group(3)).normalize();
                titles.put(path, entry.group(2));
                contents.append(entry.group(1)).append("- [").append(entry.group(2)).append("](").append(path).append(")\n");
            }
        }
        return contents.toString();
    }

    private String withoutLinksOut(Page page) {
        return LINK.matcher(String.join("\n", page.lines) + "\n").replaceAll(link -> {
            Path target = page.path.resolveSibling(link.group(2)).normalize();
            boolean inside = titles.containsKey(target) || (target.startsWith("docs") && Files.isRegularFile(root.resolve(target)));
            return Matcher.quoteReplacement(inside ? link.group() : link.group(1));
        });
    }

    /** The lines of a page are those of {@code text}: a link is longer or shorter, and ends where it did. */
    private static String withLongCodeMarked(Page page, String text) {
        String[] lines = text.split("\n", -1);
        StringBuilder marked = new StringBuilder();
        StringBuilder prose = new StringBuilder();
        for (int i = 0; i < page.lines.size(); i++) {
            if (page.inBlock[i]) {
                marked.append(CODE.matcher(prose).replaceAll(Stage::marked)).append(lines[i]).append('\n');
                prose.setLength(0);
            } else {
                prose.append(lines[i]).append('\n');
            }
        }
        return marked.append(CODE.matcher(prose).replaceAll(Stage::marked)).toString();
    }

    private static String marked(MatchResult code) {
        String text = code.group(1).replaceAll("\\s+", " ");
        return Matcher.quoteReplacement(text.length() <= NARROW ? code.group() : "<code class=\"long\">" + escaped(text) + "</code>");
    }

    /** Text that neither HTML nor Markdown reads as more than text. In a cell of a table {@code \|} is a bar already. */
    private static String escaped(String code) {
        StringBuilder text = new StringBuilder();
        code.replace("\\|", "|").chars().forEach(c -> text.append(
                Character.isLetterOrDigit(c) || c == ' ' || c == '.' || c == '/' || c == '-' ? Character.toString(c) : "&#" + c + ";"));
        return text.toString();
    }
}
