// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import lull.report.gclog.GcLog;

/** The program behind the script {@code lull}. */
public final class Main {
    private Main() {}

    /** Runs a command and exits with its status. */
    public static void main(String[] args) {
        System.exit(run(List.of(args), System.out, System.err));
    }

    static int run(List<String> words, PrintStream out, PrintStream err) {
        if (words.isEmpty() || words.contains("-h") && before(words, "-h") || words.contains("--help") && before(words, "--help")) {
            (words.isEmpty() ? err : out).print(Arguments.USAGE);
            return words.isEmpty() ? InputException.USAGE : 0;
        }
        try {
            if (!words.get(0).equals("doctor")) {
                throw new InputException(InputException.USAGE, "unknown command '" + words.get(0) + "'\n\n" + Arguments.USAGE);
            }
            Arguments arguments = Arguments.parse(words.subList(1, words.size()));
            checkFiles(arguments);
            if (arguments.pid() != 0) {
                new LiveDoctor(arguments, out, err).run();
            } else if (arguments.command().isEmpty()) {
                write(arguments.recording(), arguments, out);
            } else {
                new Doctor(arguments, out, err).run();
            }
            return 0;
        } catch (InputException e) {
            return fail(e, err);
        } catch (IOException e) {
            return fail(new InputException(InputException.UNREADABLE, e.toString()), err);
        } catch (RuntimeException | Error e) {
            return fail(InputException.unforeseen(e), err);
        }
    }

    private static int fail(InputException failure, PrintStream err) {
        err.println("lull: " + failure.getMessage());
        return failure.status;
    }

    /** Ends the program from a hook of its end, with the status of a failure, or null. */
    static void halt(InputException failure, PrintStream out, PrintStream err) {
        if (failure != null) {
            err.println("lull: " + failure.getMessage());
        }
        out.flush();
        err.flush();
        Runtime.getRuntime().halt(failure == null ? 0 : failure.status);
    }

    /** Whether a word is an option of ours and not of the service. */
    private static boolean before(List<String> words, String option) {
        return !words.contains("--") || words.indexOf(option) < words.indexOf("--");
    }

    /** What would fail at the end fails before the service has run. */
    private static void checkFiles(Arguments arguments) throws InputException, IOException {
        boolean records = arguments.pid() != 0 || !arguments.command().isEmpty();
        if (records && arguments.baseline() != null) {
            RecordingReader.read(arguments.baseline());
        }
        if (arguments.port() >= 0) {
            return;   // no file
        }
        checkCanBeWritten("the page", arguments.output());
        checkIsNone(arguments.output(), arguments.kept(), arguments.baseline(), arguments.gcLog());
        if (records) {
            checkCanBeWritten("the recording", arguments.kept());
            checkIsNone(arguments.kept(), arguments.baseline(), arguments.gcLog());
        }
        if (!arguments.command().isEmpty()) {
            checkIsNone(Doctor.made(arguments), arguments.output(), arguments.baseline(), arguments.gcLog());
        }
    }

    private static void checkCanBeWritten(String what, Path file) throws InputException {
        if (Files.isDirectory(file)) {
            throw new InputException(InputException.USAGE, what + " cannot be written: " + file + " is a directory; name a file");
        }
        Path directory = file.toAbsolutePath().getParent();
        if (!Files.isDirectory(directory) || !Files.isWritable(directory)) {
            throw new InputException(InputException.USAGE, what + " cannot be written: " + directory
                    + " is no directory in which files can be made");
        }
    }

    /** What is written must be none of these, of which some may be null. */
    private static void checkIsNone(Path written, Path... others) throws InputException, IOException {
        for (Path other : others) {
            if (other != null && real(written).equals(real(other))) {
                throw new InputException(InputException.USAGE, other + " would be written over: name another page by -o, or where to keep the "
                        + "recording by --recording, which is beside the page by default");
            }
        }
    }

    /** The same for all names of a file, also of one that is still to be made. */
    private static Path real(Path file) throws IOException {
        Path absolute = file.toAbsolutePath();
        if (Files.exists(absolute)) {
            return absolute.toRealPath();
        }
        Path directory = absolute.getParent();
        return Files.exists(directory) ? directory.toRealPath().resolve(absolute.getFileName()) : absolute.normalize();
    }

    /** Reads a recording and writes the page. */
    static void write(Path recording, Arguments arguments, PrintStream out) throws InputException, IOException {
        Recording read = RecordingReader.read(recording);
        ReportPage report = report(read, arguments);
        String page = report.write().toString();
        try {
            Files.writeString(arguments.output(), page);
        } catch (IOException e) {
            throw new InputException(InputException.UNREADABLE, "cannot write the page " + arguments.output() + ": " + e);
        }
        out.println(report.verdict().replace("`", ""));
        report.summary().forEach(out::println);
        out.println("The page: " + arguments.output().toAbsolutePath());
    }

    /** The page of a recording, with what else the arguments name. */
    static String page(Recording recording, Arguments arguments) throws InputException {
        return report(recording, arguments).write().toString();
    }

    private static ReportPage report(Recording recording, Arguments arguments) throws InputException {
        Recording baseline = arguments.baseline() == null ? null : RecordingReader.read(arguments.baseline());
        GcLog log = arguments.gcLog() == null ? null : log(arguments.gcLog());
        return new ReportPage(recording, baseline, log);
    }

    /** Reads a log. @throws InputException if it cannot be read or has no line with the JVM's uptime */
    static GcLog log(Path file) throws InputException {
        try {
            GcLog log = GcLog.read(file);
            if (log.lines() == 0) {
                throw new InputException(InputException.UNREADABLE, file + " has no line as "
                        + "-Xlog:gc*:file=F:uptime,level,tags writes them, for instance `[1.234s][info][gc] GC(0) Pause ...`");
            }
            return log;
        } catch (IOException e) {
            throw new InputException(InputException.UNREADABLE, "cannot read the log " + file + ": " + e.getMessage());
        }
    }
}
