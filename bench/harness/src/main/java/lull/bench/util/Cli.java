// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.util;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The command line of our programs: {@code --name value} pairs, one usage line, and what a failure looks like.
 * A bad argument gives the usage line and exit code 2, any other failure its message and exit code 1.
 */
public final class Cli {
    private final Map<String, String> values = new LinkedHashMap<>();

    private Cli() { }

    /** A bad argument: the message says which, its value, and what is allowed. */
    public static final class UsageException extends RuntimeException {
        public UsageException(String message) {
            super(message);
        }
    }

    /** What a program does with its command line. */
    public interface Body {
        /** Returns the exit code. */
        int run(Cli cli) throws Exception;
    }

    /** Runs {@code body} and exits the process. {@code names} are the options, without dashes, that {@code usage} lists. */
    public static void main(String usage, Set<String> names, String[] args, Body body) {
        int code;
        try {
            code = body.run(parse(names, args));
        } catch (UsageException e) {
            System.err.println(e.getMessage());
            System.err.println("usage: " + usage);
            code = 2;
        } catch (Exception e) {
            System.err.println("error: " + (e.getMessage() == null ? e.toString() : e.getMessage()));
            if (System.getenv("LULL_BENCH_TRACE") != null) {
                e.printStackTrace();
            }
            code = 1;
        }
        System.out.flush();
        System.exit(code);
    }

    static Cli parse(Set<String> names, String[] args) {
        Cli cli = new Cli();
        for (int i = 0; i < args.length; i += 2) {
            String name = args[i].startsWith("--") ? args[i].substring(2) : "";
            if (!names.contains(name)) {
                throw new UsageException("unknown argument '" + args[i] + "': known are --" + String.join(", --", new TreeSet<>(names)));
            }
            if (i + 1 == args.length) {
                throw new UsageException("--" + name + " needs a value");
            }
            cli.values.put(name, args[i + 1]);
        }
        return cli;
    }

    /** Returns the value of {@code name}; it must be given. */
    public String text(String name) {
        String value = values.get(name);
        if (value == null) {
            throw new UsageException("--" + name + " is missing");
        }
        return value;
    }

    /** Returns the value of {@code name}, or {@code otherwise} if it is not given. */
    public String text(String name, String otherwise) {
        return values.getOrDefault(name, otherwise);
    }

    /** Returns the whole number {@code name}, which must be in [low, high]. */
    public long number(String name, long otherwise, long low, long high) {
        return values.containsKey(name) ? number("--" + name, values.get(name), low, high) : otherwise;
    }

    /** Returns the decimal number {@code name}, which must be in [low, high]. */
    public double decimal(String name, double otherwise, double low, double high) {
        return values.containsKey(name) ? decimal("--" + name, values.get(name), low, high) : otherwise;
    }

    /** Reads a whole number in [low, high]; {@code what} names it in the error. */
    public static long number(String what, String value, long low, long high) {
        try {
            long number = Long.parseLong(value);
            if (number >= low && number <= high) {
                return number;
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw new UsageException(what + " is '" + value + "': give a whole number from " + low + " to " + high);
    }

    /** Reads a decimal number in [low, high]; {@code what} names it in the error. */
    public static double decimal(String what, String value, double low, double high) {
        try {
            double number = Double.parseDouble(value);
            if (number >= low && number <= high) {
                return number;
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw new UsageException(what + " is '" + value + "': give a number from " + low + " to " + high);
    }
}
