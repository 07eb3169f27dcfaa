// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A page in Markdown, taken apart: what of it is code, what is prose, and the anchors of its headings. */
final class Page {
    /**
     * A piece of code. A block has one for each command; lines that end with a backslash are one.
     *
     * @param program of an inline piece in a table: the code in the first cell of the table's head, or nothing
     */
    record Code(int line, String text, boolean block, String program) { }

    private static final Pattern FENCE = Pattern.compile(" {0,3}```.*");
    private static final Pattern HEADING = Pattern.compile("#{1,6} +(.*?)#*");
    private static final Pattern INLINE = Pattern.compile("`((?:[^`\n]|\n(?!\n))+)`");
    private static final Pattern LIST = Pattern.compile(" *(?:[*+-]|[0-9]+[.)]) .*");

    final Path path;
    final List<String> lines;
    final List<Code> code = new ArrayList<>();
    final Set<String> anchors = new TreeSet<>();
    /** Whether a line is part of a block of code. */
    final boolean[] inBlock;
    /** The page with all code blanked: each character is at its own place. */
    final String prose;

    Page(Path path, Path file) throws IOException {
        this.path = path;
        lines = Files.readAllLines(file);
        inBlock = new boolean[lines.size()];
        findBlocks();
        findAnchors();
        prose = withoutInlineCode(withoutBlocks());
    }

    int lineAt(int offset) {
        return 1 + (int) prose.substring(0, offset).chars().filter(c -> c == '\n').count();
    }

    private void findBlocks() {
        boolean fenced = false;
        boolean inList = false;
        boolean afterBlank = true;
        StringBuilder command = new StringBuilder();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            boolean fence = FENCE.matcher(line).matches();
            boolean indented = !fenced && !fence && !inList && line.startsWith("    ") && !line.isBlank()
                    && (afterBlank || inBlock[i - 1]);
            inBlock[i] = fenced || fence || indented;
            if ((fenced && !fence) || indented) {
                command.append(line.strip());
                if (line.endsWith("\\")) {
                    command.setCharAt(command.length() - 1, ' ');
                } else {
                    code.add(new Code(i + 1, command.toString(), true, ""));
                    command.setLength(0);
                }
            }
            fenced ^= fence;
            if (!fenced && !line.isBlank()) {
                inList = LIST.matcher(line).matches() || (inList && (line.startsWith(" ") || !afterBlank));
            }
            afterBlank = line.isBlank();
        }
    }

    private void findAnchors() {
        Map<String, Integer> seen = new HashMap<>();
        for (int i = 0; i < lines.size(); i++) {
            Matcher heading = HEADING.matcher(lines.get(i));
            if (!inBlock[i] && heading.matches()) {
                String slug = slug(heading.group(1));
                int before = seen.merge(slug, 1, Integer::sum) - 1;
                anchors.add(before == 0 ? slug : slug + "-" + before);
            }
        }
    }

    /** The anchor of a heading, as code hosts and mdBook make it. */
    static String slug(String heading) {
        return heading.strip().replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1").toLowerCase()
                .replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-');
    }

    private String withoutBlocks() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < lines.size(); i++) {
            text.append(inBlock[i] ? " ".repeat(lines.get(i).length()) : lines.get(i)).append('\n');
        }
        return text.toString();
    }

    private String withoutInlineCode(String text) {
        StringBuilder blanked = new StringBuilder(text);
        Matcher inline = INLINE.matcher(text);
        while (inline.find()) {
            int line = (int) text.substring(0, inline.start()).chars().filter(c -> c == '\n').count();
            code.add(new Code(line + 1, inline.group(1).replace('\n', ' '), false, headOfTable(line)));
            for (int i = inline.start(); i < inline.end(); i++) {
                if (blanked.charAt(i) != '\n') {
                    blanked.setCharAt(i, ' ');
                }
            }
        }
        return blanked.toString();
    }

    private String headOfTable(int line) {
        int head = line;
        while (head >= 0 && lines.get(head).startsWith("|")) {
            head--;
        }
        if (head == line) {
            return "";
        }
        Matcher first = Pattern.compile("\\| *`([^`]+)` *\\|.*").matcher(lines.get(head + 1));
        return first.matches() ? first.group(1) : "";
    }
}
