// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.h2;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;

/**
 * The tables and their first rows, the same for the same scale. Amounts are cents. Beyond the tables of TPC-C, an order has its
 * total, a stock its first quantity, and a customer the total of those delivered orders that are no longer kept, and that of the payments
 * that are no longer in the history: so all sums can be checked although the tables do not grow without end.
 */
final class Population {
    private static final String[] TABLES = {
        "create table item (i_id bigint primary key, i_name varchar, i_price bigint)",
        "create table warehouse (w_id bigint primary key, w_name varchar, w_ytd bigint)",
        "create table district (d_w_id bigint, d_id bigint, d_ytd bigint, d_next_o_id bigint, primary key (d_w_id, d_id))",
        "create table customer (c_w_id bigint, c_d_id bigint, c_id bigint, c_last varchar, c_first varchar, c_data varchar, c_balance bigint,"
                + " c_ytd_payment bigint, c_payments bigint, c_archived bigint, c_history bigint, primary key (c_w_id, c_d_id, c_id))",
        "create index customer_name on customer (c_w_id, c_d_id, c_last, c_first)",
        "create table history (h_w_id bigint, h_d_id bigint, h_c_id bigint, h_amount bigint, h_data varchar)",
        "create index history_customer on history (h_w_id, h_d_id, h_c_id)",
        "create table stock (s_w_id bigint, s_i_id bigint, s_quantity bigint, s_first bigint, s_ytd bigint, s_orders bigint, s_data varchar,"
                + " primary key (s_w_id, s_i_id))",
        "create table orders (o_w_id bigint, o_d_id bigint, o_id bigint, o_c_id bigint, o_carrier bigint, o_lines bigint, o_total bigint,"
                + " primary key (o_w_id, o_d_id, o_id))",
        "create index orders_customer on orders (o_w_id, o_d_id, o_c_id, o_id)",
        "create table new_order (n_w_id bigint, n_d_id bigint, n_o_id bigint, primary key (n_w_id, n_d_id, n_o_id))",
        "create table order_line (l_w_id bigint, l_d_id bigint, l_o_id bigint, l_number bigint, l_i_id bigint, l_quantity bigint, l_amount bigint,"
                + " l_info varchar, primary key (l_w_id, l_d_id, l_o_id, l_number))"};
    /** What a customer has paid at the beginning. */
    private static final long FIRST_PAYMENT = 1000;
    private static final int BATCH = 1000;

    private final Connection connection;
    private final Scale scale;
    private final Random random = new Random(42);

    private Population(Connection connection, Scale scale) {
        this.connection = connection;
        this.scale = scale;
    }

    static void create(Connection connection, Scale scale) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String table : TABLES) {
                statement.execute(table);
            }
        }
        connection.setAutoCommit(false);
        new Population(connection, scale).fill();
        connection.setAutoCommit(true);
    }

    private void fill() throws SQLException {
        try (Batch item = new Batch("insert into item values (?, ?, ?)")) {
            for (int i = 0; i < scale.items(); i++) {
                item.add(i, Scale.itemName(i), Scale.price(i));
            }
        }
        for (int w = 0; w < scale.warehouses(); w++) {
            try (Batch warehouse = new Batch("insert into warehouse values (?, ?, ?)")) {
                warehouse.add(w, "warehouse " + w, Scale.DISTRICTS * scale.customers() * FIRST_PAYMENT);
            }
            try (Batch stock = new Batch("insert into stock values (?, ?, ?, ?, ?, ?, ?)")) {
                for (int i = 0; i < scale.items(); i++) {
                    int quantity = 10 + random.nextInt(91);
                    stock.add(w, i, quantity, quantity, 0, 0, text(30));
                }
            }
            for (int d = 0; d < Scale.DISTRICTS; d++) {
                district(w, d);
            }
        }
    }

    private void district(int w, int d) throws SQLException {
        int customers = scale.customers();
        long[] balance = new long[customers];
        try (Batch district = new Batch("insert into district values (?, ?, ?, ?)");
                Batch order = new Batch("insert into orders values (?, ?, ?, ?, ?, ?, ?)");
                Batch line = new Batch("insert into order_line values (?, ?, ?, ?, ?, ?, ?, ?)")) {
            district.add(w, d, customers * FIRST_PAYMENT, customers);
            for (int o = 0; o < customers; o++) {
                // 7 has no common factor with most numbers of customers, so that orders are not in the order of customers.
                int customer = (int) (o * 7L % customers);
                int lines = 5 + random.nextInt(11);
                long total = 0;
                for (int l = 0; l < lines; l++) {
                    int item = random.nextInt(scale.items());
                    int quantity = 1 + random.nextInt(10);
                    line.add(w, d, o, l, item, quantity, quantity * Scale.price(item), text(24));
                    total += quantity * Scale.price(item);
                }
                order.add(w, d, o, customer, 1, lines, total);
                balance[customer] += total;
            }
        }
        try (Batch customer = new Batch("insert into customer values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
                Batch history = new Batch("insert into history values (?, ?, ?, ?, ?)")) {
            for (int c = 0; c < customers; c++) {
                customer.add(w, d, c, scale.lastName(c), text(8), text(100), balance[c] - FIRST_PAYMENT, FIRST_PAYMENT, 1, 0, 0);
                history.add(w, d, c, FIRST_PAYMENT, "first");
            }
        }
    }

    private String text(int length) {
        StringBuilder text = new StringBuilder(length);
        for (int i = 0; i < length; i++) {
            text.append((char) ('a' + random.nextInt(26)));
        }
        return text.toString();
    }

    /** Inserts rows some at a time; the rest when it is closed. */
    private final class Batch implements AutoCloseable {
        private final PreparedStatement statement;
        private int rows;

        Batch(String sql) throws SQLException {
            statement = connection.prepareStatement(sql);
        }

        void add(Object... values) throws SQLException {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            statement.addBatch();
            if (++rows % BATCH == 0) {
                statement.executeBatch();
                connection.commit();
            }
        }

        @Override
        public void close() throws SQLException {
            statement.executeBatch();
            connection.commit();
            statement.close();
        }
    }
}
