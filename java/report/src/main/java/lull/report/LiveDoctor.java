// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.io.IOException;
import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Records a JVM that runs already, which goes on, and writes its page, or serves it. When the doctor is interrupted it ends the recording
 * and writes the page all the same.
 */
final class LiveDoctor {
    private final Arguments arguments;
    private final PrintStream out;
    private final PrintStream err;
    private final CountDownLatch interrupted = new CountDownLatch(1);
    private final CountDownLatch done = new CountDownLatch(1);
    private volatile InputException failure;

    LiveDoctor(Arguments arguments, PrintStream out, PrintStream err) {
        this.arguments = arguments;
        this.out = out;
        this.err = err;
    }

    void run() throws InputException {
        Thread whenInterrupted = new Thread(this::interrupted, "interrupted");
        Runtime.getRuntime().addShutdownHook(whenInterrupted);
        try {
            if (arguments.port() >= 0) {
                serve();
            } else {
                write();
            }
        } catch (InputException e) {
            failure = e;
        } catch (IOException e) {
            failure = new InputException(InputException.SERVICE, e.toString());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);   // nobody does
        } catch (RuntimeException | Error e) {
            failure = InputException.unforeseen(e);
        } finally {
            // Whatever has happened: the hook waits for it.
            done.countDown();
            remove(whenInterrupted);
        }
        if (failure != null) {
            throw failure;
        }
    }

    private static void remove(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            waitForEver();   // for the hook, which says what there is to say and ends all
        }
    }

    /** In a hook of the end: the other thread finishes, and its status becomes that of the program. */
    private void interrupted() {
        interrupted.countDown();
        try {
            done.await();
        } catch (InterruptedException e) {
            // the end comes anyway
        }
        Main.halt(failure, out, err);
    }

    private static void waitForEver() {
        try {
            Thread.currentThread().join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);   // nobody does
        }
    }

    private void write() throws InputException, IOException, InterruptedException {
        try (RunningJvm jvm = new RunningJvm(arguments.pid())) {
            jvm.start(jvm.leaveRecordingAtExit());
            out.println("Recording process " + arguments.pid()
                    + (arguments.seconds() > 0 ? " for " + arguments.seconds() + " s" : " until it ends, or Ctrl-C"));
            out.flush();
            if (hasEnded(jvm, arguments.seconds())) {
                jvm.takeLast(arguments.kept());
            } else {
                jvm.stop(arguments.kept());
            }
        }
        Main.write(arguments.kept(), arguments, out);
        out.println("The recording: " + arguments.kept().toAbsolutePath());
    }

    private void serve() throws InputException, IOException, InterruptedException {
        try (RunningJvm jvm = new RunningJvm(arguments.pid())) {
            PageServer server = new PageServer(jvm, arguments);
            try {
                jvm.start("maxage=10m", "maxsize=250m");
                server.start();
                out.println("The page of process " + arguments.pid() + ": " + server.address());
                out.flush();
                if (hasEnded(jvm, 0)) {
                    out.println("Process " + arguments.pid() + " has ended");
                }
            } finally {
                server.stop();
            }
        }
    }

    /** Waits so many seconds, or without an end if that is 0, or until interrupted: false. Or until the JVM ends: true. */
    private boolean hasEnded(RunningJvm jvm, int seconds) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (seconds == 0 || System.nanoTime() < end) {
            if (!jvm.isAlive()) {
                return true;
            }
            if (interrupted.await(100, TimeUnit.MILLISECONDS)) {
                return false;
            }
        }
        return false;
    }
}
