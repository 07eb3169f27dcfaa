// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs a service with a flight recording, ends it, and writes the page. When the doctor itself is interrupted (Ctrl-C reaches the service,
 * too) it waits for the service's end and writes the page all the same.
 */
final class Doctor {
    /** A service may take so long to end before it is said that it takes long. */
    private static final int PATIENCE_SECONDS = 30;

    /** What is recorded, as a file of settings. */
    static final byte[] SETTINGS = resource("doctor.jfc");

    private final Arguments arguments;
    private final PrintStream out;
    private final PrintStream err;
    private final Path recording;
    /** What the service's JVM writes. It becomes the recording once it is there, so that a run that fails leaves an older one as it is. */
    private final Path made;
    private Path settings;
    private Process service;
    private volatile boolean interrupted;
    private boolean written;
    private InputException failure;

    Doctor(Arguments arguments, PrintStream out, PrintStream err) {
        this.arguments = arguments;
        this.out = out;
        this.err = err;
        this.recording = arguments.kept();
        this.made = made(arguments);
    }

    /** Where the service's JVM writes its recording. */
    static Path made(Arguments arguments) {
        return arguments.kept().resolveSibling(arguments.kept().getFileName() + ".part");
    }

    void run() throws InputException, IOException {
        List<String> command = command(arguments.command(), settings());
        Files.deleteIfExists(made);   // one of a doctor that was killed must not be taken for that of this run
        Thread whenInterrupted = new Thread(this::interrupted, "interrupted");
        Runtime.getRuntime().addShutdownHook(whenInterrupted);
        try {
            out.println("Recording the service "
                    + (arguments.seconds() > 0 ? "for " + arguments.seconds() + " s" : "until it ends, or Ctrl-C")
                    + (arguments.warmup() > 0 ? ", after " + arguments.warmup() + " s of warm-up" : ""));
            out.flush();
            service = new ProcessBuilder(command).inheritIO().start();
        } catch (IOException e) {
            Runtime.getRuntime().removeShutdownHook(whenInterrupted);
            throw new InputException(InputException.SERVICE, "cannot run the service: " + e.getMessage());
        }
        try {
            if (arguments.seconds() == 0) {
                service.waitFor();
            } else if (!hasEndedBeforeRecording() && !service.waitFor((long) arguments.warmup() + arguments.seconds(), TimeUnit.SECONDS)) {
                end();
            }
            finish();
            if (interrupted) {
                Thread.currentThread().join();   // for the hook, which says what there is to say and ends all
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);   // nobody does
        }
        try {
            Runtime.getRuntime().removeShutdownHook(whenInterrupted);
        } catch (IllegalStateException e) {
            // interrupted in this moment: the page is there, and the hook does nothing more
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Waits until the service's JVM has made the file of the recording, which it does as it starts: seconds count from then on. */
    private boolean hasEndedBeforeRecording() throws InterruptedException {
        while (!Files.exists(made)) {
            if (service.waitFor(50, TimeUnit.MILLISECONDS)) {
                return true;
            }
        }
        return false;
    }

    /** In a hook of the end: writes the page, and makes its own status that of the program. */
    private void interrupted() {
        interrupted = true;
        try {
            if (service == null) {
                failure = new InputException(InputException.SERVICE, "interrupted before the service was run");
            } else {
                end();
                finish();
            }
        } catch (InterruptedException e) {
            // the end comes anyway
        }
        Main.halt(failure, out, err);
    }

    /** Asks the service to end, as Ctrl-C does, and waits until it has. */
    private void end() throws InterruptedException {
        service.destroy();
        while (!service.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            err.println("lull: waiting for process " + service.pid() + " to end; end it by hand if it hangs");
        }
    }

    /** Once, by whoever comes first. */
    private synchronized void finish() {
        if (written) {
            return;
        }
        written = true;
        try {
            Files.deleteIfExists(settings);
            if (!Files.exists(made) || Files.size(made) == 0) {
                Files.deleteIfExists(made);
                throw new InputException(InputException.SERVICE, "the service ended with status " + service.exitValue()
                        + " and left no recording: "
                        + (arguments.warmup() > 0 ? "did it end within the " + arguments.warmup() + " s of --warmup? " : "")
                        + "its messages are above. It must end by "
                        + "itself or by SIGTERM; a JVM that is killed writes none");
            }
            Files.move(made, recording, StandardCopyOption.REPLACE_EXISTING);
            Main.write(recording, arguments, out);
            out.println("The recording: " + recording.toAbsolutePath());
        } catch (InputException e) {
            failure = e;
        } catch (IOException e) {
            failure = new InputException(InputException.SERVICE, e.toString());
        } catch (RuntimeException | Error e) {
            failure = InputException.unforeseen(e);
        }
    }

    private static byte[] resource(String name) {
        try (InputStream in = Doctor.class.getResourceAsStream(name)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String settings() throws IOException {
        settings = Files.createTempFile("lull-doctor", ".jfc");
        settings.toFile().deleteOnExit();   // which an interrupted doctor does not reach
        Files.write(settings, SETTINGS);
        return "-XX:StartFlightRecording=name=lull-doctor,settings=" + settings + ",filename=" + made.toAbsolutePath()
                + ",dumponexit=true"
                + (arguments.warmup() > 0 ? ",delay=" + arguments.warmup() + "s" : "");
    }

    /** Puts our options before those of the service, whose own ones then count. */
    static List<String> command(List<String> service, String recording) throws InputException {
        String java = service.get(0);
        if (!Path.of(java).endsWith("java")) {
            throw new InputException(InputException.USAGE, "the service's command begins with '" + java
                    + "', not with java: give the java command itself. Of a script "
                    + "that starts one, record with JDK_JAVA_OPTIONS=-XX:StartFlightRecording=filename=f.jfr, and give the doctor "
                    + "--recording f.jfr");
        }
        // What JFR says as it starts is not for the service's user: how to get at a recording that the doctor takes.
        List<String> command = new ArrayList<>(List.of(java, "-Xlog:jfr+startup=error", recording));
        if (service.contains("-XX:+UseLullGC")) {
            command.addAll(List.of("-XX:+UnlockExperimentalVMOptions", "-XX:LullPublicationSampling=64k"));
        }
        command.addAll(service.subList(1, service.size()));
        return command;
    }
}
