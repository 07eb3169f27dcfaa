// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.allocator.programs;

/** How a program says that its result is right, or ends because it is not. */
final class Outcome {
    private Outcome() { }

    /** Ends the program with an error unless {@code holds}. */
    static void check(boolean holds, String what) {
        if (!holds) {
            System.err.println("error: wrong result: " + what);
            System.exit(1);
        }
    }

    /** Returns argument number {@code index}, or {@code byDefault} if there are fewer. */
    static int argument(String[] args, int index, int byDefault, int low, int high) {
        if (index >= args.length) {
            return byDefault;
        }
        try {
            int value = Integer.parseInt(args[index]);
            if (value >= low && value <= high) {
                return value;
            }
        } catch (NumberFormatException e) {
            // as one that is out of range
        }
        System.err.println("error: argument " + (index + 1) + ", '" + args[index] + "', must be a number from " + low + " to " + high);
        System.exit(2);
        return 0;
    }
}
