// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.kafka;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import lull.bench.load.Order;
import lull.bench.service.Service;

/** The load's side of the kafka service: what records hold, and which partition each connection has. */
final class KafkaCaller implements Service.Caller {
    static final String TOPIC = "bench";
    /** More than connections at one time, as each has one to itself. */
    static final int PARTITIONS = 64;
    /** Of one request. */
    static final int RECORDS = 20;
    private static final int VARIETY = 20;
    /** Of {@link #VARIETY} requests so many write. */
    private static final int WRITES = 12;

    private final int size;
    private final Order order;
    private final AtomicInteger connections = new AtomicInteger();

    KafkaCaller(int size, long seed) {
        this.size = size;
        this.order = new Order(VARIETY, seed);
    }

    @Override
    public int variety() {
        return VARIETY;
    }

    boolean writes(long number) {
        return order.input(number) < WRITES;
    }

    static byte[] key(int partition, long offset) {
        return ByteBuffer.allocate(12).putInt(partition).putLong(offset).array();
    }

    byte[] value(int partition, long offset) {
        byte[] value = new byte[size];
        new SplittableRandom(((long) partition << 48) + offset).nextBytes(value);
        return value;
    }

    @Override
    public Service.Connection connect(int port) {
        return new KafkaConnection(this, port, connections.getAndIncrement() % PARTITIONS);
    }
}
