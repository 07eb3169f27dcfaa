// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.spark;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Questions of the kinds that TPC-H asks, in SQL: each with several parameters, each with one order of its rows only, and with sums of
 * decimals and whole numbers only, so that an answer does not depend on the order of work.
 */
final class Queries {
    private Queries() { }

    /** A kind of question, whose text follows from random parameters. */
    private interface Kind {
        String sql(SplittableRandom random);
    }

    /** What is billed, shipped and returned until a day. */
    static String pricing(LocalDate until) {
        return "select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)),"
                + " sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), avg(l_quantity), count(*) from lineitem where l_shipdate <= date '" + until
                + "' group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus";
    }

    /** What would have been earned without small discounts. */
    static String forecast(int year, int percent, int quantity) {
        return "select sum(l_extendedprice * l_discount), count(*) from lineitem where year(l_shipdate) = " + year + " and l_discount between 0.0" + (percent - 1)
                + " and 0.0" + (percent + 1) + " and l_quantity < " + quantity;
    }

    private static final List<Kind> KINDS = List.of(
            random -> pricing(day(random)),
            random -> forecast(2018 + random.nextInt(7), 2 + random.nextInt(6), 20 + random.nextInt(10)),
            // The most valuable orders that are not shipped.
            random -> {
                LocalDate day = day(random);
                return "select l_orderkey, sum(l_extendedprice * (1 - l_discount)) as revenue, o_orderdate from customer join orders on c_custkey = o_custkey"
                        + " join lineitem on l_orderkey = o_orderkey where c_mktsegment = '" + one(Tables.SEGMENTS, random) + "' and o_orderdate < date '" + day
                        + "' and l_shipdate > date '" + day + "' group by l_orderkey, o_orderdate order by revenue desc, l_orderkey limit 10";
            },
            // Orders with late lines, by priority.
            random -> {
                LocalDate day = day(random);
                return "select o_orderpriority, count(*) from orders where o_orderdate >= date '" + day + "' and o_orderdate < date '" + day.plusMonths(6)
                        + "' and exists (select 1 from lineitem where l_orderkey = o_orderkey and l_commitdate < l_receiptdate)"
                        + " group by o_orderpriority order by o_orderpriority";
            },
            // What suppliers sell in their own nation.
            random -> "select n_name, sum(l_extendedprice * (1 - l_discount)) as revenue from customer join orders on c_custkey = o_custkey"
                    + " join lineitem on l_orderkey = o_orderkey join supplier on l_suppkey = s_suppkey and c_nationkey = s_nationkey"
                    + " join nation on s_nationkey = n_nationkey join region on n_regionkey = r_regionkey where r_name = '" + one(Tables.REGIONS, random)
                    + "' group by n_name order by revenue desc, n_name",
            // Customers who return the most, as long as anything was returned.
            random -> {
                LocalDate day = Tables.FIRST_DAY.plusDays(random.nextInt(1500));
                return "select c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) as lost, c_acctbal, n_name from customer"
                        + " join orders on c_custkey = o_custkey join lineitem on l_orderkey = o_orderkey join nation on c_nationkey = n_nationkey"
                        + " where o_orderdate >= date '" + day + "' and o_orderdate < date '" + day.plusMonths(3) + "' and l_returnflag = 'R'"
                        + " group by c_custkey, c_name, c_acctbal, n_name order by lost desc, c_custkey limit 20";
            },
            // Whether slow ways of shipping make important orders late.
            random -> "select l_shipmode, sum(case when o_orderpriority in ('1-URGENT', '2-HIGH') then 1 else 0 end),"
                    + " sum(case when o_orderpriority in ('1-URGENT', '2-HIGH') then 0 else 1 end) from orders join lineitem on o_orderkey = l_orderkey"
                    + " where l_shipmode in ('" + one(Tables.MODES, random) + "', '" + one(Tables.MODES, random) + "') and l_commitdate < l_receiptdate"
                    + " and l_shipdate < l_commitdate and year(l_receiptdate) = " + (2018 + random.nextInt(7)) + " group by l_shipmode order by l_shipmode",
            // How many customers have how many orders.
            random -> "select n, count(*) as customers from (select c_custkey, count(o_orderkey) as n from customer left join orders on c_custkey = o_custkey"
                    + " and o_comment not like '%" + one(List.of("special", "pending", "silent", "boldly"), random) + "%requests%' group by c_custkey)"
                    + " group by n order by customers desc, n desc limit 15",
            // Customers of large orders.
            random -> "select c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) from customer join orders on c_custkey = o_custkey"
                    + " join lineitem on o_orderkey = l_orderkey where o_orderkey in (select l_orderkey from lineitem group by l_orderkey having sum(l_quantity) > "
                    + (200 + random.nextInt(80)) + ") group by c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice"
                    + " order by o_totalprice desc, o_orderkey limit 20",
            // Each supplier's best part by revenue in a year, and its rank in the nation.
            random -> "select s_name, p_name, revenue, rank() over (partition by s_nationkey order by revenue desc, s_suppkey, p_partkey) as place from"
                    + " (select s_suppkey, s_name, s_nationkey, p_partkey, p_name, sum(l_extendedprice) as revenue, row_number() over (partition by s_suppkey"
                    + " order by sum(l_extendedprice) desc, p_partkey) as best from lineitem join supplier on l_suppkey = s_suppkey"
                    + " join part on l_partkey = p_partkey where year(l_shipdate) = " + (2018 + random.nextInt(7)) + " and p_type like '%"
                    + one(List.of("COPPER", "NICKEL", "STEEL"), random) + "' group by s_suppkey, s_name, s_nationkey, p_partkey, p_name) where best = 1"
                    + " order by place, s_name, p_name, revenue limit 25");

    /** Returns {@code each} questions of every kind, always the same. */
    static List<String> all(int each) {
        List<String> all = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(7);
        for (Kind kind : KINDS) {
            List<String> some = new ArrayList<>();
            // Some kinds have few parameters: once these are used up, the same again.
            for (int tries = 0; some.size() < each; tries++) {
                String sql = kind.sql(random);
                if (!some.contains(sql) || tries > 10 * each) {
                    some.add(sql);
                }
            }
            all.addAll(some);
        }
        return all;
    }

    private static LocalDate day(SplittableRandom random) {
        return Tables.FIRST_DAY.plusDays(200L + random.nextInt(Tables.DAYS - 500));
    }

    private static String one(List<String> words, SplittableRandom random) {
        return words.get(random.nextInt(words.size()));
    }
}
