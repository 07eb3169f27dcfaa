// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report.page;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;

/**
 * Writes HTML and SVG in XML syntax: all texts and attribute values are escaped, for names in a recording are not
 * ours, and every element is closed.
 */
public final class Markup {
    private final StringBuilder out = new StringBuilder();
    private final Deque<String> open = new ArrayDeque<>();

    /** Opens an element. {@code attributes} are names and values in turn; numbers are rounded to a tenth. */
    public Markup open(String element, Object... attributes) {
        begin(element, attributes);
        out.append('>');
        open.push(element);
        return this;
    }

    /** Writes an element that has no content. */
    public Markup empty(String element, Object... attributes) {
        begin(element, attributes);
        out.append("/>");
        return this;
    }

    /** Writes an element with text in it. */
    public Markup element(String element, String text, Object... attributes) {
        return open(element, attributes).text(text).close();
    }

    /** Writes text. */
    public Markup text(String text) {
        out.append(escape(text));
        return this;
    }

    /** Closes the element that was opened last. */
    public Markup close() {
        out.append("</").append(open.pop()).append(">");
        return this;
    }

    /** Ends the line, for those who read the source. */
    public Markup line() {
        out.append('\n');
        return this;
    }

    /** Writes what another one has written. */
    public Markup add(Markup other) {
        out.append(other);
        return this;
    }

    private void begin(String element, Object[] attributes) {
        if (attributes.length % 2 != 0) {
            throw new IllegalArgumentException("attributes of " + element + " must be names and values in turn");
        }
        out.append('<').append(element);
        for (int i = 0; i < attributes.length; i += 2) {
            Object value = attributes[i + 1];
            out.append(' ').append(attributes[i]).append("=\"").append(value instanceof Double d ? coordinate(d)
                    : escape(value.toString())).append('"');
        }
    }

    /** A number of SVG. */
    static String coordinate(double value) {
        if (!Double.isFinite(value)) {
            throw new IllegalArgumentException("a coordinate is " + value);
        }
        String text = String.format(Locale.ROOT, "%.1f", value);
        return text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
    }

    /** Text for elements and attributes; characters that XML does not know become U+FFFD. */
    static String escape(String text) {
        StringBuilder escaped = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(c -> {
            switch (c) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                case '\'' -> escaped.append("&#39;");
                default -> escaped.appendCodePoint(isXml(c) ? c : 0xfffd);
            }
        });
        return escaped.toString();
    }

    private static boolean isXml(int c) {
        return c == '\n' || c == '\t' || c >= ' ' && (c < 0xd800 || c > 0xdfff) && c != 0xfffe && c != 0xffff;
    }

    /** What was written. All elements must be closed. */
    @Override
    public String toString() {
        if (!open.isEmpty()) {
            throw new IllegalStateException("not closed: " + open);
        }
        return out.toString();
    }
}
