// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.proc;

import java.io.IOException;

/**
 * What a JVM on Lull did with objects that only their thread could reach, since its start, by its own performance counters. Of another JVM all is 0.
 *
 * @param allocated bytes, private and public
 * @param published bytes of objects that were allocated privately and became public
 * @param survived bytes that local collections found alive, once for each collection
 * @param collections local ones
 */
public record PrivateMemory(double allocated, double published, double survived, double collections) {
    static PrivateMemory read(PerfCounters counters) throws IOException {
        return new PrivateMemory(counters.value("sun.gc.lull.publication.allocated"), counters.value("sun.gc.lull.publication.published"),
                counters.value("sun.gc.lull.local.survived"), counters.value("sun.gc.lull.local.collections"));
    }
}
