// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.tomcat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A page with places for values: <code>{{name}}</code> is a value, escaped for HTML; <code>{{#name}}...{{/name}}</code> is repeated
 * for every map of a list, whose values hide those outside of it.
 */
final class Template {
    /** One piece of a page: literal text, a value, or a repeated part. Of text and name one is null. */
    private record Piece(String text, String name, List<Piece> repeated) { }

    private final List<Piece> pieces;

    private Template(List<Piece> pieces) {
        this.pieces = pieces;
    }

    /** Reads the resource {@code name} beside this class. */
    static Template load(String name) {
        try (InputStream in = Template.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException(name + " is not beside " + Template.class.getName() + ": build the module again");
            }
            return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** @throws IllegalArgumentException if a part is not closed, or another one is */
    static Template parse(String text) {
        List<Piece> pieces = new ArrayList<>();
        int end = parse(text, 0, null, pieces);
        if (end != text.length()) {
            throw new IllegalArgumentException("template: a part ends at character " + end + " that did not begin");
        }
        return new Template(pieces);
    }

    /** Parses up to the end of part {@code open}, or of the text if that is null; returns where it ended. */
    private static int parse(String text, int from, String open, List<Piece> pieces) {
        int at = from;
        while (true) {
            int start = text.indexOf("{{", at);
            int stop = start < 0 ? -1 : text.indexOf("}}", start);
            if (stop < 0) {
                if (open != null || start >= 0) {
                    throw new IllegalArgumentException("template: " + (open != null ? "part " + open : "a name") + " has no end");
                }
                pieces.add(new Piece(text.substring(at), null, null));
                return text.length();
            }
            pieces.add(new Piece(text.substring(at, start), null, null));
            String name = text.substring(start + 2, stop);
            at = stop + 2;
            if (name.startsWith("#")) {
                List<Piece> inner = new ArrayList<>();
                at = parse(text, at, name.substring(1), inner);
                pieces.add(new Piece(null, name.substring(1), inner));
            } else if (name.startsWith("/")) {
                if (!name.substring(1).equals(open)) {
                    throw new IllegalArgumentException("template: " + name + " ends " + open);
                }
                return at;
            } else {
                pieces.add(new Piece(null, name, null));
            }
        }
    }

    /** Returns the page with {@code values}. @throws IllegalArgumentException if one is missing */
    String render(Map<String, ?> values) {
        StringBuilder out = new StringBuilder();
        render(pieces, new Scope(values, null), out);
        return out.toString();
    }

    /** Values by name, and those around them. */
    private record Scope(Map<String, ?> values, Scope outer) {
        Object get(String name) {
            for (Scope scope = this; scope != null; scope = scope.outer) {
                Object value = scope.values.get(name);
                if (value != null) {
                    return value;
                }
            }
            throw new IllegalArgumentException("template: there is no value '" + name + "'");
        }
    }

    private static void render(List<Piece> pieces, Scope scope, StringBuilder out) {
        for (Piece piece : pieces) {
            if (piece.text != null) {
                out.append(piece.text);
            } else if (piece.repeated == null) {
                escape(scope.get(piece.name).toString(), out);
            } else {
                for (Object each : (List<?>) scope.get(piece.name)) {
                    @SuppressWarnings("unchecked")
                    Map<String, ?> values = (Map<String, ?>) each;
                    render(piece.repeated, new Scope(values, scope), out);
                }
            }
        }
    }

    private static void escape(String text, StringBuilder out) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '&' -> out.append("&amp;");
                case '"' -> out.append("&quot;");
                default -> out.append(c);
            }
        }
    }
}
