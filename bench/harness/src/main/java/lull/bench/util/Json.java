// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.util;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes JSON: objects as {@code Map<String, Object>} in order, arrays as {@code List<Object>},
 * numbers as {@code Long} (no fraction, no exponent) or {@code Double}, and strings, booleans, null.
 *
 * <p>Own code because the measuring side must not bring a library that a measured service has in another version.
 */
public final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /**
     * Parses one JSON value.
     *
     * @throws IllegalArgumentException naming what was expected and where, if {@code text} is not one JSON value
     */
    public static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at != text.length()) {
            throw json.wrong("the end");
        }
        return value;
    }

    /** Parses one JSON object. Errors as in {@link #parse}. */
    @SuppressWarnings("unchecked")
    public static Map<String, Object> parseObject(String text) {
        if (parse(text) instanceof Map<?, ?> map) {
            return (Map<String, Object>) map;
        }
        throw new IllegalArgumentException("JSON: expected an object, found: " + text.substring(0, Math.min(40, text.length())));
    }

    /** Reads the JSON object in {@code file}. */
    public static Map<String, Object> readObject(Path file) throws IOException {
        try {
            return parseObject(Files.readString(file));
        } catch (IllegalArgumentException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    /** Writes {@code value} to {@code file}, by way of a temporary file, so that a reader never sees half of it. */
    public static void write(Path file, Object value) throws IOException {
        Path temporary = file.resolveSibling(file.getFileName() + ".tmp");
        Files.writeString(temporary, write(value) + "\n");
        Files.move(temporary, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    }

    /**
     * Returns {@code value} as JSON, indented by two spaces; lists of numbers stay on one line.
     *
     * @throws IllegalArgumentException if a value is of no JSON type
     */
    public static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(out, value, 0);
        return out.toString();
    }

    /** Returns {@code value} as JSON in one line. Errors as in {@link #write(Object)}. */
    public static String line(Object value) {
        // Line feeds in strings are written as \n, so these are the indentation.
        return write(value).replaceAll("\n *", "");
    }

    private static void write(StringBuilder out, Object value, int depth) {
        switch (value) {
            case null -> out.append("null");
            case String s -> quote(out, s);
            case Boolean b -> out.append(b);
            case Double d when d.isNaN() || d.isInfinite() -> out.append("null");
            case Double d when d == Math.rint(d) && Math.abs(d) < 1e15 -> out.append(d.longValue()).append(".0");
            case Number n -> out.append(n);
            case Map<?, ?> map -> writeObject(out, map, depth);
            case List<?> list -> writeArray(out, list, depth);
            default -> throw new IllegalArgumentException("JSON: cannot write a " + value.getClass().getName());
        }
    }

    private static void writeObject(StringBuilder out, Map<?, ?> map, int depth) {
        out.append('{');
        String separator = "";
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            out.append(separator);
            indent(out, depth + 1);
            quote(out, (String) entry.getKey());
            out.append(": ");
            write(out, entry.getValue(), depth + 1);
            separator = ",";
        }
        if (!map.isEmpty()) {
            indent(out, depth);
        }
        out.append('}');
    }

    private static void writeArray(StringBuilder out, List<?> list, int depth) {
        boolean flat = list.stream().allMatch(v -> v == null || v instanceof Number);
        out.append('[');
        String separator = "";
        for (Object value : list) {
            out.append(separator);
            if (!flat) {
                indent(out, depth + 1);
            }
            write(out, value, depth + 1);
            separator = flat ? ", " : ",";
        }
        if (!flat) {
            indent(out, depth);
        }
        out.append(']');
    }

    private static void indent(StringBuilder out, int depth) {
        out.append('\n').repeat("  ", depth);
    }

    private static void quote(StringBuilder out, String s) {
        out.append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < 0x20) {
                        out.append(String.format("\\u%04x", (int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }

    private IllegalArgumentException wrong(String expected) {
        return new IllegalArgumentException("JSON: expected " + expected + " at character " + at + ", found "
                + (at < text.length() ? "'" + text.charAt(at) + "'" : "the end"));
    }

    private void space() {
        while (at < text.length() && text.charAt(at) <= ' ') {
            at++;
        }
    }

    private boolean take(char c) {
        space();
        if (at < text.length() && text.charAt(at) == c) {
            at++;
            return true;
        }
        return false;
    }

    private void expect(char c) {
        if (!take(c)) {
            throw wrong("'" + c + "'");
        }
    }

    private Object value() {
        space();
        if (at == text.length()) {
            throw wrong("a value");
        }
        return switch (text.charAt(at)) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> string();
            case 't' -> word("true", Boolean.TRUE);
            case 'f' -> word("false", Boolean.FALSE);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong(word);
        }
        at += word.length();
        return value;
    }

    private Map<String, Object> object() {
        Map<String, Object> map = new LinkedHashMap<>();
        expect('{');
        if (take('}')) {
            return map;
        }
        do {
            space();
            String key = string();
            expect(':');
            map.put(key, value());
        } while (take(','));
        expect('}');
        return map;
    }

    private List<Object> array() {
        List<Object> list = new ArrayList<>();
        expect('[');
        if (take(']')) {
            return list;
        }
        do {
            list.add(value());
        } while (take(','));
        expect(']');
        return list;
    }

    private Object number() {
        int from = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String number = text.substring(from, at);
        try {
            if (number.matches("-?[0-9]{1,18}")) {
                return Long.valueOf(number);
            }
            return Double.valueOf(number);
        } catch (NumberFormatException e) {
            at = from;
            throw wrong("a value");
        }
    }

    private String string() {
        expect('"');
        StringBuilder out = new StringBuilder();
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return out.toString();
            }
            out.append(c == '\\' ? escape() : c);
        }
        throw wrong("'\"'");
    }

    private char escape() {
        char c = at < text.length() ? text.charAt(at++) : ' ';
        return switch (c) {
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'b' -> '\b';
            case 'f' -> '\f';
            case '"', '\\', '/' -> c;
            case 'u' -> {
                if (at + 4 > text.length()) {
                    throw wrong("four hexadecimal digits");
                }
                at += 4;
                yield (char) Integer.parseInt(text, at - 4, at, 16);
            }
            default -> throw wrong("an escape");
        };
    }
}
