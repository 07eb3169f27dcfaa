// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.internal.core.specex.ConstantSpeculativeExecutionPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A client of the cluster by Cassandra's own Java driver: reads and writes of rows whose contents follow from their keys and versions, so that
 * each answer can be checked, and at the end whether each write that was acknowledged is there.
 */
final class CassandraClient implements Sender, AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** Of ten requests, so many write. */
    private static final int WRITES = 3;
    /** Requests under way while the table is filled or looked through. */
    private static final int FILLING = 256;
    private static final int BODY = 700;
    private static final String KEYSPACE = "gate";
    /** Of java/failover/cassandra, which is built by another reactor: it is on the class path only. */
    private static final String RETRY_POLICY = "lull.failover.cassandra.BusyRetryPolicy";

    private final CqlSession session;
    private final int rows;
    /** Of each row, the version that was written last, whether acknowledged or not. */
    private final AtomicIntegerArray versions;
    /** Of each row, whether somebody writes it now. */
    private final AtomicIntegerArray writing;
    private final PreparedStatement insert;
    private final PreparedStatement select;
    private final AtomicLong attempts = new AtomicLong();
    private final AtomicLong busy = new AtomicLong();

    /** @param hedgeNanos after which {@link Strategy#HEDGE} asks another node */
    CassandraClient(List<CassandraNode> nodes, Strategy strategy, long hedgeNanos, int rows, AtomicIntegerArray versions) {
        this.rows = rows;
        this.versions = versions;
        this.writing = new AtomicIntegerArray(rows);
        ProgrammaticDriverConfigLoaderBuilder config = DriverConfigLoader.programmaticBuilder()
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, PATIENCE)
                .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, PATIENCE)
                .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, PATIENCE)
                .withDuration(DefaultDriverOption.HEARTBEAT_TIMEOUT, PATIENCE);
        switch (strategy) {
            case FAIL_OVER -> config.withString(DefaultDriverOption.RETRY_POLICY_CLASS, RETRY_POLICY);
            case HEDGE -> config.withClass(DefaultDriverOption.SPECULATIVE_EXECUTION_POLICY_CLASS, ConstantSpeculativeExecutionPolicy.class)
                    .withInt(DefaultDriverOption.SPECULATIVE_EXECUTION_MAX, 2)
                    .withDuration(DefaultDriverOption.SPECULATIVE_EXECUTION_DELAY, Duration.ofNanos(Math.max(hedgeNanos, 1_000_000)));
            case WAIT -> { }
            default -> throw new IllegalArgumentException("no such client of Cassandra: " + strategy);
        }
        session = CqlSession.builder().addContactPoints(nodes.stream().map(CassandraNode::address).toList()).withLocalDatacenter("datacenter1")
                .withConfigLoader(config.build()).build();
        create("KEYSPACE IF NOT EXISTS " + KEYSPACE + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': " + nodes.size() + "}");
        create("TABLE IF NOT EXISTS " + KEYSPACE + ".rows (id bigint PRIMARY KEY, version int, body text)");
        insert = session.prepare("INSERT INTO " + KEYSPACE + ".rows (id, version, body) VALUES (?, ?, ?)");
        select = session.prepare("SELECT version, body FROM " + KEYSPACE + ".rows WHERE id = ?");
    }

    /** To do so twice does no harm: a node that is in a pause may be asked again. */
    private void create(String what) {
        session.execute(SimpleStatement.newInstance("CREATE " + what).setIdempotent(true));
    }

    /** One whose requests are answered at last also where all nodes are in pauses that are longer than the deadline, as while the table is filled. */
    static CassandraClient patient(List<CassandraNode> nodes, int rows, AtomicIntegerArray versions) {
        return new CassandraClient(nodes, Strategy.FAIL_OVER, 0, rows, versions);
    }

    private static String body(long id, int version) {
        SplittableRandom random = new SplittableRandom(id * 31 + version);
        StringBuilder text = new StringBuilder(BODY);
        while (text.length() < BODY) {
            text.append(Long.toHexString(random.nextLong()));
        }
        return text.toString();
    }

    private Statement<?> write(int row, int version) {
        return insert.bind((long) row, version, body(row, version)).setIdempotent(true);
    }

    /** Writes each row once, to all nodes. */
    void fill() throws IOException, InterruptedException {
        each(row -> write(row, 0).setConsistencyLevel(ConsistencyLevel.ALL), (row, answer) -> null);
    }

    /** Reads each row from all nodes: what was acknowledged must be there. Returns how many are wrong. */
    int check() throws IOException, InterruptedException {
        AtomicInteger wrong = new AtomicInteger();
        each(row -> select.bind((long) row).setIdempotent(true).setConsistencyLevel(ConsistencyLevel.ALL), (row, answer) -> {
            if (difference(row, answer.one(), versions.get(row)) != null) {
                wrong.incrementAndGet();
            }
            return null;
        });
        return wrong.get();
    }

    private interface Asked {
        Statement<?> statement(int row);
    }

    private interface Answered {
        Void answer(int row, AsyncResultSet answer);
    }

    private void each(Asked asked, Answered answered) throws IOException, InterruptedException {
        Semaphore underWay = new Semaphore(FILLING);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        for (int i = 0; i < rows; i++) {
            int row = i;
            underWay.acquire();
            session.executeAsync(asked.statement(row)).whenComplete((answer, error) -> {
                if (error != null) {
                    failure.compareAndSet(null, error);
                } else {
                    answered.answer(row, answer);
                }
                underWay.release();
            });
        }
        underWay.acquire(FILLING);
        if (failure.get() != null) {
            throw new IOException("a row could not be written or read: " + failure.get(), failure.get());
        }
    }

    @Override
    public void send(long number) throws IOException {
        SplittableRandom random = new SplittableRandom(number);
        int row = random.nextInt(rows);
        if (random.nextInt(10) < WRITES && writing.compareAndSet(row, 0, 1)) {
            try {
                execute(write(row, versions.incrementAndGet(row)));
            } finally {
                writing.set(row, 0);
            }
            return;
        }
        ResultSet answer = execute(select.bind((long) row).setIdempotent(true));
        // One node has answered: it may not have what was written last.
        String difference = difference(row, answer.one(), -1);
        if (difference != null) {
            throw new Client.WrongAnswerException("row " + row + ": " + difference);
        }
    }

    /** What is wrong with a row, or null; {@code version} is what it must have, negative for any that has been written. */
    private String difference(int row, Row found, int version) {
        if (found == null) {
            return "is not there";
        }
        int has = found.getInt("version");
        if (version >= 0 ? has != version : has > versions.get(row)) {
            return "version " + has + ", not " + (version >= 0 ? "" + version : "up to " + versions.get(row));
        }
        return body(row, has).equals(found.getString("body")) ? null : "the contents are not those of version " + has;
    }

    private ResultSet execute(Statement<?> statement) throws IOException {
        try {
            ResultSet answer = session.execute(statement);
            var info = answer.getExecutionInfo();
            attempts.addAndGet(1 + info.getErrors().size() + info.getSpeculativeExecutionCount());
            busy.addAndGet(info.getErrors().stream().filter(error -> error.getValue() instanceof OverloadedException).count());
            return answer;
        } catch (DriverException e) {
            throw new IOException(e.toString(), e);
        }
    }

    /** Attempts that were made. */
    long attempts() {
        return attempts.get();
    }

    /** Busy answers that came. */
    long busy() {
        return busy.get();
    }

    @Override
    public void close() {
        session.close();
    }
}
