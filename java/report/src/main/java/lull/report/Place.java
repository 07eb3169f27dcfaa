// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A piece of a program that makes objects public: the frames from the store to the first code that is not the JDK's, and a few callers. */
final class Place {
    /** Frames shown beyond the first one of the application. */
    private static final int CALLERS = 4;
    /** The most frames shown; of a stack that is the JDK's only, a third of them. */
    private static final int MOST = 24;

    /** Innermost first. */
    final List<Frame> frames;
    long samples;
    long objects;
    /** Bytes that these samples stand for. */
    long weight;
    private final Map<String, Long> classes = new HashMap<>();

    /** A method, and the line in it or -1. */
    record Frame(String type, String method, int line) {
        @Override
        public String toString() {
            return type + "." + method + (line > 0 ? ":" + line : "");
        }

        /** Whether this is the JDK's own. Its compiler and other tools are not: a program that uses them knows. */
        boolean isLibrary() {
            return type.startsWith("java.") || type.startsWith("javax.") || type.startsWith("jdk.internal.") || type.startsWith("sun.")
                    || type.startsWith("com.sun.") && !type.startsWith("com.sun.tools.");
        }
    }

    Place(List<Frame> frames) {
        this.frames = frames;
    }

    /** The frames by which places are told from each other. */
    static List<Frame> significant(List<Frame> stack) {
        int first = 0;
        while (first < stack.size() && stack.get(first).isLibrary()) {
            first++;
        }
        int most = first == stack.size() ? MOST / 3 : Math.min(MOST, first + 1 + CALLERS);
        return List.copyOf(stack.subList(0, Math.min(stack.size(), most)));
    }

    void add(String type, long count, long bytes) {
        samples++;
        objects += count;
        weight += bytes;
        classes.merge(type, bytes, Long::sum);
    }

    /** The class of the stored object that stands for most bytes. */
    String mainClass() {
        return classes.entrySet().stream().max(Map.Entry.comparingByValue()).map(Map.Entry::getKey).orElse("?");
    }

    /** The first code that is not the JDK's; if there is none, the innermost. */
    Frame application() {
        return frames.stream().filter(frame -> !frame.isLibrary()).findFirst()
                .orElse(frames.isEmpty() ? new Frame("?", "?", -1) : frames.get(0));
    }
}
