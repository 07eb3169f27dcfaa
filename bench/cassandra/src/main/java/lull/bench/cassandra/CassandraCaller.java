// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cassandra;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import lull.bench.load.Order;
import lull.bench.service.Service;

/** The load's side of the cassandra service: the mix of requests. A connection is the only one that writes what its owner has. */
final class CassandraCaller implements Service.Caller {
    /** The kinds of requests. */
    enum Kind { READ, READ_MANY, UPDATE, APPEND, LATEST, TRIM }

    /** Of every 100 requests. */
    private static final Map<Kind, Integer> MIX = new TreeMap<>(Map.of(Kind.READ, 42, Kind.READ_MANY, 6, Kind.UPDATE, 26, Kind.APPEND, 12,
            Kind.LATEST, 12, Kind.TRIM, 2));
    private static final List<Kind> KINDS = MIX.entrySet().stream().flatMap(e -> Collections.nCopies(e.getValue(), e.getKey()).stream()).toList();

    private final Size size;
    private final long seed;
    private final Order order;
    private final AtomicInteger connections = new AtomicInteger();

    CassandraCaller(Size size, long seed) {
        this.size = size;
        this.seed = seed;
        this.order = new Order(KINDS.size(), seed);
    }

    @Override
    public int variety() {
        return KINDS.size();
    }

    Kind kind(long number) {
        return KINDS.get(order.input(number));
    }

    Size size() {
        return size;
    }

    long seed() {
        return seed;
    }

    @Override
    public Service.Connection connect(int port) {
        return new CassandraConnection(this, port, connections.getAndIncrement() % Size.OWNERS);
    }
}
