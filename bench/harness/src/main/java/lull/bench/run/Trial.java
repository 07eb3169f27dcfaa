// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import lull.bench.proc.CpuSplit;
import lull.bench.proc.PrivateMemory;
import lull.bench.proc.Sampler;
import lull.bench.result.FixedWork;
import lull.bench.result.Privacy;
import lull.bench.result.Timeline;
import lull.bench.util.Json;
import lull.report.gclog.GcLog;

/** One run: a server on one collector in one heap, loaded, sampled and stopped. */
public final class Trial {
    /** The phases that are not warm-up. */
    private static final List<String> MEASURED = List.of("closed", "open");

    private final Collector collector;
    private final int heap;
    private final List<String> serverCommand;
    private final List<String> loadCommand;
    private final Map<String, Object> load;
    private final List<Sampler.Sample> samples;
    private final GcLog log;
    private final long uptimeZeroMillis;
    private final Server.End end;

    Trial(Collector collector, int heap, List<String> serverCommand, List<String> loadCommand, Map<String, Object> load,
            List<Sampler.Sample> samples, GcLog log, long uptimeZeroMillis, Server.End end) {
        this.collector = collector;
        this.heap = heap;
        this.serverCommand = serverCommand;
        this.loadCommand = loadCommand;
        this.load = load;
        this.samples = samples;
        this.log = log;
        this.uptimeZeroMillis = uptimeZeroMillis;
        this.end = end;
    }

    /**
     * Runs a trial.
     *
     * @param heap in megabytes
     * @param allowance what the server may use
     * @param directory for its files, made new
     * @param progress gets lines while it runs
     * @throws Server.ServerFailedException if the server did not start or did not live to the end
     */
    static Trial run(Workload workload, Collector collector, int heap, Load phases, Server.Allowance allowance, Path directory, Consumer<String> progress)
            throws IOException, InterruptedException {
        Files.createDirectories(directory);
        List<String> serverCommand = workload.server(collector, heap, directory);
        Path out = directory.resolve("load.json");
        Files.deleteIfExists(out);
        List<Sampler.Sample> samples;
        List<String> loadCommand;
        long uptimeZero;
        Server server = Server.start(serverCommand, directory, allowance);
        try (server; Sampler sampler = new Sampler(server.ready().pid())) {
            uptimeZero = server.ready().uptimeZeroMillis();
            loadCommand = workload.load(collector, server.ready().port(), out);
            int code = Load.run(loadCommand, phases, server, progress);
            sampler.sample();
            samples = sampler.samples();
            if (!Files.exists(out)) {
                throw new IOException("the load ended with code " + code + " and no result: its last lines are above");
            }
        }
        return new Trial(collector, heap, serverCommand, loadCommand, Json.readObject(out), samples, GcLog.read(directory.resolve("gc.log")),
                uptimeZero, server.end());
    }

    /** Returns how the server ended after the load. */
    Server.End end() {
        return end;
    }

    public Collector collector() {
        return collector;
    }

    /** Returns the heap in megabytes. */
    public int heap() {
        return heap;
    }

    public List<String> serverCommand() {
        return serverCommand;
    }

    public List<String> loadCommand() {
        return loadCommand;
    }

    public List<Sampler.Sample> samples() {
        return samples;
    }

    /** Returns the load's phase {@code name} as JSON (see {@link lull.bench.load.Phase#result}); null if it was left out. */
    @SuppressWarnings("unchecked")
    public Map<String, Object> phase(String name) {
        for (Object phase : (List<Object>) load.get("phases")) {
            if (((Map<String, Object>) phase).get("name").equals(name)) {
                return (Map<String, Object>) phase;
            }
        }
        return null;
    }

    /** Returns the number {@code field} of phase {@code name}; NaN if the phase was left out. */
    public double number(String name, String field) {
        Map<String, Object> phase = phase(name);
        return phase == null ? Double.NaN : ((Number) phase.get(field)).doubleValue();
    }

    /** Returns the server's processor seconds from its start to the end of the load. */
    CpuSplit.Seconds cpu() {
        return samples.getLast().cpu();
    }

    /** Returns how many different requests there are. */
    int variety() {
        return ((Number) load.get("variety")).intValue();
    }

    /** Returns errors of all phases, warm-up included. */
    public long errors() {
        return ((Number) load.get("errors")).longValue();
    }

    /** Returns how many requests of closed loops had no answer when the load gave up, warm-up included: the server, or the load, hangs. */
    public long unansweredClosed() {
        long sum = 0;
        for (String phase : List.of("warm-up", "closed")) {
            sum += phase(phase) == null ? 0 : (long) number(phase, "unanswered");
        }
        return sum;
    }

    /** Returns the start of the measured time, after warm-up, in milliseconds since the epoch. */
    public long measuredFrom() {
        return (long) (phase("closed") != null ? number("closed", "startMillis") : number("open", "startMillis"));
    }

