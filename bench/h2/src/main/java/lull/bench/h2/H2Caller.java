// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.h2;

import java.io.IOException;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import lull.bench.load.Order;
import lull.bench.service.Service;

/** The load's side: which transaction each request is. Its connections share a pool of sessions, as the server has a thread for every one. */
final class H2Caller implements Service.Caller {
    /** The transactions. */
    enum Kind { NEW_ORDER, PAYMENT, ORDER_STATUS, DELIVERY, STOCK_LEVEL, AUDIT }

    /** Of every 100. More deliveries than TPC-C has, each of one order in every district, so that orders do not pile up. */
    private static final Map<Kind, Integer> MIX = new TreeMap<>(Map.of(Kind.NEW_ORDER, 43, Kind.PAYMENT, 41, Kind.ORDER_STATUS, 4,
            Kind.DELIVERY, 6, Kind.STOCK_LEVEL, 4, Kind.AUDIT, 2));
    private static final List<Kind> KINDS = MIX.entrySet().stream().flatMap(e -> Collections.nCopies(e.getValue(), e.getKey()).stream()).toList();

    private final Scale scale;
    private final long seed;
    private final Order order;
    private final Map<Integer, SessionPool> pools = new ConcurrentHashMap<>();

    H2Caller(Scale scale, long seed) {
        this.scale = scale;
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

    @Override
    public Service.Connection connect(int port) {
        SessionPool pool = pools.computeIfAbsent(port, SessionPool::new);
        pool.join();
        return new Service.Connection() {
            private boolean closed;

            @Override
            public void request(long number) throws IOException, Service.WrongAnswerException {
                Session session = null;
                boolean done = false;
                try {
                    session = pool.take();
                    new Transactions(session, scale, new SplittableRandom(seed + number)).perform(kind(number));
                    session.commit();
                    done = true;
                } catch (SQLException e) {
                    throw new IOException(kind(number) + ": " + e.getMessage(), e);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IOException("interrupted", e);
                } finally {
                    if (done) {
                        pool.give(session);
                    } else if (session != null) {
                        pool.drop(session);
                    }
                }
            }

            @Override
            public void close() {
                if (!closed) {
                    closed = true;
                    pool.leave();
                }
            }
        };
    }
}
