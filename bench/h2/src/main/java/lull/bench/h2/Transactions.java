// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.h2;

import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import lull.bench.service.Service.WrongAnswerException;

/**
 * The transactions, and what must be true in each however many others run at the same time. Locks are taken in one order, so that
 * there are no deadlocks: warehouse, districts by number, stock by number; the customers and orders of a district change only
 * under its lock. Where a check needs values that agree, they come from one statement or are locked.
 */
final class Transactions {
    /** A stock that falls below 10 is refilled by this. */
    private static final int REFILL = 91;
    private static final int LAST_ORDERS = 20;
    /** Payments of a customer in the history. */
    private static final int HISTORY = 3;

    private final Session session;
    private final Scale scale;
    private final SplittableRandom random;
    private final long w;
    private final long d;

    Transactions(Session session, Scale scale, SplittableRandom random) {
        this.session = session;
        this.scale = scale;
        this.random = random;
        this.w = random.nextInt(scale.warehouses());
        this.d = random.nextInt(Scale.DISTRICTS);
    }

    void perform(H2Caller.Kind kind) throws SQLException, WrongAnswerException {
        try {
            switch (kind) {
                case NEW_ORDER -> newOrder();
                case PAYMENT -> payment();
                case ORDER_STATUS -> orderStatus();
                case DELIVERY -> delivery();
                case STOCK_LEVEL -> stockLevel();
                case AUDIT -> audit();
            }
        } catch (WrongAnswerException e) {
            throw new WrongAnswerException(kind + " in warehouse " + w + ", district " + d + ": " + e.getMessage());
        }
    }

    private static void same(String what, Object expected, Object found) throws WrongAnswerException {
        if (!expected.equals(found)) {
            throw new WrongAnswerException(what + " is " + found + ", expected " + expected);
        }
    }

    private static void holds(String what, boolean condition) throws WrongAnswerException {
        if (!condition) {
            throw new WrongAnswerException("expected " + what);
        }
    }

    private long lockDistrict(long district) throws SQLException, WrongAnswerException {
        return session.row("select d_next_o_id from district where d_w_id = ? and d_id = ? for update", w, district).number(0);
    }

    private void newOrder() throws SQLException, WrongAnswerException {
        long customer = random.nextInt(scale.customers());
        long order = lockDistrict(d);
        session.change(1, "update district set d_next_o_id = ? where d_w_id = ? and d_id = ?", order + 1, w, d);
        same("last name", scale.lastName(customer),
                session.row("select c_last, c_first, c_data from customer where c_w_id = ? and c_d_id = ? and c_id = ?", w, d, customer).text(0));

        // By item, as the stock is locked in that order.
        TreeMap<Long, Long> wanted = new TreeMap<>();
        int count = 5 + random.nextInt(11);
        while (wanted.size() < count) {
            wanted.put((long) random.nextInt(scale.items()), 1L + random.nextInt(10));
        }
        long total = 0;
        for (var want : wanted.entrySet()) {
            Session.Row item = session.row("select i_name, i_price from item where i_id = ?", want.getKey());
            same("name of item " + want.getKey(), Scale.itemName(want.getKey()), item.text(0));
            same("price of item " + want.getKey(), Scale.price(want.getKey()), item.number(1));
            total += want.getValue() * item.number(1);
        }
        session.change(1, "insert into orders values (?, ?, ?, ?, null, ?, ?)", w, d, order, customer, (long) count, total);
        session.change(1, "insert into new_order values (?, ?, ?)", w, d, order);
        long line = 0;
        for (var want : wanted.entrySet()) {
            String info = takeFromStock(want.getKey(), want.getValue());
            session.change(1, "insert into order_line values (?, ?, ?, ?, ?, ?, ?, ?)", w, d, order, line++, want.getKey(), want.getValue(),
                    want.getValue() * Scale.price(want.getKey()), info);
        }
        Session.Row lines = session.row("select count(*), sum(l_amount) from order_line where l_w_id = ? and l_d_id = ? and l_o_id = ?", w, d, order);
        same("lines of order " + order, (long) count, lines.number(0));
        same("sum of the lines of order " + order, total, lines.number(1));
    }

    private String takeFromStock(long item, long quantity) throws SQLException, WrongAnswerException {
        Session.Row stock = session.row("select s_i_id, s_quantity, s_first, s_ytd, s_orders, s_data from stock where s_w_id = ? and s_i_id = ? for update",
                w, item);
        checkStock(stock);
        long left = stock.number(1) - quantity;
        session.change(1, "update stock set s_quantity = ?, s_ytd = s_ytd + ?, s_orders = s_orders + 1 where s_w_id = ? and s_i_id = ?",
                left < 10 ? left + REFILL : left, quantity, w, item);
        return stock.text(5).substring(0, 24);
    }

