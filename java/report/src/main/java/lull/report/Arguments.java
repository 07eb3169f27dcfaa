// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.nio.file.Path;
import java.util.List;

/**
 * The command line.
 *
 * @param recording the recording to read, or null
 * @param baseline another one to compare with, or null
 * @param gcLog a log of -Xlog:gc*, or null
 * @param output the page to write
 * @param warmup seconds of the service before the recording begins
 * @param seconds seconds to record; 0: until the service ends or is interrupted
 * @param pid a JVM that runs already, or 0
 * @param port where its page is served, 0 for any free port; or -1
 * @param command the service, or empty
 */
record Arguments(Path recording, Path baseline, Path gcLog, Path output, int warmup, int seconds, long pid, int port,
        List<String> command) {
    static final String USAGE = """
            usage: lull doctor [OPTIONS] -- java ... -jar service.jar     run a service, record it, write the page
                   lull doctor [OPTIONS] --pid PID                        record a JVM that runs, write the page
                   lull doctor [OPTIONS] --recording FILE.jfr             write the page of a recording

              -o, --output FILE    the page                               (default: lull-report.html)
              --recording FILE     with a service or --pid: keep the recording there (default: beside the page)
              --baseline FILE      a recording of the same service and load on another collector, to compare with
              --gc-log FILE        a log of -Xlog:gc*:file=FILE:uptime,level,tags of the same run
              --warmup SECONDS     let the service run so long before it is recorded        (default: 0)
              --seconds SECONDS    record so long, then end the service; else until it ends, or Ctrl-C. With --pid the JVM goes on
              --pid PID            a JVM of the same user, or of any by root; the doctor's own JDK must have jcmd
              --serve PORT         with --pid: no file, but a page at http://localhost:PORT/ of the last 10 minutes, made anew for each
                                   look, until Ctrl-C; 0: any free port
              -h, --help           this text

            exit status: 0 a page was written, 2 wrong arguments, 3 a file cannot be read or made a page of, 4 a recording without
            collections, 5 the service could not be run or recorded, or left no recording
            """;

    private static final List<String> OPTIONS = List.of("-o", "--output", "--recording", "--baseline", "--gc-log", "--warmup", "--seconds",
            "--pid", "--serve");

    /** Where the recording is kept that the doctor makes. */
    Path kept() {
        return recording != null ? recording
                : output.resolveSibling(output.getFileName().toString().replaceFirst("\\.html?$", "") + ".jfr");
    }

    /** Parses what follows the command's name. */
    static Arguments parse(List<String> words) throws InputException {
        Path recording = null;
        Path baseline = null;
        Path gcLog = null;
        Path output = Path.of("lull-report.html");
        int warmup = 0;
        int seconds = 0;
        long pid = 0;
        int port = -1;
        List<String> command = List.of();
        for (int i = 0; i < words.size(); i++) {
            String option = words.get(i);
            if (option.equals("--")) {
                command = List.copyOf(words.subList(i + 1, words.size()));
                if (command.isEmpty()) {
                    throw usage("no command after --");
                }
                break;
            }
            if (!OPTIONS.contains(option)) {
                throw usage("unknown argument '" + option + "'; a service's command comes after --");
            }
            if (++i == words.size() || words.get(i).equals("--")) {
                throw usage(option + " needs a value");
            }
            String value = words.get(i);
            switch (option) {
                case "-o", "--output" -> output = Path.of(value);
                case "--recording" -> recording = Path.of(value);
                case "--baseline" -> baseline = Path.of(value);
                case "--gc-log" -> gcLog = Path.of(value);
                case "--warmup" -> warmup = number(option, value, "a number of seconds", 0, 1_000_000);
                case "--seconds" -> seconds = Math.max(1, number(option, value, "a number of seconds", 0, 1_000_000));
                case "--pid" -> pid = number(option, value, "the id of a process", 1, Integer.MAX_VALUE);
                default -> port = number(option, value, "a port", 0, 65535);
            }
        }
        if (command.isEmpty() && recording == null && pid == 0) {
            throw usage("give a service after --, or --pid PID, or --recording FILE");
        }
        if (!command.isEmpty() && pid != 0) {
            throw usage("give either a service after -- or --pid PID, not both");
        }
        if (command.isEmpty() && warmup > 0) {
            throw usage("--warmup is for a service that the doctor runs");
        }
        if (command.isEmpty() && pid == 0 && seconds > 0) {
            throw usage("--seconds is for a service that is run or --pid, not for a recording");
        }
        if (port >= 0 && (pid == 0 || seconds > 0 || recording != null)) {
            throw usage("--serve needs --pid PID, and goes with neither --seconds nor --recording");
        }
        return new Arguments(recording, baseline, gcLog, output, warmup, seconds, pid, port, command);
    }

    private static int number(String option, String value, String what, int least, int most) throws InputException {
        try {
            int number = Integer.parseInt(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // as below
        }
        throw usage(option + " is '" + value + "', not " + what + " from " + least + " to " + most);
    }

    private static InputException usage(String message) {
        return new InputException(InputException.USAGE, message + "\n\n" + USAGE);
    }
}
