// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

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
            if (arguments.pid() != 0) {
                checkInputs(arguments);
                new LiveDoctor(arguments, out, err).run();
            } else if (arguments.command().isEmpty()) {
                write(arguments.recording(), arguments, out);
            } else {
                checkInputs(arguments);
                new Doctor(arguments, out, err).run();
            }
            return 0;
        } catch (InputException e) {
            err.println("lull: " + e.getMessage());
            return e.status;
        } catch (IOException e) {
            err.println("lull: " + e);
            return InputException.UNREADABLE;
        }
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
    private static void checkInputs(Arguments arguments) throws InputException {
        if (arguments.baseline() != null) {
            RecordingReader.read(arguments.baseline());
        }
        if (arguments.port() >= 0) {
            return;   // no file
        }
        Path directory = arguments.output().toAbsolutePath().getParent();
        if (!Files.isDirectory(directory) || !Files.isWritable(directory)) {
            throw new InputException(InputException.USAGE, "the page cannot be written: " + directory
                    + " is no directory in which files can be made");
        }
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
        out.println(Advice.of(new Figures(read)).heading().replace("`", ""));
        report.summary().forEach(out::println);
        out.println("The page: " + arguments.output().toAbsolutePath());
    }

    /** The page of a recording, with what else the arguments name. */
    static String page(Recording recording, Arguments arguments) throws InputException {
        return report(recording, arguments).write().toString();
    }

    private static ReportPage report(Recording recording, Arguments arguments) throws InputException {
        Recording baseline = arguments.baseline() == null ? null : RecordingReader.read(arguments.baseline());
        GcLog log = arguments.gcLog() == null ? null : GcLog.read(arguments.gcLog());
        return new ReportPage(recording, baseline, log);
    }
}
