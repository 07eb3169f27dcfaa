// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.report;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;

/**
 * Writes HTML and SVG that is also well-formed XML: every text and attribute value is escaped, every element closed.
 * Numbers in attributes have one decimal, which is finer than a pixel.
 */
public final class Markup {
    private final StringBuilder out = new StringBuilder();
    private final Deque<String> open = new ArrayDeque<>();

    /** Opens an element. {@code attributes} are names and values in turn; numbers are formatted. */
    public Markup open(String element, Object... attributes) {
        start(element, attributes);
        out.append('>');
        open.push(element);
        return this;
    }

    /** Writes an element without content. */
    public Markup empty(String element, Object... attributes) {
        start(element, attributes);
        out.append("/>");
        return this;
    }

    /** Writes an element with {@code text} as its content. */
    public Markup text(String element, String text, Object... attributes) {
        return open(element, attributes).text(text).close();
    }

    /** Writes {@code text}, escaped. */
    public Markup text(String text) {
        out.append(escape(text));
        return this;
    }

    /** Closes the innermost open element. */
    public Markup close() {
        out.append("</").append(open.pop()).append('>');
        return this;
    }

    /** Starts a new line, for people who read the source. */
    public Markup line() {
        out.append('\n');
        return this;
    }

    /** Adds what another one wrote, as it is. */
    public Markup add(Markup other) {
        out.append(other);
        return this;
    }

    private void start(String element, Object... attributes) {
        if (attributes.length % 2 != 0) {
            throw new IllegalArgumentException("attributes of " + element + " must be names and values in turn");
        }
        out.append('<').append(element);
        for (int i = 0; i < attributes.length; i += 2) {
            Object value = attributes[i + 1];
            out.append(' ').append(attributes[i]).append("=\"")
                    .append(escape(value instanceof Double d ? number(d) : value.toString())).append('"');
        }
    }

    /** Formats a coordinate. */
    static String number(double value) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            throw new IllegalArgumentException("a coordinate is " + value);
        }
        String text = String.format(Locale.ROOT, "%.1f", value);
        return text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
    }

    /** Escapes text for elements and attributes; characters that XML cannot hold become U+FFFD. */
    static String escape(String text) {
        StringBuilder escaped = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                case '\'' -> escaped.append("&#39;");
                default -> escaped.append(c < ' ' && c != '\n' && c != '\t' && c != '\r' ? '\ufffd' : c);
            }
        }
        return escaped.toString();
    }

    /** Returns what was written. @throws IllegalStateException if an element is still open */
    @Override
    public String toString() {
        if (!open.isEmpty()) {
            throw new IllegalStateException("not closed: " + open);
        }
        return out.toString();
    }
}