    /** Returns the end of the measured time, in milliseconds since the epoch. */
    public long measuredTo() {
        return (long) (phase("open") != null ? number("open", "endMillis") : number("closed", "endMillis"));
    }

    /** Returns the seconds from the start of the measured time to an uptime of the server. */
    public double sinceMeasured(double uptime) {
        return uptime + (uptimeZeroMillis - measuredFrom()) / 1000.0;
    }

    /** Returns the gc log from one time to another, in milliseconds since the epoch. */
    public GcLog log(long fromMillis, long toMillis) {
        return log.between(uptime(fromMillis), uptime(toMillis));
    }

    /** Returns the numbers of the run. Those of a phase that was left out are NaN. */
    public Map<Metric, Double> metrics() {
        Map<Metric, Double> m = new EnumMap<>(Metric.class);
        m.put(Metric.THROUGHPUT, number("closed", "throughput"));
        m.put(Metric.P50, number("open", "p50"));
        m.put(Metric.P90, number("open", "p90"));
        m.put(Metric.P99, number("open", "p99"));
        m.put(Metric.P999, number("open", "p999"));
        m.put(Metric.MAX, number("open", "max"));
        m.put(Metric.REQUESTS, number("open", "requests"));
        m.put(Metric.UNANSWERED, number("open", "unanswered"));
        m.put(Metric.ERRORS, (double) errors());
        m.put(Metric.LONGEST_PAUSE, log(measuredFrom(), measuredTo()).longestMillis());
        m.put(Metric.LONGEST_STOP, log(measuredFrom(), measuredTo()).longestSafepointMillis());
        boolean open = phase("open") != null;
        GcLog openLog = open ? log((long) number("open", "startMillis"), (long) number("open", "endMillis")) : null;
        m.put(Metric.PAUSES, open ? openLog.pauses().size() : Double.NaN);
        m.put(Metric.PAUSE_TOTAL, open ? openLog.totalMillis() : Double.NaN);
        m.put(Metric.LONGEST_PAUSE_OPEN, open ? openLog.longestMillis() : Double.NaN);
        m.put(Metric.CLOSED_CPU, cpuPerRequest(List.of("closed"), s -> s.cpu().gc() + s.cpu().jit() + s.cpu().mutator()));
        m.put(Metric.CLOSED_GC_CPU, cpuPerRequest(List.of("closed"), s -> s.cpu().gc()));
        m.put(Metric.CLOSED_JIT_CPU, cpuPerRequest(List.of("closed"), s -> s.cpu().jit()));
        m.put(Metric.GC_CPU, cpuPerRequest(MEASURED, s -> s.cpu().gc()));
        m.put(Metric.JIT_CPU, cpuPerRequest(MEASURED, s -> s.cpu().jit()));
        m.put(Metric.MUTATOR_CPU, cpuPerRequest(MEASURED, s -> s.cpu().mutator()));
        m.put(Metric.RSS, samples.stream().filter(s -> s.millis() >= measuredFrom() && s.millis() <= measuredTo())
                .mapToDouble(Sampler.Sample::rss).max().orElse(Double.NaN));
        m.put(Metric.OTHERS, othersPercent());
        return m;
    }

    /** Returns what the closed loop cost: for runs in which that is a fixed number of requests after a fixed warm-up. */
    FixedWork fixedWork() {
        long from = (long) number("closed", "startMillis");
        long to = (long) number("closed", "endMillis");
        double collector = Sampler.growth(samples, from, to, s -> s.cpu().gc());
        double rest = Sampler.growth(samples, from, to, s -> s.cpu().jit() + s.cpu().mutator());
        return new FixedWork((to - from) / 1000.0, log.pausedSeconds(uptime(from), uptime(to)), collector + rest, collector);
    }

    /** Returns what an answer of the closed loop allocated, and what became of it. */
    Privacy privacy() {
        return new Privacy(memoryPerAnswer(PrivateMemory::allocated) / 1024, memoryPerAnswer(PrivateMemory::published) / 1024,
                memoryPerAnswer(PrivateMemory::survived) / 1024, memoryPerAnswer(PrivateMemory::collections));
    }

    private double memoryPerAnswer(ToDoubleFunction<PrivateMemory> counter) {
        return Sampler.growth(samples, (long) number("closed", "startMillis"), (long) number("closed", "endMillis"), s -> counter.applyAsDouble(s.memory()))
                / number("closed", "answers");
    }

    /** Returns megabytes per answer that were allocated in the closed loop, see {@link GcLog#allocatedMegabytes}. */
    double allocatedPerAnswer() {
        return log.allocatedMegabytes(uptime((long) number("closed", "startMillis")), uptime((long) number("closed", "endMillis")))
                / number("closed", "answers");
    }

    /** Returns megabytes that were allocated before the first request. */
    double allocatedBefore() {
        String first = phase("warm-up") == null ? "closed" : "warm-up";
        return log.allocatedMegabytes(0, uptime((long) number(first, "startMillis")));
    }

    private double uptime(long millis) {
        return (millis - uptimeZeroMillis) / 1000.0;
    }

