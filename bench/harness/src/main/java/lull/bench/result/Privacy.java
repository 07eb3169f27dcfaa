// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What an answer allocated in the closed loop, and what became of it, on a collector that tells private objects from public ones (the
 * paper's Tables 1 and 2). Threads count when they take memory and when they collect, so that some requests at the ends are not exact.
 *
 * @param allocated kilobytes
 * @param published of them, kilobytes that became public
 * @param survived kilobytes that local collections found alive, once for each collection
 * @param collections local ones
 */
public record Privacy(double allocated, double published, double survived, double collections) {
    /** In kilobytes. */
    public static final String ALLOCATED = "allocated_kb";
    /** In kilobytes. */
    public static final String PUBLISHED = "published_kb";
    /** In kilobytes. */
    public static final String SURVIVED = "survived_kb";
    /** A number. */
    public static final String COLLECTIONS = "local_collections";

    /** Returns the numbers by the names under which they are kept; none if the collector does not count them. */
    public Map<String, Double> metrics() {
        Map<String, Double> metrics = new LinkedHashMap<>();
        if (allocated > 0) {
            metrics.put(ALLOCATED, allocated);
            metrics.put(PUBLISHED, published);
            metrics.put(SURVIVED, survived);
            metrics.put(COLLECTIONS, collections);
        }
        return metrics;
    }
}
