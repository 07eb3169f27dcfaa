// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.util.List;
import java.util.Locale;

/** Numbers in words that people read. What is not known is a dash. */
final class Text {
    /** Between a number and its unit, and between thousands: no line ends there. */
    private static final char NO_BREAK = '\u00a0';

    private static final String SECRET = "[^\\s=]*(?:password|passwd|secret|token|credential|key)[^\\s=]*";
    private static final String VALUE = "(?:\"[^\"]*\"|'[^']*'|\\S+)";

    private Text() {}

    /** A number with three digits that count. */
    static String number(double value) {
        if (!Double.isFinite(value)) {
            return "–";
        }
        double size = Math.abs(value);
        String format = size >= 100 || value == Math.rint(value) ? "%,.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : size >= 0.01
                ? "%.3f" : "%.2g";
        return String.format(Locale.ROOT, format, value).replace(',', NO_BREAK);
    }

    static String bytes(double bytes) {
        if (!Double.isFinite(bytes)) {
            return "–";
        }
        double size = Math.abs(bytes);
        if (size >= 1 << 30) {
            return with(bytes / (1 << 30), "GB");
        }
        return size >= 1 << 20 ? with(bytes / (1 << 20), "MB") : size >= 1 << 10 ? with(bytes / (1 << 10), "KB") : with(bytes, "B");
    }

    private static String with(double value, String unit) {
        return number(value) + NO_BREAK + unit;
    }

    static String time(double seconds) {
        if (!Double.isFinite(seconds)) {
            return "–";
        }
        double size = Math.abs(seconds);
        return size >= 1 || seconds == 0 ? with(seconds, "s") : size >= 1e-3 ? with(seconds * 1e3, "ms") : with(seconds * 1e6, "us");
    }

    static String percent(double share) {
        if (!Double.isFinite(share)) {
            return "–";
        }
        double size = Math.abs(share);
        String format = size >= 0.0995 || share == 0 ? "%.0f" : size >= 0.0095 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, format, share * 100) + NO_BREAK + "%";
    }

    /** A share with its interval. */
    static String percent(Estimate share) {
        return share.isKnown() ? percent(share.value()) + " (" + percent(share.low()) + " to " + percent(share.high()) + ")"
                : percent(share.value());
    }

    /** A name of a few letters of a longer one: the end of a path, a class without its package. */
    static String shortName(String javaArguments) {
        String first = javaArguments.strip().split("\\s+", 2)[0];
        String name = first.substring(first.lastIndexOf('/') + 1);
        return name.isEmpty() ? "a JVM" : name.endsWith(".jar") ? name : name.substring(name.lastIndexOf('.') + 1);
    }

    /** The name of a class as programs write it: {@code byte[]} for {@code [B}, {@code a.B[]} for {@code [La.B;}. */
    static String className(String name) {
        int depth = 0;
        while (depth < name.length() - 1 && name.charAt(depth) == '[') {
            depth++;
        }
        if (depth == 0) {
            return name;
        }
        String element = name.substring(depth);
        int primitive = element.length() == 1 ? "ZBCSIJFD".indexOf(element) : -1;
        String word = primitive >= 0 ? List.of("boolean", "byte", "char", "short", "int", "long", "float", "double").get(primitive)
                : element.startsWith("L") && element.endsWith(";") ? element.substring(1, element.length() - 1) : element;
        return word + "[]".repeat(depth);
    }

    /** Arguments without the values that may be secret: of properties and options by their names, those in URLs too, and of users in URLs. */
    static String withoutSecrets(String arguments) {
        return arguments.replaceAll("(?i)((?<![^\\s=])" + SECRET + ")=" + VALUE, "$1=...")
                .replaceAll("(?i)((?<!\\S)--" + SECRET + ")(\\s+)(?!--)" + VALUE, "$1$2...")
                .replaceAll("(://[^\\s/:@]*:)[^\\s/@]*@", "$1...@");
    }
}
