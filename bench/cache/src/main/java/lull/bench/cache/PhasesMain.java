// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cache;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import lull.bench.cache.CacheCaller.Kind;
import lull.bench.load.HttpConnection;
import lull.bench.load.Phase;
import lull.bench.load.Progress;
import lull.bench.proc.CpuSplit;
import lull.bench.proc.Memory;
import lull.bench.service.ReadyFile;
import lull.bench.util.Cli;

/**
 * The life of a cache, in phases: it is filled; it serves; a tenth of it is replaced each minute, while it serves; half of it is dropped
 * at once, and comes back as it is asked for. Each phase but the first is a closed loop, for throughput, and then an open one at a given
 * rate, for latency. Writes a line for each loop to {@code --out}: tells the server's time, processor time and memory apart by phase.
 */
public final class PhasesMain {
    private static final String USAGE = "PhasesMain --data DIR --ready FILE --out FILE [--clients N] [--connections N] [--seconds N] [--rate PER_SECOND]";
    private static final int MINUTE = 60;
    private static final int REPLACED_PARTS_EACH_MINUTE = 10;
    private static final long SEED = 1;

    private final ReadyFile server;
    private final Entries entries;
    private final CacheCaller caller;
    private final Cli cli;
    private final Path out;
    private final Progress progress = new Progress(System.out);
    private long errors;

    private PhasesMain(Cli cli) throws IOException {
        this.cli = cli;
        out = Path.of(cli.text("out"));
        server = ReadyFile.read(Path.of(cli.text("ready")));
        entries = Entries.read(Path.of(cli.text("data")));
        caller = new CacheCaller(entries, SEED);
    }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("data", "ready", "out", "clients", "connections", "seconds", "rate"), args, cli -> new PhasesMain(cli).run());
    }

    private int run() throws Exception {
        int clients = (int) cli.number("clients", 4, 1, 1000);
        int connections = (int) cli.number("connections", 32, 1, 10_000);
        double seconds = cli.number("seconds", 20, 1, 86_400);
        double rate = cli.decimal("rate", 4000, 1, 1e6);
        CacheCaller gets = caller.with(Kind.SERVE, 0);
        int port = server.port();
        Files.writeString(out, Line.HEAD + "\n");

        measure("fill", Phase.closed("fill", caller.with(Kind.FILL, 0), port, clients, 86_400, entries.batches(), 0));
        expectSize(entries.count());
        measure("steady", Phase.closed("steady", gets, port, clients, seconds, Long.MAX_VALUE, 0));
        measure("steady", Phase.open("steady", gets, port, connections, seconds, rate, SEED, 0));
        whileReplacing(2 * seconds, () -> {
            measure("replace", Phase.closed("replace", gets, port, clients, seconds, Long.MAX_VALUE, 0));
            measure("replace", Phase.open("replace", gets, port, connections, seconds, rate, SEED, 0));
        });
        Thread drop = Thread.ofPlatform().start(() -> dropHalf(port, (long) (seconds * 1000 / 4)));
        measure("drop", Phase.open("drop", gets, port, connections, seconds, rate, SEED, 0));
        drop.join();
        return errors == 0 ? 0 : 3;
    }

    private interface Body {
        void run() throws IOException, InterruptedException;
    }

    /** Runs {@code body} while batches are replaced beside it, so many that each minute has its part of all. */
    private void whileReplacing(double seconds, Body body) throws IOException, InterruptedException {
        double rate = (double) entries.batches() / REPLACED_PARTS_EACH_MINUTE / MINUTE;
        Phase replacing = Phase.open("replacing", caller.with(Kind.SERVE, 1000), server.port(), 1, seconds, rate, SEED, 0);
        AtomicReference<Exception> failure = new AtomicReference<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                replacing.run(new Progress(System.out), MINUTE);
            } catch (InterruptedException e) {
                failure.set(e);
            }
        });
        body.run();
        thread.join();
        if (failure.get() != null) {
            throw new IOException("replacing ended early: " + failure.get());
        }
        check(replacing);
    }

    private void dropHalf(int port, long afterMillis) {
        try (HttpConnection http = new HttpConnection(port, 600_000)) {
            Thread.sleep(afterMillis);
            HttpConnection.Answer answer = http.send("POST", "/drop", "text/plain", new byte[0]);
            if (answer.status() != 200) {
                throw new IOException("status " + answer.status());
            }
        } catch (IOException | InterruptedException e) {
            errors++;
            System.err.println("error: half of the cache was not dropped: " + e);
        }
    }

    private void expectSize(long wanted) throws IOException {
        try (HttpConnection http = new HttpConnection(server.port(), 600_000)) {
            String size = new String(http.get("/size").body());
            if (!size.equals(Long.toString(wanted))) {
                throw new IOException("the cache has '" + size + "' entries after it was filled, expected " + wanted);
            }
        }
    }

    private void measure(String name, Phase phase) throws IOException, InterruptedException {
        long start = System.currentTimeMillis();
        double before = CpuSplit.totalSeconds(server.pid());
        phase.run(progress, 10);
        double used = CpuSplit.totalSeconds(server.pid()) - before;
        check(phase);
        Files.writeString(out, new Line(name, phase, (start - server.uptimeZeroMillis()) / 1e3,
                (System.currentTimeMillis() - server.uptimeZeroMillis()) / 1e3, used, Memory.proportionalMegabytes(server.pid())) + "\n",
                StandardOpenOption.APPEND);
    }

    private void check(Phase phase) {
        errors += phase.latencies().errors();
        phase.latencies().errorSamples().forEach(sample -> System.err.println("error: " + sample));
    }

    /**
     * One loop, as a line of text.
     *
     * @param start in seconds of the server's uptime, as {@code end}
     * @param used processor seconds of the server, all of its threads
     * @param memory proportional set size at the end, in MB
     */
    private record Line(String name, Phase phase, double start, double end, double used, double memory) {
        private static final String HEAD = "phase loop start end requests/s p50 p99 p99.9 p99.99 max cpu-us/request pss-MB errors";

        @Override
        public String toString() {
            Object loop = phase.result().get("loop");
            List<Double> percentiles = List.of(50.0, 99.0, 99.9, 99.99, 100.0);
            StringBuilder text = new StringBuilder(String.format(Locale.ROOT, "%s %s %.3f %.3f %.0f", name, loop, start, end, phase.throughput()));
            percentiles.forEach(p -> text.append(String.format(Locale.ROOT, " %.2f", phase.latencies().percentileMillis(p))));
            return text.append(String.format(Locale.ROOT, " %.1f %.0f %d", used * 1e6 / Math.max(1, phase.latencies().count()), memory,
                    phase.latencies().errors())).toString();
        }
    }
}
