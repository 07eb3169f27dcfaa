// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.spark;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Tables like those of TPC-H, with its names of columns, as many as its business questions here need. They follow from the number of orders
 * alone. Not TPC-H: smaller, other distributions, and prices are drawn, not worked out.
 *
 * @param orders as many; a tenth of that are customers, an eighth parts, a hundredth suppliers
 */
record Tables(int orders) {
    static final List<String> REGIONS = List.of("AFRICA", "AMERICA", "ASIA", "EUROPE", "OCEANIA");
    static final int NATIONS = 25;
    static final List<String> SEGMENTS = List.of("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY");
    static final List<String> PRIORITIES = List.of("1-URGENT", "2-HIGH", "3-MEDIUM", "4-LOW", "5-NONE");
    static final List<String> MODES = List.of("AIR", "MAIL", "RAIL", "ROAD", "SHIP");
    static final LocalDate FIRST_DAY = LocalDate.of(2018, 1, 1);
    static final int DAYS = 7 * 365;
    /** Lines that are shipped until this day have been paid. */
    private static final LocalDate TODAY = FIRST_DAY.plusDays(DAYS * 5 / 7);
    private static final List<String> KINDS = List.of("COPPER", "NICKEL", "STEEL", "TIN", "BRASS");
    private static final List<String> USES = List.of("ECONOMY", "PROMO", "SMALL", "STANDARD");
    private static final List<String> WORDS = List.of("quick", "silent", "final", "packages", "accounts", "deposits", "boldly", "sleep", "along", "the",
            "regular", "requests", "special", "pending", "ideas");

    /** A table: its columns and rows. */
    record Table(StructType columns, List<Row> rows) { }

    int customers() {
        return Math.max(5, orders / 10);
    }

    int parts() {
        return Math.max(5, orders / 8);
    }

    int suppliers() {
        return Math.max(5, orders / 100);
    }

    /** Returns all tables by name. */
    Map<String, Table> generate() {
        Map<String, Table> tables = new LinkedHashMap<>();
        tables.put("region", new Table(columns("r_regionkey bigint", "r_name string"), rows(REGIONS.size(), i -> List.of((long) i, REGIONS.get(i)))));
        tables.put("nation", new Table(columns("n_nationkey bigint", "n_name string", "n_regionkey bigint"),
                rows(NATIONS, i -> List.of((long) i, nation(i), (long) i % REGIONS.size()))));
        tables.put("supplier", new Table(columns("s_suppkey bigint", "s_name string", "s_nationkey bigint", "s_acctbal decimal"),
                random(1, suppliers(), (i, random) -> List.of((long) i, "Supplier " + i, (long) random.nextInt(NATIONS), money(random, -99_999, 999_999)))));
        tables.put("customer", new Table(columns("c_custkey bigint", "c_name string", "c_nationkey bigint", "c_acctbal decimal", "c_mktsegment string"),
                random(2, customers(), (i, random) -> List.of((long) i, "Customer " + i, (long) random.nextInt(NATIONS), money(random, -99_999, 999_999),
                        one(SEGMENTS, random)))));
        tables.put("part", new Table(columns("p_partkey bigint", "p_name string", "p_brand string", "p_type string", "p_size bigint", "p_retailprice decimal"),
                random(3, parts(), (i, random) -> List.of((long) i, text(random, 2), "Brand " + (1 + random.nextInt(5)), one(USES, random) + " " + one(KINDS, random),
                        1L + random.nextInt(50), money(random, 90_000, 200_000)))));
        orders(tables);
        return tables;
    }

    private void orders(Map<String, Table> tables) {
        SplittableRandom random = new SplittableRandom(4);
        List<Row> heads = new ArrayList<>();
        List<Row> lines = new ArrayList<>();
        for (int order = 0; order < orders; order++) {
            LocalDate day = FIRST_DAY.plusDays(random.nextInt(DAYS - 150));
            BigDecimal total = BigDecimal.ZERO;
            int count = 1 + random.nextInt(7);
            for (int line = 1; line <= count; line++) {
                long quantity = 1L + random.nextInt(50);
                BigDecimal price = money(random, 90_000, 200_000).multiply(BigDecimal.valueOf(quantity));
                LocalDate shipped = day.plusDays(1 + random.nextInt(120));
                boolean done = !shipped.isAfter(TODAY);
                lines.add(RowFactory.create((long) order, (long) random.nextInt(parts()), (long) random.nextInt(suppliers()), (long) line, quantity, price,
                        BigDecimal.valueOf(random.nextInt(11), 2), BigDecimal.valueOf(random.nextInt(9), 2),
                        done ? random.nextBoolean() ? "R" : "A" : "N", done ? "F" : "O", shipped, day.plusDays(30 + random.nextInt(60)),
                        shipped.plusDays(1 + random.nextInt(30)), one(MODES, random), text(random, 5)));
                total = total.add(price);
            }
            // A third of the customers have no orders.
            long customer = random.nextInt(customers()) / 3 * 3L + random.nextInt(2);
            heads.add(RowFactory.create((long) order, Math.min(customer, customers() - 1L), day.isAfter(TODAY) ? "O" : "F", total, day, one(PRIORITIES, random),
                    text(random, 6)));
        }
        tables.put("orders", new Table(columns("o_orderkey bigint", "o_custkey bigint", "o_orderstatus string", "o_totalprice decimal", "o_orderdate date",
                "o_orderpriority string", "o_comment string"), heads));
        tables.put("lineitem", new Table(columns("l_orderkey bigint", "l_partkey bigint", "l_suppkey bigint", "l_linenumber bigint", "l_quantity bigint",
                "l_extendedprice decimal", "l_discount decimal", "l_tax decimal", "l_returnflag string", "l_linestatus string", "l_shipdate date",
                "l_commitdate date", "l_receiptdate date", "l_shipmode string", "l_comment string"), lines));
    }

    static String nation(int number) {
        return "NATION " + (char) ('A' + number);
    }

    private static StructType columns(String... columns) {
        StructType type = new StructType();
        for (String column : columns) {
            String[] word = column.split(" ");
            type = type.add(word[0], switch (word[1]) {
                case "bigint" -> DataTypes.LongType;
                case "string" -> DataTypes.StringType;
                case "date" -> DataTypes.DateType;
                default -> DataTypes.createDecimalType(12, 2);
            });
        }
        return type;
    }

    private interface Maker {
        List<Object> make(int number);
    }

    private interface RandomMaker {
        List<Object> make(int number, SplittableRandom random);
    }

    private static List<Row> rows(int count, Maker maker) {
        List<Row> rows = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            rows.add(RowFactory.create(maker.make(i).toArray()));
        }
        return rows;
    }

    private static List<Row> random(long seed, int count, RandomMaker maker) {
        SplittableRandom random = new SplittableRandom(seed);
        return rows(count, i -> maker.make(i, random));
    }

    private static BigDecimal money(SplittableRandom random, int low, int high) {
        return BigDecimal.valueOf(random.nextInt(low, high), 2);
    }

    private static String one(List<String> words, SplittableRandom random) {
        return words.get(random.nextInt(words.size()));
    }

    private static String text(SplittableRandom random, int words) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < words; i++) {
            text.append(i == 0 ? "" : " ").append(one(WORDS, random));
        }
        return text.toString();
    }
}
