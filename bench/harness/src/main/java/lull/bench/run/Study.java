// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import lull.bench.proc.Memory;
import lull.bench.result.Setup;
import lull.report.page.Scale;

/**
 * One service of a benchmark: its work and all its setups.
 *
 * @param smallest heap of G1 in megabytes, of which the others are multiples
 * @param setups each with its collector, in order of heaps and of collectors
 * @param left setups that are left out, and why
 */
record Study(Workload workload, int smallest, Calibration work, Map<Setup, Collector> setups, List<String> left) {
    /** The part of the machine's free memory that Epsilon may take. */
    private static final double MOST_MEMORY = 0.8;

    /**
     * Makes the setups of a service.
     *
     * @param open seconds of open loop; Epsilon has none, as it has no memory for it
     */
    static Study of(Settings settings, Workload workload, List<Collector> collectors, int smallest, Calibration work, List<Double> factors, double open)
            throws IOException, InterruptedException {
        Map<Setup, Collector> setups = new LinkedHashMap<>();
        List<String> left = new ArrayList<>();
        for (double factor : factors) {
            for (Collector collector : collectors) {
                if (!isEpsilon(collector)) {
                    int heap = (int) Math.round(factor * smallest);
                    setups.put(setup(settings, workload, collector, heap, factor, work, open), collector);
                }
            }
        }
        for (Collector collector : collectors) {
            if (isEpsilon(collector)) {
                int heap = work.heapWithoutCollection(smallest);
                double free = MOST_MEMORY * Memory.availableMegabytes();
                if (heap <= free) {
                    setups.put(setup(settings, workload, collector, heap, Math.rint(10.0 * heap / smallest) / 10, work, 0), collector);
                } else {
                    left.add(String.format(Locale.ROOT, "%s on %s: it would need about %s MB, and may have %s MB, %.0f %% of the memory that is free",
                            workload.service(), collector.label(), Scale.label(heap), Scale.label(Math.rint(free)), 100 * MOST_MEMORY));
                }
            }
        }
        return new Study(workload, smallest, work, setups, left);
    }

    static boolean isEpsilon(Collector collector) {
        return collector.name().equals("epsilon");
    }

    private static Setup setup(Settings settings, Workload workload, Collector collector, int heap, double factor, Calibration work, double open)
            throws IOException, InterruptedException {
        Jdk jdk = Jdk.of(collector.java());
        List<String> flags = new ArrayList<>(collector.flags());
        flags.addAll(settings.flags());
        return new Setup(workload.service(), workload.options(), collector.name(), jdk.runtime(), jdk.libjvm(), String.join(" ", flags), heap, factor,
                work.work(settings.threads()) + "; service " + workload.identity(), work.open(open), Machine.here().toString());
    }
}
