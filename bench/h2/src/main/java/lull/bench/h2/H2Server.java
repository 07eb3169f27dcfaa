// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.h2;

import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import lull.bench.service.Service;
import org.h2.tools.Server;

/** H2's server on 127.0.0.1 with one database in memory, named by the port. */
final class H2Server implements Service.Running {
    private final Server server;
    /** Keeps the database, which is closed with its last connection. */
    private final Connection connection;

    /** @param threads how many sessions a load may have: H2 has a thread for each, and no limit of its own */
    H2Server(Scale scale, int port, int threads) throws IOException {
        // H2 has no other way to say this, and reads it when its first class is loaded.
        System.setProperty("h2.bindAddress", "127.0.0.1");
        try {
            server = Server.createTcpServer("-tcpPort", "" + port, "-tcpDaemon").start();
        } catch (SQLException e) {
            throw new IOException("H2 did not start on port " + port + ": " + e.getMessage(), e);
        }
        try {
            connection = DriverManager.getConnection("jdbc:h2:" + database(server.getPort()), "sa", "");
            Population.create(connection, scale);
            try (Statement statement = connection.createStatement()) {
                statement.execute("create table setting (threads bigint) as values (" + threads + ")");
            }
        } catch (SQLException e) {
            server.stop();
            throw new IOException("H2 did not fill the database: " + e.getMessage(), e);
        }
    }

    /** Returns what follows the protocol in URLs. */
    private static String database(int port) {
        // A pause of the collector under test is no reason to give up a lock.
        return "mem:tpcc" + port + ";LOCK_TIMEOUT=600000";
    }

    /** Returns a new connection to the database of the server at {@code port}. */
    static Connection connect(int port) throws SQLException {
        return DriverManager.getConnection("jdbc:h2:tcp://127.0.0.1:" + port + "/" + database(port), "sa", "");
    }

    /** Returns how many sessions a load of the server at {@code port} may have. */
    static int threads(int port) throws SQLException {
        try (Connection asking = connect(port); Statement statement = asking.createStatement();
                ResultSet threads = statement.executeQuery("select threads from setting")) {
            threads.next();
            return threads.getInt(1);
        }
    }

    @Override
    public int port() {
        return server.getPort();
    }

    @Override
    public void close() throws IOException {
        server.stop();
        try (Statement statement = connection.createStatement()) {
            statement.execute("shutdown");
        } catch (SQLException e) {
            throw new IOException("H2 did not shut down: " + e.getMessage(), e);
        }
    }
}