    /** Checks number, quantity, first quantity, taken, orders. */
    private static void checkStock(Session.Row stock) throws WrongAnswerException {
        String which = " of stock " + stock.number(0);
        same("(quantity + taken - first) mod " + REFILL + which, 0L, (stock.number(1) + stock.number(3) - stock.number(2)) % REFILL);
        holds("10 to 100 as quantity" + which + ", found " + stock.number(1), stock.number(1) >= 10 && stock.number(1) <= 100);
        holds("1 to 10 taken for each of the " + stock.number(4) + " orders" + which + ", found " + stock.number(3),
                stock.number(3) >= stock.number(4) && stock.number(3) <= 10 * stock.number(4));
    }

    private void payment() throws SQLException, WrongAnswerException {
        long amount = 100 + random.nextInt(500_000);
        long before = session.row("select w_ytd from warehouse where w_id = ? for update", w).number(0);
        lockDistrict(d);
        session.change(1, "update warehouse set w_ytd = w_ytd + ? where w_id = ?", amount, w);
        session.change(1, "update district set d_ytd = d_ytd + ? where d_w_id = ? and d_id = ?", amount, w, d);
        Session.Row sums = session.row("select w_ytd, (select sum(d_ytd) from district where d_w_id = w_id) from warehouse where w_id = ?", w);
        same("year to date of the warehouse", before + amount, sums.number(0));
        same("sum over its districts", sums.number(0), sums.number(1));

        long customer = chooseCustomer();
        Session.Row old = checkedCustomer(customer);
        session.change(1, "insert into history values (?, ?, ?, ?, ?)", w, d, customer, amount, "warehouse " + w + " district " + d);
        session.change(1, "update customer set c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payments = c_payments + 1"
                + " where c_w_id = ? and c_d_id = ? and c_id = ?", amount, amount, w, d, customer);
        Session.Row now = checkedCustomer(customer);
        same("balance of customer " + customer, old.number(0) - amount, now.number(0));
        same("payments of customer " + customer, old.number(1) + amount, now.number(1));
        if (now.number(6) >= HISTORY) {
            session.change(now.number(6), "delete from history where h_w_id = ? and h_d_id = ? and h_c_id = ?", w, d, customer);
            session.change(1, "update customer set c_history = c_history + ? where c_w_id = ? and c_d_id = ? and c_id = ?", now.number(5), w, d, customer);
        }
    }

    /** Returns a customer of the district: of ten six by last name, the one in the middle by first name. */
    private long chooseCustomer() throws SQLException, WrongAnswerException {
        long customer = random.nextInt(scale.customers());
        if (random.nextInt(10) >= 6) {
            return customer;
        }
        String last = scale.lastName(customer);
        List<Session.Row> found = session.rows("select c_id, c_first from customer where c_w_id = ? and c_d_id = ? and c_last = ? order by c_first, c_id",
                w, d, last);
        long expected = 0;
        for (int c = 0; c < scale.customers(); c++) {
            expected += scale.lastName(c).equals(last) ? 1 : 0;
        }
        same("number of customers named " + last, expected, (long) found.size());
        long middle = found.get(found.size() / 2).number(0);
        same("last name of customer " + middle, last, scale.lastName(middle));
        return middle;
    }

    /** Returns balance, payments, ... of a customer whose sums agree. */
    private Session.Row checkedCustomer(long customer) throws SQLException, WrongAnswerException {
        Session.Row row = session.row("select c_balance, c_ytd_payment, c_archived, c_history,"
                + " (select sum(o_total) from orders where o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id and o_carrier is not null),"
                + " (select sum(h_amount) from history where h_w_id = c_w_id and h_d_id = c_d_id and h_c_id = c_id),"
                + " (select count(*) from history where h_w_id = c_w_id and h_d_id = c_d_id and h_c_id = c_id)"
                + " from customer where c_w_id = ? and c_d_id = ? and c_id = ?", w, d, customer);
        same("payments of customer " + customer, row.number(3) + row.number(5), row.number(1));
        same("balance of customer " + customer, row.number(2) + row.number(4) - row.number(1), row.number(0));
        return row;
    }

    private void orderStatus() throws SQLException, WrongAnswerException {
        long customer = chooseCustomer();
        checkedCustomer(customer);
        List<Session.Row> lines = session.rows("select o_id, o_lines, o_total, l_i_id, l_quantity, l_amount, l_info from orders join order_line"
                + " on l_w_id = o_w_id and l_d_id = o_d_id and l_o_id = o_id where o_w_id = ? and o_d_id = ? and o_c_id = ? and o_id ="
                + " (select max(o_id) from orders where o_w_id = ? and o_d_id = ? and o_c_id = ?) order by l_number", w, d, customer, w, d, customer);
        if (!lines.isEmpty()) {
            checkLines(lines, lines.getFirst().number(0), lines.getFirst().number(1), lines.getFirst().number(2), 3);
        }
    }

