// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.util.List;

/**
 * What is compared.
 *
 * @param name for tables
 * @param colour a class of the page's style sheet
 * @param agent whether the replicas have the agent
 * @param collections whether they collect
 */
record Setup(String name, String colour, Strategy strategy, boolean agent, boolean collections) {
    static final Setup QUIET = new Setup("no collections", "plain", Strategy.WAIT, false, false);
    static final Setup QUIET_WITH_AGENT = new Setup("no collections, agent", "zgc", Strategy.FAIL_OVER, true, false);

    /** In the order of the table; the first ones give the time after which HEDGE hedges. */
    static final List<Setup> ALL = List.of(QUIET, QUIET_WITH_AGENT,
            new Setup("raw", "g1", Strategy.WAIT, false, true),
            new Setup("hedging at p95", "parallel", Strategy.HEDGE, false, true),
            new Setup("gate", "lull", Strategy.FAIL_OVER, true, true),
            new Setup("gate + hint", "serial", Strategy.FAIL_OVER_WITH_HINT, true, true),
            new Setup("datagrams only", "shenandoah", Strategy.TOLD, true, true));
}
