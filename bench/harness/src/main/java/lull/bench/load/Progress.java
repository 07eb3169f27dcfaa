// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import java.io.PrintStream;
import java.util.Locale;

/** Prints how a phase goes on: answers in total and since the last line, percentiles so far, errors. */
public final class Progress {
    private final PrintStream out;
    private String phase = "";
    private double lastSecond;
    private long lastCount;

    public Progress(PrintStream out) {
        this.out = out;
    }

    /** Prints one line about {@code phase} at {@code second}. */
    public void print(String phase, double second, Latencies latencies) {
        if (!phase.equals(this.phase)) {
            this.phase = phase;
            lastSecond = 0;
            lastCount = 0;
        }
        long count = latencies.count();
        double perSecond = (count - lastCount) / Math.max(second - lastSecond, 1e-3);
        out.printf(Locale.ROOT, "%-10s %5.0f s  %6d answers  %7.1f/s  p50 %8.1f ms  p99 %8.1f ms  max %8.1f ms  errors %d%n", phase, second,
                count, perSecond, latencies.percentileMillis(50), latencies.percentileMillis(99), latencies.maxMillis(), latencies.errors());
        out.flush();
        lastSecond = second;
        lastCount = count;
    }
}
