// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import lull.bench.load.FixedRequest;
import lull.bench.util.Directories;
import org.apache.spark.package$;
import org.apache.spark.sql.AnalysisException;

/**
 * Orders and their lines, each with a file for each month, and reports on single months: a report reads some files out of many, so that what is in the page
 * cache counts. A small set of {@link Tables} is written many times, each time with other keys, prices and comments, which no compression makes smaller.
 */
final class MonthTables {
    /** A report whose time goes into reading and adding up. */
    static final String SCAN = "scan";
    /** A report that needs memory: for a join, or for a group of each line. */
    static final String JOIN = "join";
    static final List<String> KINDS = List.of(SCAN, JOIN);

    /** Orders of the small set. */
    private static final int BASE = 20_000;
    /** Months with lines of orders of all earlier months that lines can be of: lines are shipped up to four months after. */
    private static final int FIRST_MONTH = 4;
    private static final int MONTHS = 74;
    private static final List<String> TABLES = List.of("lines", "sold");
    private static final int THREADS = 2;
    /** To be raised when tables or reports change. */
    private static final int FORMAT = 1;

    private MonthTables() { }

    static Path tables(Path data) {
        return data.resolve("tables");
    }

    /** Makes the tables known to queries. */
    static void open(Spark spark, Path data) {
        spark.open(TABLES, tables(data), false);
    }

    /**
     * Makes tables with so many orders in {@code data}, and what the reports on the first {@code months} months say, unless they are there.
     *
     * @param orders rounded up to whole copies of the small set
     * @param months 1 to 74
     */
    static void make(Path data, int orders, int months) throws IOException {
        int base = Math.min(BASE, orders);
        int copies = (orders + base - 1) / base;
        int asked = Math.min(months, MONTHS);
        String origin = copies + " times " + base + " orders, " + asked + " months, format " + FORMAT + ", Spark " + package$.MODULE$.SPARK_VERSION();
        if (FixedRequest.isOf(data, origin)) {
            return;
        }
        Directories.delete(data);
        Files.createDirectories(data);
        List<FixedRequest> requests = new ArrayList<>();
        Path small = data.resolve("small");
        try (Spark spark = new Spark(THREADS)) {
            var tables = new Tables(base).generate();
            spark.write(tables, small);
            spark.open(tables.keySet(), small, false);
            spark.writeByValue(lines(base, copies), "l_month", tables(data).resolve("lines"));
            spark.writeByValue(sold(base, copies), "o_month", tables(data).resolve("sold"));
            Directories.delete(small);
            open(spark, data);
            SplittableRandom random = new SplittableRandom(11);
            for (int i = 0; i < asked; i++) {
                int month = FIRST_MONTH + i;
                for (String sql : scans(month, random)) {
                    requests.add(FixedRequest.post("/" + SCAN, "application/sql", sql, spark.answer(sql)));
                }
                for (String sql : joins(month)) {
                    requests.add(FixedRequest.post("/" + JOIN, "application/sql", sql, spark.answer(sql)));
                }
            }
        } catch (AnalysisException e) {
            throw new IOException("Spark did not prepare the tables: " + e.getMessage(), e);
        }
        FixedRequest.write(data, origin, requests);
    }

    private static String month(String date) {
        return "cast(12 * (year(" + date + ") - " + Tables.FIRST_DAY.getYear() + ") + month(" + date + ") - 1 as int)";
    }

    private static String copied(String columns, String table, int copies) {
        return "select " + columns + " from " + table + " lateral view explode(sequence(0, " + (copies - 1) + ")) as copy";
    }

    private static String lines(int base, int copies) {
        String key = "l_orderkey + copy * " + base + "L";
        return copied(key + " as l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity,"
                + " cast(l_extendedprice + pmod(xxhash64(" + key + ", l_linenumber), 100000) / 100 as decimal(12, 2)) as l_extendedprice, l_discount, l_tax, l_returnflag,"
                + " l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipmode,"
                + " concat(l_comment, ' ', sha2(concat(" + key + ", '-', l_linenumber), 256)) as l_comment, " + month("l_shipdate") + " as l_month", "lineitem", copies);
    }

    private static String sold(int base, int copies) {
        String key = "o_orderkey + copy * " + base + "L";
        return copied(key + " as o_orderkey, o_custkey + copy * " + base + "L as o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority,"
                + " concat(o_comment, ' ', sha2(cast(" + key + " as string), 256)) as o_comment, " + month("o_orderdate") + " as o_month", "orders", copies);
    }

    private static List<String> scans(int month, SplittableRandom random) {
        return List.of(
                "select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)), count(*), max(l_comment) from lines"
                        + " where l_month = " + month + " group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus",
                "select l_shipmode, count(*), sum(l_extendedprice), min(l_orderkey) from lines where l_month = " + month + " and l_comment like '%"
                        + Integer.toHexString(256 + random.nextInt(3840)) + "%' group by l_shipmode order by l_shipmode");
    }

    private static List<String> joins(int month) {
        return List.of(
                "select o_custkey, sum(l_extendedprice * (1 - l_discount)) as revenue, count(distinct o_orderkey) from lines join sold on l_orderkey = o_orderkey"
                        + " where l_month = " + month + " and o_month between " + (month - FIRST_MONTH) + " and " + month
                        + " group by o_custkey order by revenue desc, o_custkey limit 20",
                "select substr(l_comment, -6) as tail, count(*) as n, sum(l_quantity) from lines where l_month = " + month
                        + " group by tail order by n desc, tail limit 10");
    }
}
