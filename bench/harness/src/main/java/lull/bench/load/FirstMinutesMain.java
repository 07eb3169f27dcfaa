// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import lull.bench.proc.CpuSplit;
import lull.bench.service.ReadyFile;
import lull.bench.service.Service;
import lull.bench.service.Services;
import lull.bench.util.Cli;
import lull.bench.util.Json;

/**
 * The load of a server from its first second on: a closed loop that begins as soon as the server says that it is ready, and ends at an age of
 * the server. It is to be started before the server, and prints {@code waiting} when nothing is left to do but to wait: its own start is not
 * measured.
 *
 * <p>{@code --started} is a file that whoever starts the server writes just before: milliseconds since the epoch, with which the server's life
 * begins. {@code --out} gets a line for each second of it: answers in the second, processor seconds of the server until its end. {@code FILE.json}
 * has the age at the first answer, the processor seconds until then, and the age at the end of the loop.
 */
public final class FirstMinutesMain {
    private static final String USAGE = "FirstMinutesMain --service NAME --data DIR --ready FILE --started FILE --seconds N --out FILE [--seed N] [--clients N]";
    private static final int READY_SECONDS = 300;

    private FirstMinutesMain() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("service", "data", "ready", "started", "seconds", "out", "seed", "clients"), args, FirstMinutesMain::run);
    }

    private static int run(Cli cli) throws Exception {
        int seconds = (int) cli.number("seconds", 120, 1, 3600);
        int clients = (int) cli.number("clients", 4, 1, 10_000);
        Path out = Path.of(cli.text("out"));
        Service service = Services.find(cli.text("service"));
        Service.Caller caller = service.caller(Path.of(cli.text("data")), cli.number("seed", 1, 0, Long.MAX_VALUE));
        System.out.println("waiting");
        System.out.flush();
        ReadyFile ready = await(Path.of(cli.text("ready")));
        long begin = begin(Path.of(cli.text("started")));
        FirstSeconds answers = new FirstSeconds(caller, seconds, () -> System.nanoTime() - begin, () -> CpuSplit.totalSeconds(ready.pid()));
        double[] processor = new double[seconds];
        Arrays.fill(processor, Double.NaN);
        Thread.ofPlatform().daemon().name("processor time").start(() -> sample(ready.pid(), begin, processor));
        double left = seconds - (System.nanoTime() - begin) / 1e9;
        if (left < 1) {
            throw new IOException("the server was ready after " + (seconds - left) + " s, of " + seconds + " to be measured: give it longer");
        }
        Phase phase = Phase.closed("first minutes", answers, ready.port(), clients, left, Long.MAX_VALUE, 0);
        phase.run(new Progress(System.out), 10);
        double age = (System.nanoTime() - begin) / 1e9;
        synchronized (processor) {
            write(out, answers, processor);
        }
        Map<String, Object> result = new LinkedHashMap<>();
        FirstSeconds.First first = answers.first().orElseThrow(() -> new IOException("no right answer in " + seconds + " s: " + phase.latencies().errorSamples()));
        result.put("firstAnswer", first.age());
        result.put("firstProcessor", first.processor());
        result.put("end", age);
        result.put("errors", phase.latencies().errors());
        result.put("errorSamples", phase.latencies().errorSamples());
        Json.write(Path.of(out + ".json"), result);
        return phase.latencies().errors() == 0 ? 0 : 3;
    }

    private static ReadyFile await(Path file) throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_SECONDS);
        while (!Files.exists(file)) {
            if (System.nanoTime() > end) {
                throw new IOException("no server was ready in " + READY_SECONDS + " s: there is no " + file);
            }
            LockSupport.parkNanos(2_000_000);
        }
        return ReadyFile.read(file);
    }

    /** Returns when the server's life began, in terms of {@link System#nanoTime}. */
    private static long begin(Path file) throws IOException {
        String text = Files.readString(file).trim();
        if (!text.matches("[0-9]{13}")) {
            throw new IOException(file + " is to have the milliseconds since the epoch at which the server started, not '" + text + "'");
        }
        long age = System.currentTimeMillis() - Long.parseLong(text);
        return System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(age);
    }

    /** Reads the processor time at the end of each second. Seconds that were over before are left as they are. */
    private static void sample(long pid, long begin, double[] processor) {
        int next = (int) ((System.nanoTime() - begin) / 1_000_000_000L);
        for (int second = next; second < processor.length; second++) {
            long due = begin + (second + 1) * 1_000_000_000L;
            for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            double used = CpuSplit.totalSeconds(pid);
            synchronized (processor) {
                processor[second] = used;
            }
        }
    }

    private static void write(Path out, FirstSeconds answers, double[] processor) throws IOException {
        StringBuilder text = new StringBuilder("second,answers,processor\n");
        for (int second = 0; second < processor.length; second++) {
            text.append(second).append(',').append(answers.answers(second)).append(',')
                    .append(Double.isNaN(processor[second]) ? "" : String.format(Locale.ROOT, "%.2f", processor[second])).append('\n');
        }
        Files.writeString(out, text);
    }
}
