// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What a log of {@code -Xlog:gc*} says beyond a recording: how much each of Lull's global collections has found live, and how much of it
 * was
 * private to a thread.
 *
 * @param found in the order of time
 * @param lines lines that begin with the JVM's uptime
 */
record GcLog(List<Found> found, int lines) {
    private static final Pattern LINE = Pattern.compile("^\\[(\\d+)[.,](\\d{3})s\\](?:\\[[^\\]]*\\])* *(?:GC\\(\\d+\\) )?(.*)$");
    private static final Pattern MARKED = Pattern.compile("Marked: \\d+ objects, (\\d+)K;.*");
    private static final Pattern PRIVATE = Pattern.compile("Still private, of the marked: \\d+ objects, (\\d+)K");

    /** Live bytes at a time of the JVM, in seconds since its start, and those of them that only one thread knows. */
    record Found(double uptime, double live, double ofOneThread) { }

    /** Reads a file. @throws InputException if it cannot be read or has no line with the JVM's uptime */
    static GcLog read(Path file) throws InputException {
        // Latin-1: a log that is cut in the middle of a character is read to its end.
        try (Stream<String> lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
            GcLog log = parse(lines);
            if (log.lines == 0) {
                throw new InputException(InputException.UNREADABLE, file + " has no line as -Xlog:gc*:file=F:uptime,level,tags writes "
                        + "them, "
                        + "for instance `[1.234s][info][gc] GC(0) Pause ...`");
            }
            return log;
        } catch (IOException | UncheckedIOException e) {
            throw new InputException(InputException.UNREADABLE, "cannot read the log " + file + ": " + e.getMessage());
        }
    }

    /** Looks at one line after the other: a log may be larger than the memory. */
    static GcLog parse(Stream<String> lines) {
        List<Found> found = new ArrayList<>();
        int read = 0;
        for (String line : (Iterable<String>) lines::iterator) {
            Matcher m = LINE.matcher(line);
            if (!m.matches()) {
                continue;
            }
            read++;
            double uptime = Double.parseDouble(m.group(1) + "." + m.group(2));
            Matcher marked = MARKED.matcher(m.group(3));
            Matcher ofOneThread = PRIVATE.matcher(m.group(3));
            if (marked.matches()) {
                found.add(new Found(uptime, Double.parseDouble(marked.group(1)) * 1024, 0));
            } else if (ofOneThread.matches() && !found.isEmpty()) {
                Found whole = found.remove(found.size() - 1);
                found.add(new Found(whole.uptime, whole.live, Double.parseDouble(ofOneThread.group(1)) * 1024));
            }
        }
        return new GcLog(List.copyOf(found), read);
    }
}