    /** Processor milliseconds per answer of {@code phases}, those that were left out aside. */
    private double cpuPerRequest(List<String> phases, ToDoubleFunction<Sampler.Sample> counter) {
        double answers = 0;
        for (String phase : phases) {
            answers += phase(phase) == null ? 0 : number(phase, "answers");
        }
        return answers == 0 ? Double.NaN : 1000 * growth(phases, counter) / answers;
    }

    /** How much a counter grew in {@code phases}. The first requests of connections, between two phases, are not in it. */
    private double growth(List<String> phases, ToDoubleFunction<Sampler.Sample> counter) {
        double sum = 0;
        for (String phase : phases) {
            sum += phase(phase) == null ? 0 : Sampler.growth(samples, (long) number(phase, "startMillis"), (long) number(phase, "endMillis"), counter);
        }
        return sum;
    }

    /** The share of the machine's processors that neither the server nor the load had, in percent: a measure of disturbance. */
    private double othersPercent() {
        double machine = growth(MEASURED, Sampler.Sample::machine);
        double server = growth(MEASURED, s -> s.cpu().gc() + s.cpu().jit() + s.cpu().mutator());
        double load = 0;
        double seconds = 0;
        for (String phase : MEASURED) {
            load += phase(phase) == null ? 0 : number(phase, "loadCpuSeconds");
            seconds += phase(phase) == null ? 0 : (number(phase, "endMillis") - number(phase, "startMillis")) / 1000;
        }
        double capacity = seconds * Runtime.getRuntime().availableProcessors();
        return Math.max(0, 100 * (machine - server - load) / capacity);
    }

    /** Returns all latencies of the open loop, see {@link lull.bench.result.Distribution}; null if it was left out. */
    String latencies() {
        return phase("open") == null ? null : (String) phase("open").get("histogramMicros");
    }

    /** Returns what the server did over the measured time. */
    Timeline timeline() {
        GcLog measured = log(measuredFrom(), measuredTo());
        double open = phase("open") == null || phase("closed") == null ? Double.NaN : (number("open", "startMillis") - measuredFrom()) / 1000.0;
        return new Timeline((measuredTo() - measuredFrom()) / 1000.0, open,
                measured.pauses().stream().map(p -> new Timeline.Pause(sinceMeasured(p.uptime()), p.millis(), p.full())).toList(),
                measured.heap().stream().map(h -> new Timeline.Heap(sinceMeasured(h.uptime()), h.used(), h.capacity())).toList(),
                samples.stream().filter(s -> s.millis() >= measuredFrom() && s.millis() <= measuredTo())
                        .map(s -> new Timeline.Resident((s.millis() - measuredFrom()) / 1000.0, s.rss())).toList(), localCollections());
    }

    /** Returns the processor time of local collections from sample to sample; nothing if there were none. */
    private List<Timeline.Local> localCollections() {
        List<Timeline.Local> local = new ArrayList<>();
        if (samples.isEmpty() || samples.getLast().cpu().local() == 0) {
            return local;
        }
        for (int i = 1; i < samples.size(); i++) {
            Sampler.Sample before = samples.get(i - 1);
            Sampler.Sample sample = samples.get(i);
            if (before.millis() >= measuredFrom() && sample.millis() <= measuredTo() && sample.millis() > before.millis()) {
                local.add(new Timeline.Local((sample.millis() - measuredFrom()) / 1000.0,
                        1e6 * (sample.cpu().local() - before.cpu().local()) / (sample.millis() - before.millis())));
            }
        }
        return local;
    }

    /** Returns the run as JSON: commands, numbers, and everything the pictures show. */
    public Map<String, Object> json() throws IOException, InterruptedException {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("collector", collector.name());
        map.put("heapMegabytes", heap);
        map.put("java", Jdk.of(collector.java()).text());
        map.put("server", String.join(" ", serverCommand));
        map.put("load", String.join(" ", loadCommand));
        Map<String, Object> numbers = new LinkedHashMap<>();
        metrics().forEach((metric, value) -> numbers.put(metric.id(), value));
        map.put("numbers", numbers);
        map.put("pauses", log(measuredFrom(), measuredTo()).pauses().stream().map(p -> {
            Map<String, Object> pause = new LinkedHashMap<>();
            pause.put("end", sinceMeasured(p.uptime()));
            pause.put("ms", p.millis());
            pause.put("what", p.what());
            return pause;
        }).toList());
        map.put("heap", log(measuredFrom(), measuredTo()).heap().stream()
                .map(h -> List.of(sinceMeasured(h.uptime()), h.used(), h.capacity())).toList());
        map.put("rss", samples.stream().map(s -> List.of((s.millis() - measuredFrom()) / 1000.0, s.rss())).toList());
        List<Timeline.Local> local = localCollections();
        if (!local.isEmpty()) {
            map.put("localSecondMs", local.stream().map(l -> List.of(l.second(), l.millis())).toList());
        }
        map.put("phases", load.get("phases"));
        return map;
    }
}
