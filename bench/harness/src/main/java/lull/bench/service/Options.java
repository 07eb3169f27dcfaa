// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.service;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import lull.bench.util.Cli;
import lull.bench.util.Cli.UsageException;

/** Reads the options of {@link Service#prepare}. A bad one is a usage error that names it. */
public final class Options {
    /** Given to every service by the scripts, whether it needs it or not. */
    private static final String OPENJDK = "openjdk";

    private final Map<String, String> values;

    /** Takes {@code values}, whose names must be in {@code known}. */
    public Options(Map<String, String> values, Set<String> known) {
        for (String name : values.keySet()) {
            if (!known.contains(name) && !name.equals(OPENJDK)) {
                throw new UsageException("unknown option '" + name + "': "
                        + (known.isEmpty() ? "this service has none" : "this service has " + new TreeSet<>(known)));
            }
        }
        this.values = Map.copyOf(values);
    }

    /** Reads {@code NAME=VALUE} parted by spaces. */
    static Map<String, String> parse(String text) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String option : text.trim().split("\\s+")) {
            int equals = option.indexOf('=');
            if (equals > 0) {
                values.put(option.substring(0, equals), option.substring(equals + 1));
            } else if (!option.isEmpty()) {
                throw new UsageException("the options have '" + option + "': give NAME=VALUE, parted by spaces");
            }
        }
        return values;
    }

    /** Returns the whole number {@code name}, which must be in [low, high]. */
    public int number(String name, int otherwise, int low, int high) {
        return values.containsKey(name) ? (int) Cli.number("option " + name, values.get(name), low, high) : otherwise;
    }

    /** Returns the text {@code name}. */
    public String text(String name, String otherwise) {
        return values.getOrDefault(name, otherwise);
    }
}
