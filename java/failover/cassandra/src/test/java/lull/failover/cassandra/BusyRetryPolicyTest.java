// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.simulacron.common.cluster.ClusterSpec;
import com.datastax.oss.simulacron.common.cluster.QueryLog;
import com.datastax.oss.simulacron.common.stubbing.PrimeDsl;
import com.datastax.oss.simulacron.server.BoundCluster;
import com.datastax.oss.simulacron.server.BoundNode;
import com.datastax.oss.simulacron.server.Server;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The driver itself, with simulated nodes that say OVERLOADED as the gate does. */
class BusyRetryPolicyTest {
    private static final String QUERY = "SELECT value FROM rows";

    private final Server server = Server.builder().build();
    private BoundCluster cluster;
    private CqlSession session;

    @BeforeEach
    void start() {
        cluster = server.register(ClusterSpec.builder().withNodes(3).build());
    }

    @AfterEach
    void close() {
        if (session != null) {
            session.close();
        }
        server.close();
    }

    private void connect(int attempts) {
        connect(attempts, Duration.ofSeconds(60));
    }

    private void connect(int attempts, Duration timeout) {
        connect(attempts, timeout, "V4");
    }

    private void connect(int attempts, Duration timeout, String version) {
        ProgrammaticDriverConfigLoaderBuilder config = DriverConfigLoader.programmaticBuilder()
                .withClass(DefaultDriverOption.RETRY_POLICY_CLASS, BusyRetryPolicy.class)
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, timeout)
                .withString(DefaultDriverOption.PROTOCOL_VERSION, version)
                .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(60))
                .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(60))
                .withBoolean(DefaultDriverOption.METADATA_SCHEMA_ENABLED, false);
        if (attempts > 0) {
            config.withInt(BusyRetryPolicy.ATTEMPTS, attempts);
        }
        config.startProfile("slow").withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(40)).endProfile();
        session = CqlSession.builder().addContactEndPoint(endPoint()).withLocalDatacenter("dc1").withConfigLoader(config.build()).build();
    }

    private com.datastax.oss.driver.api.core.metadata.EndPoint endPoint() {
        return new com.datastax.oss.driver.internal.core.metadata.DefaultEndPoint(
                cluster.node(0).inetSocketAddress());
    }

    private void overload(List<BoundNode> nodes) {
        for (BoundNode node : nodes) {
            node.prime(PrimeDsl.when(QUERY).then(PrimeDsl.overloaded("the JVM is stopped for about 137 ms more; ask another node")));
        }
    }

    private List<BoundNode> nodes() {
        return cluster.getNodes().stream().sorted(Comparator.comparing(BoundNode::getId)).toList();
    }

    private void execute(boolean idempotent) {
        session.execute(SimpleStatement.newInstance(QUERY).setIdempotent(idempotent));
    }

    private List<QueryLog> queries() {
        return cluster.getLogs().getQueryLogs().stream().filter(log -> log.getQuery().equals(QUERY)).toList();
    }

    private static String patience(QueryLog log) {
        var value = log.getFrame().customPayload.get("x-envoy-expected-rq-timeout-ms");
        return value == null ? null : StandardCharsets.US_ASCII.decode(value.duplicate()).toString();
    }

    @Test
    void aBusyNodeIsFollowedByAnother() {
        overload(nodes().subList(0, 2));
        connect(4);
        for (int i = 0; i < 6; i++) {
            execute(true);
        }
        List<QueryLog> queries = queries();
        assertEquals(6, nodes().get(2).getLogs().getQueryLogs().stream().filter(log -> log.getQuery().equals(QUERY)).count());
        assertTrue(queries.size() > 6 && queries.size() <= 18, queries.size() + " queries");
    }

    @Test
    void theLastAttemptWaitsAtItsNode() {
        overload(nodes());
        connect(0);
        assertThrows(OverloadedException.class, () -> execute(true));
        List<QueryLog> queries = queries();
        assertEquals(3, queries.size(), "the default number of attempts");
        assertEquals(1, queries.stream().filter(log -> "60000".equals(patience(log))).count());
        assertEquals(2, queries.stream().filter(log -> patience(log) == null).count());
        // Two nodes: the last attempt is at the second.
        assertEquals(2, nodes().stream().filter(node -> node.getLogs().getQueryLogs().stream().anyMatch(log -> log.getQuery().equals(QUERY))).count());
    }

    @Test
    void aRequestWithoutATimeoutHasPatience() {
        overload(nodes());
        connect(2, Duration.ZERO);
        assertThrows(OverloadedException.class, () -> execute(true));
        assertEquals(1, queries().stream().filter(log -> "86400000".equals(patience(log))).count());
    }

    @Test
    void theLastNodeThereIsIsWaitedAt() {
        server.unregister(cluster);
        cluster = server.register(ClusterSpec.builder().withNodes(1).build());
        overload(nodes());
        connect(5);
        assertThrows(OverloadedException.class, () -> execute(true));
        assertEquals(2, queries().size());
        assertEquals("60000", patience(queries().get(1)));
    }

    @Test
    void aStatementForOneNodeWaitsThere() {
        overload(nodes());
        connect(3);
        Node node = session.getMetadata().getNodes().values().iterator().next();
        assertThrows(OverloadedException.class, () -> session.execute(SimpleStatement.newInstance(QUERY).setIdempotent(true).setNode(node)));
        List<QueryLog> queries = queries();
        assertEquals(2, queries.size());
        assertEquals(1, queries.stream().filter(log -> "60000".equals(patience(log))).count());
        assertEquals(1, nodes().stream().filter(n -> n.getLogs().getQueryLogs().stream().anyMatch(log -> log.getQuery().equals(QUERY))).count());
    }

    @Test
    void aStatementMayHaveATimeoutOfItsOwn() {
        overload(nodes());
        connect(2);
        SimpleStatement statement = SimpleStatement.newInstance(QUERY).setIdempotent(true);
        assertThrows(OverloadedException.class, () -> session.execute(statement.setTimeout(Duration.ofSeconds(20))));
        assertThrows(OverloadedException.class, () -> session.execute(statement.setExecutionProfile(
                session.getContext().getConfig().getDefaultProfile().withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(30)))));
        assertThrows(OverloadedException.class, () -> session.execute(statement.setExecutionProfileName("slow")));
        assertEquals(List.of("20000", "30000", "40000"), queries().stream().map(BusyRetryPolicyTest::patience).filter(Objects::nonNull).sorted().toList());
    }

    @Test
    void versionsWithoutAPlaceForPatienceGoToTheNextNode() {
        overload(nodes().subList(0, 2));
        connect(3, Duration.ofSeconds(60), "V3");
        for (int i = 0; i < 3; i++) {
            execute(true);
        }
        assertEquals(3, nodes().get(2).getLogs().getQueryLogs().stream().filter(log -> log.getQuery().equals(QUERY)).count());
        assertTrue(queries().stream().allMatch(log -> patience(log) == null));
    }

    @Test
    void theNumberOfAttemptsIsBounded() {
        overload(nodes());
        connect(1);
        assertThrows(OverloadedException.class, () -> execute(true));
        assertEquals(1, queries().size());
        assertThrows(IllegalArgumentException.class, () -> {
            session.close();
            connect(101);
        });
    }

    @Test
    void theDriverDoesNotAskForWhatIsNotIdempotent() {
        overload(nodes());
        connect(3);
        assertThrows(OverloadedException.class, () -> execute(false));
        assertEquals(1, queries().size());
    }
}
