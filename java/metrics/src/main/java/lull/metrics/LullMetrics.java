// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;

/**
 * What Lull says of private objects, as meters: what is allocated, published and freed by the thread that had allocated it, and what that
 * costs. Global collections are
 * in Micrometer's own {@code jvm.gc.*}; these have what no other collector has. On a JVM without Lull, or with {@code -XX:-LullTracking}, or without
 * the module {@code jdk.jfr}, or where the flight recorder has no place for its files, nothing is bound.
 *
 * <p>The counts come from the flight recorder, which asks all threads once in a period, and are those since the JVM started. The meters are registered
 * when they have come for the first time, up to a period after the binding: who sees a counter at 0 before would take all of it for what has
 * happened since. As long as it is bound,
 * the recorder keeps what it has recorded in the last minute in files of its own, in the directory for temporary files if
 * {@code -XX:FlightRecorderOptions} names no other. {@link #close} ends it.
 *
 * <pre>{@code
 * new LullMetrics().bindTo(registry);
 * }</pre>
 */
public final class LullMetrics implements MeterBinder, AutoCloseable {
    private static final String LOCAL_COLLECTIONS = "Lull Local";
    private static final Duration PERIOD = Duration.ofSeconds(5);

    private final Iterable<Tag> tags;
    private final Duration period;
    private Recorder recorder;
    private final Known publications = new Known();
    private final Known localCollections = new Known();

    private final AtomicLong allocated = new AtomicLong();
    private final AtomicLong published = new AtomicLong();
    private final AtomicLong slowCalls = new AtomicLong();
    private final AtomicLong enteredPublicMode = new AtomicLong();
    private final AtomicLong leftPublicMode = new AtomicLong();
    private final AtomicLong collections = new AtomicLong();
    private final AtomicLong beforeWait = new AtomicLong();
    private final AtomicLong requests = new AtomicLong();
    private final AtomicLong freed = new AtomicLong();
    private final AtomicLong survived = new AtomicLong();
    private final AtomicLong tenured = new AtomicLong();
    private final AtomicLong nanos = new AtomicLong();
    private final AtomicLong processorNanos = new AtomicLong();
    private final AtomicLong longestNanos = new AtomicLong();
    private final AtomicLong longestProcessorNanos = new AtomicLong();

    /** Meters without tags, looked at every 5 seconds. */
    public LullMetrics() {
        this(Tags.empty(), PERIOD);
    }

    /**
     * Meters with tags.
     *
     * @param tags of each meter
     * @param period between two looks, at least 1 second
     * @throws IllegalArgumentException if the period is shorter
     */
    public LullMetrics(Iterable<Tag> tags, Duration period) {
        if (period.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new IllegalArgumentException("the period is " + period + ", but must be at least 1 second: all threads are asked each "
                    + "time");
        }
        this.tags = tags;
        this.period = period;
    }

    /**
     * Whether this JVM has local collections, so that there is something to bind.
     *
     * @return whether it runs Lull, with tracking, and has the flight recorder
     */
    public static boolean isAvailable() {
        return ModuleLayer.boot().findModule("jdk.jfr").isPresent()
                && ManagementFactory.getGarbageCollectorMXBeans().stream().anyMatch(bean -> bean.getName().equals(LOCAL_COLLECTIONS));
    }

    /** Begins to count, and registers the meters as soon as the counts are known. */
    @Override
    public synchronized void bindTo(MeterRegistry registry) {
        if (!isAvailable()) {
            return;
        }
        if (recorder == null) {
            try {
                recorder = new Recorder();
            } catch (IllegalStateException e) {
                System.getLogger(LullMetrics.class.getName()).log(System.Logger.Level.WARNING, "No meters of Lull are bound, for the flight "
                        + "recorder, from which they come, does not run. It needs a directory that it can write to: java.io.tmpdir, which is '"
                        + System.getProperty("java.io.tmpdir") + "', or what -XX:FlightRecorderOptions:repository= names", e);
                return;
            }
        }
        publications.then(() -> bindPublications(registry));
        localCollections.then(() -> bindLocalCollections(registry));
    }

    private void bindPublications(MeterRegistry registry) {
        bytes(registry, "lull.allocated", allocated, "Memory taken for new objects");
        bytes(registry, "lull.published", published, "Objects that have become known to more than one thread");
        count(registry, "lull.slow.calls", slowCalls, "Calls of the VM by the barriers of stores");
        count(registry, "lull.public.mode.entered", enteredPublicMode, "Changes of threads to public mode, in which they have no private "
                + "objects");
        count(registry, "lull.public.mode.left", leftPublicMode, "Changes of threads back to private mode");
        Gauge.builder("lull.published.share", this, m -> m.allocated.get() == 0 ? 0 : (double) m.published.get() / m.allocated.get())
                .tags(tags).description("Published of allocated bytes, since the JVM started").register(registry);
    }

