// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lull.bench.service.Service;
import lull.bench.service.Services;
import lull.bench.util.Cli;
import lull.bench.util.Json;

/**
 * The load process: up to three phases against one service, then a result file. First a closed loop for warm-up, whose answers
 * are checked but not measured, then a closed loop for throughput, then an open loop for latency. A phase of 0 seconds is left out.
 *
 * <p>{@code --requests N} ends the closed loop after N requests instead, {@code --requests round} after every input once; its seconds stay
 * the upper bound. {@code --warmup-requests N} does so for the warm-up: with both, the work is the same however fast the server is.
 * {@code --rate auto:0.5} takes half of the throughput that the closed loop has just measured.
 * With {@code --until-eof true} the load ends with its standard input: if its parent dies, however it dies, it does not send on.
 */
public final class LoadMain {
    private static final String USAGE = "LoadMain --service NAME --data DIR --port PORT --out FILE [--seed N] [--clients N]"
            + " [--connections N] [--warmup SECONDS] [--warmup-requests N] [--closed SECONDS] [--requests N|round] [--open SECONDS] [--rate PER_SECOND|auto:FRACTION]"
            + " [--every SECONDS] [--until-eof true]";
    private static final double MAX_SECONDS = 7 * 24 * 3600.0;

    private LoadMain() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("service", "data", "port", "out", "seed", "clients", "connections", "warmup", "warmup-requests", "closed", "requests", "open",
                "rate", "every", "until-eof"), args, LoadMain::run);
    }

    private static int run(Cli cli) throws Exception {
        if (Boolean.parseBoolean(cli.text("until-eof", "false"))) {
            Thread.ofPlatform().daemon().name("until-eof").start(LoadMain::endWithInput);
        }
        int port = (int) cli.number("port", 0, 1, 65535);
        long seed = cli.number("seed", 1, 0, Long.MAX_VALUE);
        int clients = (int) cli.number("clients", 4, 1, 10_000);
        int connections = (int) cli.number("connections", 32, 1, 10_000);
        double warmup = cli.decimal("warmup", 0, 0, MAX_SECONDS);
        double closed = cli.decimal("closed", 0, 0, MAX_SECONDS);
        double open = cli.decimal("open", 0, 0, MAX_SECONDS);
        int every = (int) cli.number("every", 1, 1, 3600);
        String rate = cli.text("rate", "auto:0.5");
        Path out = Path.of(cli.text("out"));
        Service service = Services.find(cli.text("service"));
        Service.Caller caller = service.caller(Path.of(cli.text("data")), seed);

        long requests = cli.text("requests", "").equals("round") ? caller.variety() : cli.number("requests", Long.MAX_VALUE, 1, Long.MAX_VALUE);

        Progress progress = new Progress(System.out);
        List<Object> phases = new ArrayList<>();
        long number = 0;
        double throughput = Double.NaN;
        long errors = 0;
        if (warmup > 0) {
            Phase phase = Phase.closed("warm-up", caller, port, clients, warmup, cli.number("warmup-requests", Long.MAX_VALUE, 1, Long.MAX_VALUE), number);
            phase.run(progress, every);
            phases.add(phase.result());
            errors += phase.latencies().errors();
            number += phase.taken();
        }
        if (closed > 0) {
            Phase phase = Phase.closed("closed", caller, port, clients, closed, requests, number);
            phase.run(progress, every);
            phases.add(phase.result());
            errors += phase.latencies().errors();
            throughput = phase.throughput();
        }
        if (open > 0) {
            double perSecond = rate.startsWith("auto:") ? auto(rate, throughput) : Cli.decimal("--rate", rate, 0.001, 1e6);
            // Same numbers for every server, however many requests the closed loops had.
            Phase phase = Phase.open("open", caller, port, connections, open, perSecond, seed, 0);
            phase.run(progress, every);
            phases.add(phase.result());
            errors += phase.latencies().errors();
        }
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("service", service.name());
        result.put("seed", seed);
        result.put("variety", caller.variety());
        result.put("errors", errors);
        result.put("phases", phases);
        Json.write(out, result);
        return errors == 0 ? 0 : 3;
    }

    /** At once and without a result: nobody is left to read it. */
    private static void endWithInput() {
        try {
            while (System.in.read() >= 0) {
                // wait for the end of input
            }
        } catch (IOException e) {
            // An end too.
        }
        Runtime.getRuntime().halt(1);
    }

    private static double auto(String rate, double throughput) {
        double fraction = Cli.decimal("the fraction of --rate auto:", rate.substring("auto:".length()), 0.01, 2);
        if (!(throughput > 0)) {
            throw new Cli.UsageException("--rate " + rate + " needs a closed loop with answers before it: give --closed SECONDS, or a rate");
        }
        // Two significant digits are enough, and easy to repeat by hand.
        return BigDecimal.valueOf(fraction * throughput).round(new MathContext(2)).doubleValue();
    }
}
