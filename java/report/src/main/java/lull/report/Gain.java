// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.util.List;

/**
 * What can be gained, by models that use nothing but recordings.
 *
 * <p><b>Bound.</b> A collector cannot win more than the collector's share of processor time, for the rest is the service's own. It can
 * cost more than
 * none: barriers and publication make the service's part larger. So of a recording of another collector there is an upper bound, and no
 * lower one.
 *
 * <p><b>Local.</b> In a recording of Lull: what local collections have freed would else have been freed in pauses, by young and global
 * collections, at the price that those of the recording have paid for a byte. A collection visits what is live (of a young one: what is
 * young and live), whatever it frees, so its price does not fall if there are more of them. The saving is that price less the processor
 * time of the local collections. What barriers and publication cost is in the service's own time, has no event, and is not in this model.
 *
 * <p><b>Measured.</b> With recordings of both: processor time per megabyte allocated of one and of the other. The same service allocates
 * the same for the same work.
 */
final class Gain {
    private Gain() {}

    /** The fewest collections in pauses from which their price is taken. */
    static final int FEWEST = 3;

    /** The most that can be won: the collector's share of processor time, by the most that it can be. NaN if the recording does not say. */
    static double bound(Figures figures) {
        return figures.collectorShare().high();
    }

    /** Milliseconds of processor time that young and global collections have paid for each megabyte that they have freed. */
    static Estimate pausePrice(Figures figures) {
        List<Recording.Collection> paid = figures.recording.collections.values().stream()
                .filter(c -> !Double.isNaN(c.processorSeconds) && !Double.isNaN(c.usedBefore) && !Double.isNaN(c.usedAfter)).toList();
        if (paid.size() < FEWEST) {
            return Estimate.bare(Double.NaN);
        }
        double[] cost = paid.stream().mapToDouble(c -> 1000 * c.processorSeconds).toArray();
        double[] freed = paid.stream().mapToDouble(c -> Math.max(0, c.usedBefore - c.usedAfter) / (1 << 20)).toArray();
        return Estimate.ratio(cost, freed);
    }

    /** What local collections save, as a share of the processor time that it would take without them; below 0 they cost more than they save. NaN if that cannot be told. */
    static Estimate local(Figures figures) {
        Estimate price = pausePrice(figures);
        double seconds = figures.localSeconds();
        if (!figures.isLoadKnown() || Double.isNaN(price.value()) || !(seconds > 0) || !(figures.processorSeconds() > 0)) {
            return Estimate.bare(Double.NaN);
        }
        double freed = figures.locallyFreed() / seconds / (1 << 20);            // MB/s
        double spent = figures.recording.localProcessorTime.total() / seconds;                  // processors
        double all = figures.processorSeconds() / figures.loadSeconds();
        return new Estimate(ofAll(freed * price.value() / 1000 - spent, all), ofAll(freed * price.low() / 1000 - spent, all),
                ofAll(freed * price.high() / 1000 - spent, all));
    }

    /** What is saved, of what is spent and would be spent else. */
    private static double ofAll(double saved, double spent) {
        return saved / (spent + Math.max(0, saved));
    }

    /** What one saves of the other's processor time for the same allocation. */
    static Estimate measured(Figures figures, Figures other) {
        return figures.perMegabyte(false).savedOf(other.perMegabyte(false));
    }
}