    private void bindLocalCollections(MeterRegistry registry) {
        bytes(registry, "lull.local.freed", freed, "Freed by the thread that had allocated it, while no other thread waited");
        bytes(registry, "lull.local.survived", survived, "Found alive by local collections");
        bytes(registry, "lull.local.tenured", tenured, "Of that, made public because much survived twice");
        count(registry, "lull.local.before.wait", beforeWait, "Local collections of threads that were about to wait");
        count(registry, "lull.requests", requests, "Requests that lull.Requests has said to have ended");
        FunctionTimer.builder("lull.local.collections", this, m -> m.collections.get(), m -> m.nanos.get(), TimeUnit.NANOSECONDS)
                .tags(tags).description("Collections of threads that collect their own private objects").register(registry);
        FunctionCounter.builder("lull.local.processor.time", processorNanos, n -> n.get() / 1e9).baseUnit("seconds")
                .tags(tags).description("Processor time of local collections").register(registry);
        TimeGauge.builder("lull.local.longest", longestNanos, TimeUnit.NANOSECONDS, AtomicLong::get)
                .tags(tags).description("The longest local collection since the JVM started, waits for a processor included").register(registry);
        TimeGauge.builder("lull.local.longest.processor.time", longestProcessorNanos, TimeUnit.NANOSECONDS, AtomicLong::get)
                .tags(tags).description("Most processor time of one local collection since the JVM started").register(registry);
    }

    private void bytes(MeterRegistry registry, String name, AtomicLong value, String description) {
        FunctionCounter.builder(name, value, AtomicLong::get).baseUnit("bytes").tags(tags).description(description).register(registry);
    }

    private void count(MeterRegistry registry, String name, AtomicLong value, String description) {
        FunctionCounter.builder(name, value, AtomicLong::get).tags(tags).description(description).register(registry);
    }

    /** Whether counts have come, and what waits for them. */
    static final class Known {
        private final List<Runnable> waiting = new ArrayList<>();
        private boolean known;

        /** Does this when they have come, or now if they have. */
        synchronized void then(Runnable task) {
            if (known) {
                task.run();
            } else {
                waiting.add(task);
            }
        }

        /** They have come. One that fails, as where a registry has a meter of that name and of another kind, keeps none of the others from it. */
        synchronized void now() {
            known = true;
            List<Runnable> tasks = List.copyOf(waiting);
            waiting.clear();
            for (Runnable task : tasks) {
                try {
                    task.run();
                } catch (RuntimeException e) {
                    System.getLogger(LullMetrics.class.getName()).log(System.Logger.Level.WARNING, "Meters of Lull are not bound to a registry", e);
                }
            }
        }
    }

    /** A class of its own, for without the module jdk.jfr it cannot be loaded. */
    private final class Recorder {
        private final RecordingStream stream = new RecordingStream();

        Recorder() {
            for (String event : List.of("jdk.LullPublicationStatistics", "jdk.LullLocalCollectionStatistics")) {
                stream.enable(event).withPeriod(period);
            }
            stream.setReuse(true);
            stream.setMaxAge(Duration.ofMinutes(1));
            stream.onEvent("jdk.LullPublicationStatistics", event -> {
                set(allocated, event, "allocated");
                set(published, event, "published");
                set(slowCalls, event, "slowCalls");
                set(enteredPublicMode, event, "enteredPublicMode");
                set(leftPublicMode, event, "leftPublicMode");
                publications.now();
            });
            stream.onEvent("jdk.LullLocalCollectionStatistics", event -> {
                set(collections, event, "collections");
                set(beforeWait, event, "beforeWait");
                set(requests, event, "requests");
                set(freed, event, "freed");
                set(survived, event, "survived");
                set(tenured, event, "tenured");
                nanos.accumulateAndGet(event.getDuration("time").toNanos(), Math::max);
                processorNanos.accumulateAndGet(event.getDuration("processorTime").toNanos(), Math::max);
                longestNanos.accumulateAndGet(event.getDuration("longest").toNanos(), Math::max);
                if (event.hasField("longestProcessorTime")) {
                    longestProcessorNanos.accumulateAndGet(event.getDuration("longestProcessorTime").toNanos(), Math::max);
                }
                localCollections.now();
            });
            stream.startAsync();
        }

        /** A counter never goes back, in whatever order events arrive. */
        private static void set(AtomicLong value, RecordedEvent event, String field) {
            value.accumulateAndGet(event.getLong(field), Math::max);
        }

        void close() {
            stream.close();
        }
    }

    /** Stops to count; the meters stay as they are. */
    @Override
    public synchronized void close() {
        if (recorder != null) {
            recorder.close();
            recorder = null;
        }
    }
}
