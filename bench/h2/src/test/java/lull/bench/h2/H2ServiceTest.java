// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.h2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import lull.bench.load.Phase;
import lull.bench.service.Service;
import lull.bench.service.Service.WrongAnswerException;
import lull.bench.service.Services;
import lull.bench.testing.TestedService;
import lull.bench.util.Cli.UsageException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The service as a whole, in this process. */
class H2ServiceTest {
    private static final Map<String, String> SMALL = Map.of("warehouses", "1", "customers", "10", "items", "100", "openjdk", "/nowhere");

    @TempDir
    private Path data;
    private final Service service = Services.find("h2");

    @BeforeEach
    void prepare() throws IOException {
        service.prepare(data, SMALL);
    }

    @Test
    void clientsAtOnceKeepTheSumsAndTheSize() throws Exception {
        try (Service.Running running = service.start(data, 0, 4)) {
            H2Caller caller = (H2Caller) service.caller(data, 1);
            TestedService.answersAreRight(caller, running.port(), 4, 20L * caller.variety(), 0);
            try (Session session = new Session(H2Server.connect(running.port()))) {
                // 860 orders came, and those of the first requests, which are not measured: they are there, and no more than 10 delivered and the
                // waiting ones of each district are kept.
                long first = LongStream.range(0, 4).filter(client -> caller.kind(Phase.UNMEASURED + client) == H2Caller.Kind.NEW_ORDER).count();
                assertEquals(860 + first + 100, session.row("select sum(d_next_o_id) from district").number(0));
                assertTrue(session.row("select count(*) from orders where o_carrier is not null").number(0) <= 110);
                assertTrue(session.row("select count(*) from orders where o_carrier is not null").number(0) >= 90);
                assertTrue(session.row("select count(*) from new_order").number(0) < 300);
                assertTrue(session.row("select count(*) from history").number(0) < 300);
            }
        }
    }

    /** More clients than the server has threads, as in an open loop: no more sessions than threads, and none when the load has ended. */
    @Test
    void aLoadHasNoMoreSessionsThanTheServerHasThreads() throws Exception {
        try (Service.Running running = service.start(data, 0, 2); Session watch = new Session(H2Server.connect(running.port()))) {
            String sessions = "select count(*) from information_schema.sessions";
            long before = watch.row(sessions).number(0);
            Service.Caller caller = service.caller(data, 1);
            AtomicLong most = new AtomicLong();
            Service.Caller watched = new Service.Caller() {
                @Override
                public Service.Connection connect(int port) throws IOException {
                    Service.Connection connection = caller.connect(port);
                    return new Service.Connection() {
                        @Override
                        public void request(long number) throws IOException, WrongAnswerException {
                            connection.request(number);
                            synchronized (watch) {
                                try {
                                    most.accumulateAndGet(watch.row(sessions).number(0) - before, Math::max);
                                } catch (SQLException e) {
                                    throw new IOException(e);
                                }
                            }
                        }

                        @Override
                        public void close() {
                            connection.close();
                        }
                    };
                }

                @Override
                public int variety() {
                    return caller.variety();
                }
            };
            TestedService.answersAreRight(watched, running.port(), 8, 200, 0);
            assertEquals(2, most.get());
            assertEquals(before, watch.row(sessions).number(0));
        }
    }

    /** For each transaction a change behind the clients' backs that it must find. */
    @Test
    void wrongAnswersAreFound() throws Exception {
        Map<H2Caller.Kind, String> spoil = new EnumMap<>(Map.of(
                H2Caller.Kind.NEW_ORDER, "update item set i_price = i_price + 1",
                H2Caller.Kind.PAYMENT, "update district set d_ytd = d_ytd + 1 where d_id = 3",
                H2Caller.Kind.ORDER_STATUS, "update customer set c_balance = c_balance + 1",
                H2Caller.Kind.DELIVERY, "update order_line set l_amount = l_amount - 1",
                H2Caller.Kind.STOCK_LEVEL, "update stock set s_ytd = s_ytd + 1",
                H2Caller.Kind.AUDIT, "delete from order_line where l_number = 4"));
        assertEquals(H2Caller.Kind.values().length, spoil.size());
        for (Map.Entry<H2Caller.Kind, String> each : spoil.entrySet()) {
            try (Service.Running running = service.start(data, 0, 1)) {
                H2Caller caller = (H2Caller) service.caller(data, 1);
                try (Service.Connection connection = caller.connect(running.port())) {
                    long number = 0;
                    // Some of all kinds, so that there are orders to deliver.
                    for (; number < 30; number++) {
                        connection.request(number);
                    }
                    while (caller.kind(number) != each.getKey()) {
                        number++;
                    }
                    try (Connection other = H2Server.connect(running.port()); Statement statement = other.createStatement()) {
                        assertTrue(statement.executeUpdate(each.getValue()) > 0);
                    }
                    long found = number;
                    WrongAnswerException e = assertThrows(WrongAnswerException.class, () -> connection.request(found), each.getKey().toString());
                    assertTrue(e.getMessage().startsWith(each.getKey().toString()) && e.getMessage().contains("expected"), e.getMessage());
                }
            }
        }
    }

    @Test
    void aLostRowIsFound() throws Exception {
        try (Service.Running running = service.start(data, 0, 1)) {
            H2Caller caller = (H2Caller) service.caller(data, 1);
            try (Connection other = H2Server.connect(running.port()); Statement statement = other.createStatement()) {
                statement.executeUpdate("delete from warehouse");
            }
            long number = 0;
            while (caller.kind(number) != H2Caller.Kind.PAYMENT) {
                number++;
            }
            long found = number;
            try (Service.Connection connection = caller.connect(running.port())) {
                assertTrue(assertThrows(WrongAnswerException.class, () -> connection.request(found)).getMessage().contains("0 rows, expected 1"));
            }
        }
    }

    @Test
    void connectionsReopenAndClosingFreesThePort() throws Exception {
        Service.Running first = service.start(data, 0, 1);
        int port = first.port();
        try (Service.Connection connection = service.caller(data, 1).connect(port)) {
            connection.request(0);
            assertThrows(IOException.class, () -> service.start(data, port, 1));
            first.close();
            assertThrows(IOException.class, () -> connection.request(1));
            try (Service.Running second = service.start(data, port, 1)) {
                assertEquals(port, second.port());
                connection.request(2);
            }
        }
    }

    @Test
    void preparesOnceAndExplainsErrors(@TempDir Path other) throws Exception {
        assertTrue(assertThrows(IOException.class, () -> service.start(other, 0, 1)).getMessage().contains("prepare the service first"));
        assertTrue(assertThrows(UsageException.class, () -> service.prepare(other, Map.of("items", "x"))).getMessage().contains("items"));
        assertTrue(assertThrows(UsageException.class, () -> service.prepare(other, Map.of("scale", "1"))).getMessage().contains("'scale'"));
        assertEquals(new Scale(1, 10, 100), Scale.read(data));
        var time = Files.getLastModifiedTime(data.resolve("scale.json"));
        service.prepare(data, SMALL);
        assertEquals(time, Files.getLastModifiedTime(data.resolve("scale.json")));
        service.prepare(data, Map.of());
        assertEquals(new Scale(2, 200, 2000), Scale.read(data));
        Files.writeString(data.resolve("scale.json"), "{}");
        assertTrue(assertThrows(IOException.class, () -> Scale.read(data)).getMessage().contains("prepare again"));
    }
}
