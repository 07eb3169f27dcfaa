// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.util.List;
import java.util.Map;
import lull.bench.load.Latencies;

/** What came of a setup, over all its rounds. */
final class Outcome {
    final Setup setup;
    final Latencies latencies = new Latencies();
    /** Of busy answers. */
    final Latencies busyLatencies = new Latencies();
    long requests;
    long attempts;
    long busy;
    /** Busy answers that clients got, with those of the warm-up. */
    long busyOfRun;
    /** By the agents' own counts, of the whole run with warm-up. */
    double agentAnswered;
    /** By the JVMs' own counts, of the whole run with start and warm-up. */
    long collections;

    Outcome(Setup setup) {
        this.setup = setup;
    }

    void count(Map<String, Double> metrics, List<String> lines) {
        agentAnswered += metrics.getOrDefault("lull_gate_answered_total", 0.0);
        for (String line : lines) {
            String[] words = line.split(" ");
            if (words[0].equals("collector")) {
                collections += Long.parseLong(words[1]);
            }
        }
    }
}
