// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.h2;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lull.bench.service.Service.WrongAnswerException;

/** A connection to the database with its prepared statements. Rows are of whole numbers and texts. */
final class Session implements AutoCloseable {
    private final Connection connection;
    private final Map<String, PreparedStatement> statements = new HashMap<>();

    Session(Connection connection) throws SQLException {
        this.connection = connection;
        connection.setAutoCommit(false);
    }

    /** One row of a result. */
    record Row(Object... values) {
        /** Returns the number in column {@code column}, from 0; of a sum of no rows 0. */
        long number(int column) {
            return values[column] == null ? 0 : ((Number) values[column]).longValue();
        }

        String text(int column) {
            return (String) values[column];
        }

        boolean isNull(int column) {
            return values[column] == null;
        }
    }

    private PreparedStatement prepare(String sql, Object... arguments) throws SQLException {
        PreparedStatement statement = statements.get(sql);
        if (statement == null) {
            statement = connection.prepareStatement(sql);
            statements.put(sql, statement);
        }
        for (int i = 0; i < arguments.length; i++) {
            statement.setObject(i + 1, arguments[i]);
        }
        return statement;
    }

    List<Row> rows(String sql, Object... arguments) throws SQLException {
        List<Row> rows = new ArrayList<>();
        try (ResultSet result = prepare(sql, arguments).executeQuery()) {
            int columns = result.getMetaData().getColumnCount();
            while (result.next()) {
                Object[] values = new Object[columns];
                for (int i = 0; i < columns; i++) {
                    values[i] = result.getObject(i + 1);
                }
                rows.add(new Row(values));
            }
        }
        return rows;
    }

    /** Returns the only row. */
    Row row(String sql, Object... arguments) throws SQLException, WrongAnswerException {
        List<Row> rows = rows(sql, arguments);
        if (rows.size() != 1) {
            throw new WrongAnswerException(rows.size() + " rows, expected 1, of " + sql + " with " + List.of(arguments));
        }
        return rows.getFirst();
    }

    /** Changes {@code rows} rows. */
    void change(long rows, String sql, Object... arguments) throws SQLException, WrongAnswerException {
        int changed = prepare(sql, arguments).executeUpdate();
        if (changed != rows) {
            throw new WrongAnswerException(changed + " rows changed, expected " + rows + ", by " + sql + " with " + List.of(arguments));
        }
    }

    void commit() throws SQLException {
        connection.commit();
    }

    @Override
    public void close() {
        try {
            connection.rollback();
            connection.close();
        } catch (SQLException e) {
            // The server may be gone.
        }
    }
}