    /** Checks lines whose item, quantity and amount are in the columns from {@code column}. */
    private static void checkLines(List<Session.Row> lines, long order, long count, long total, int column) throws WrongAnswerException {
        same("lines of order " + order, count, (long) lines.size());
        long sum = 0;
        for (Session.Row line : lines) {
            same("amount of item " + line.number(column) + " in order " + order, line.number(column + 1) * Scale.price(line.number(column)),
                    line.number(column + 2));
            sum += line.number(column + 2);
        }
        same("sum of the lines of order " + order, total, sum);
    }

    /** Delivers the oldest waiting order of every district of the warehouse. */
    private void delivery() throws SQLException, WrongAnswerException {
        long carrier = 1 + random.nextInt(10);
        for (long district = 0; district < Scale.DISTRICTS; district++) {
            lockDistrict(district);
            Session.Row oldest = session.row("select min(n_o_id) from new_order where n_w_id = ? and n_d_id = ?", w, district);
            if (oldest.isNull(0)) {
                continue;
            }
            long order = oldest.number(0);
            session.change(1, "delete from new_order where n_w_id = ? and n_d_id = ? and n_o_id = ?", w, district, order);
            Session.Row row = session.row("select o_c_id, o_lines, o_total, o_carrier from orders where o_w_id = ? and o_d_id = ? and o_id = ?",
                    w, district, order);
            holds("no carrier of order " + order, row.isNull(3));
            checkLines(session.rows("select l_i_id, l_quantity, l_amount from order_line where l_w_id = ? and l_d_id = ? and l_o_id = ?", w, district, order),
                    order, row.number(1), row.number(2), 0);
            session.change(1, "update orders set o_carrier = ? where o_w_id = ? and o_d_id = ? and o_id = ?", carrier, w, district, order);
            session.change(1, "update customer set c_balance = c_balance + ? where c_w_id = ? and c_d_id = ? and c_id = ?", row.number(2), w, district,
                    row.number(0));
            archive(district, order - scale.customers());
        }
    }

    /** Removes the orders of a district up to {@code last}, which are delivered. */
    private void archive(long district, long last) throws SQLException, WrongAnswerException {
        for (Session.Row old : session.rows("select o_id, o_c_id, o_lines, o_total, o_carrier from orders where o_w_id = ? and o_d_id = ? and o_id <= ?",
                w, district, last)) {
            holds("a carrier of order " + old.number(0), !old.isNull(4));
            session.change(old.number(2), "delete from order_line where l_w_id = ? and l_d_id = ? and l_o_id = ?", w, district, old.number(0));
            session.change(1, "delete from orders where o_w_id = ? and o_d_id = ? and o_id = ?", w, district, old.number(0));
            session.change(1, "update customer set c_archived = c_archived + ? where c_w_id = ? and c_d_id = ? and c_id = ?", old.number(3), w, district,
                    old.number(1));
        }
    }

    /** Counts the items of the last orders of which there is little left. */
    private void stockLevel() throws SQLException, WrongAnswerException {
        long threshold = 10 + random.nextInt(11);
        long next = session.row("select d_next_o_id from district where d_w_id = ? and d_id = ?", w, d).number(0);
        List<Session.Row> stocks = session.rows("select s_i_id, s_quantity, s_first, s_ytd, s_orders,"
                + " sum(case when s_quantity < ? then 1 else 0 end) over () from stock where s_w_id = ? and s_i_id in"
                + " (select l_i_id from order_line where l_w_id = ? and l_d_id = ? and l_o_id >= ? and l_o_id < ?)",
                threshold, w, w, d, next - LAST_ORDERS, next);
        long low = 0;
        Set<Long> items = new HashSet<>();
        for (Session.Row stock : stocks) {
            checkStock(stock);
            holds("item " + stock.number(0) + " once", items.add(stock.number(0)));
            low += stock.number(1) < threshold ? 1 : 0;
        }
        holds("stock of the last orders", !stocks.isEmpty());
        same("number of items below " + threshold, low, stocks.getFirst().number(5));
    }

    /** Checks that the orders of a district are complete. */
    private void audit() throws SQLException, WrongAnswerException {
        long next = lockDistrict(d);
        Session.Row orders = session.row("select count(*), min(o_id), max(o_id), sum(o_lines), sum(o_total), count(o_carrier) from orders"
                + " where o_w_id = ? and o_d_id = ?", w, d);
        same("last order", next - 1, orders.number(2));
        same("number of orders", next - orders.number(1), orders.number(0));
        Session.Row lines = session.row("select count(*), sum(l_amount) from order_line where l_w_id = ? and l_d_id = ?", w, d);
        same("number of lines", orders.number(3), lines.number(0));
        same("sum of all lines", orders.number(4), lines.number(1));
        same("number of waiting orders", orders.number(0) - orders.number(5),
                session.row("select count(*) from new_order where n_w_id = ? and n_d_id = ?", w, d).number(0));
    }
}
