// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.proc;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Samples a process twice a second, in a thread of its own, until it is closed or the process has ended. */
public final class Sampler implements AutoCloseable {
    private static final int PERIOD_MILLIS = 500;

    private final long pid;
    private final PerfCounters counters;
    private final CpuSplit split;
    private final List<Sample> samples = new ArrayList<>();
    private final Thread thread;
    private volatile boolean closed;

    /**
     * One sample.
     *
     * @param millis when, in milliseconds since the epoch
     * @param rss resident set in megabytes
     * @param cpu processor seconds of the process so far
     * @param memory what it did with private objects so far
     * @param machine busy processor seconds of the machine so far
     */
    public record Sample(long millis, double rss, CpuSplit.Seconds cpu, PrivateMemory memory, double machine) { }

    public Sampler(long pid) {
        this.pid = pid;
        this.counters = new PerfCounters(pid);
        this.split = new CpuSplit(pid, counters);
        this.thread = Thread.ofPlatform().daemon().name("sampler").start(this::run);
    }

    private void run() {
        try {
            while (!closed) {
                sample();
                Thread.sleep(PERIOD_MILLIS);
            }
        } catch (InterruptedException e) {
            // We have been closed: the samples so far are the result.
        }
    }

    /** Takes a sample at once, if the process lives: without one after the end of a time, what was used last in it would be lost. */
    public void sample() {
        synchronized (samples) {
            try {
                samples.add(new Sample(System.currentTimeMillis(), Memory.residentMegabytes(pid), split.read(), PrivateMemory.read(counters),
                        MachineCpu.busySeconds()));
            } catch (IOException e) {
                // The process has ended: the samples so far are the result.
                closed = true;
            }
        }
    }

    /** Returns the samples so far, oldest first. */
    public List<Sample> samples() {
        synchronized (samples) {
            return List.copyOf(samples);
        }
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        try {
            thread.join(2000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns how much a counter of the samples grew from one time to another, in milliseconds since the epoch, interpolated. */
    public static double growth(List<Sample> samples, long fromMillis, long toMillis, ToDoubleFunction<Sample> counter) {
        return at(samples, toMillis, counter) - at(samples, fromMillis, counter);
    }

    private static double at(List<Sample> samples, long millis, ToDoubleFunction<Sample> counter) {
        if (samples.isEmpty()) {
            return 0;
        }
        Sample before = samples.getFirst();
        for (Sample sample : samples) {
            if (sample.millis >= millis) {
                if (sample.millis == before.millis) {
                    return counter.applyAsDouble(sample);
                }
                double share = Math.max(0, (millis - before.millis) / (double) (sample.millis - before.millis));
                return counter.applyAsDouble(before) + share * (counter.applyAsDouble(sample) - counter.applyAsDouble(before));
            }
            before = sample;
        }
        return counter.applyAsDouble(before);
    }
}
