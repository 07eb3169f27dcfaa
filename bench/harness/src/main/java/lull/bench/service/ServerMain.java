// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.service;

import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import lull.bench.util.Cli;

/**
 * The server process: starts one service and runs until it is told to stop, by SIGTERM or, with {@code --until-eof true},
 * by the end of its standard input. The latter ties it to its parent: if that dies, however it dies, the server ends too.
 */
public final class ServerMain {
    private static final String USAGE =
            "ServerMain --service NAME --data DIR [--port 0..65535] [--threads N] [--ready FILE] [--until-eof true]";

    private ServerMain() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("service", "data", "port", "threads", "ready", "until-eof"), args, ServerMain::run);
    }

    private static int run(Cli cli) throws Exception {
        Service service = Services.find(cli.text("service"));
        int port = (int) cli.number("port", 0, 0, 65535);
        int threads = (int) cli.number("threads", 4, 1, 1000);
        CountDownLatch stop = new CountDownLatch(1);
        Service.Running running = service.start(Path.of(cli.text("data")), port, threads);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(running, stop), "stop"));

        if (!cli.text("ready", "").isEmpty()) {
            RuntimeMXBean runtime = ManagementFactory.getRuntimeMXBean();
            long uptimeZero = System.currentTimeMillis() - runtime.getUptime();
            new ReadyFile(running.port(), ProcessHandle.current().pid(), uptimeZero).write(Path.of(cli.text("ready")));
        }
        System.out.println("ready: service " + service.name() + " on 127.0.0.1:" + running.port()
                + " (process " + ProcessHandle.current().pid() + ")");
        System.out.flush();

        if (Boolean.parseBoolean(cli.text("until-eof", "false"))) {
            while (System.in.read() >= 0) {
                // wait for the end of input
            }
        } else {
            stop.await();
        }
        return 0;
    }

    /** Runs in the shutdown hook, which System.exit and SIGTERM both start. */
    private static void stop(Service.Running running, CountDownLatch stop) {
        try {
            running.close();
            System.out.println("stopped");
            System.out.flush();
        } catch (Exception e) {
            System.err.println("error: stopping failed: " + e);
        } finally {
            stop.countDown();
        }
    }
}
