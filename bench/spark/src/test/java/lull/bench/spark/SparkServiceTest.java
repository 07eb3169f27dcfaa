// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import lull.bench.load.FixedRequest;
import lull.bench.load.HttpConnection;
import lull.bench.service.Service;
import lull.bench.service.Service.WrongAnswerException;
import lull.bench.testing.TestedService;
import lull.bench.util.Cli.UsageException;
import lull.bench.util.Json;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The service as a whole, in this process: one Spark for all tests. */
class SparkServiceTest {
    private static final int ORDERS = 150;
    private static final Map<String, String> SMALL = Map.of("orders", "" + ORDERS, "queries", "1");

    @TempDir
    private static Path data;
    private static TestedService tested;

    @BeforeAll
    static void start() throws Exception {
        tested = TestedService.start("spark", data, SMALL, 2);
    }

    @AfterAll
    static void stop() throws Exception {
        tested.close();
    }

    private static HttpConnection.Answer send(String method, String path, String body) throws IOException {
        try (HttpConnection http = new HttpConnection(tested.port(), 60_000)) {
            return http.send(method, path, "application/sql", body.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static String text(HttpConnection.Answer answer) {
        return new String(answer.body(), StandardCharsets.UTF_8);
    }

    /** Returns the rows of the answer to {@code sql}. */
    private static List<?> rows(String sql) throws IOException {
        HttpConnection.Answer answer = send("POST", "/sql", sql);
        assertEquals(200, answer.status(), text(answer));
        return (List<?>) Json.parseObject(text(answer)).get("rows");
    }

    @Test
    void clientsAtOnceGetRightAnswers() throws Exception {
        Service.Caller caller = tested.caller(1);
        assertEquals(10, caller.variety());
        TestedService.answersAreRight(caller, tested.port(), 2, caller.variety(), 0);
    }

    /** Not only the same as another Spark said: worked out here from the rows. */
    @Test
    void sumsAreRight() throws Exception {
        LocalDate until = Tables.FIRST_DAY.plusDays(1500);
        Map<String, BigDecimal[]> groups = new TreeMap<>();
        BigDecimal saved = BigDecimal.ZERO;
        long savings = 0;
        for (Row line : new Tables(ORDERS).generate().get("lineitem").rows()) {
            BigDecimal quantity = BigDecimal.valueOf(line.getLong(4));
            BigDecimal price = line.getDecimal(5);
            BigDecimal discount = line.getDecimal(6);
            LocalDate shipped = line.getAs(10);
            if (!shipped.isAfter(until)) {
                BigDecimal[] sums = groups.computeIfAbsent(line.getString(8) + line.getString(9),
                        k -> new BigDecimal[] {BigDecimal.ZERO, BigDecimal.ZERO, BigDecimal.ZERO, BigDecimal.ZERO});
                sums[0] = sums[0].add(quantity);
                sums[1] = sums[1].add(price);
                sums[2] = sums[2].add(price.multiply(BigDecimal.ONE.subtract(discount)));
                sums[3] = sums[3].add(BigDecimal.ONE);
            }
            if (shipped.getYear() == 2020 && discount.unscaledValue().intValue() >= 3 && discount.unscaledValue().intValue() <= 5 && line.getLong(4) < 30) {
                saved = saved.add(price.multiply(discount));
                savings++;
            }
        }
        List<?> pricing = rows(Queries.pricing(until));
        assertEquals(groups.size(), pricing.size());
        int at = 0;
        for (Map.Entry<String, BigDecimal[]> group : groups.entrySet()) {
            List<?> row = (List<?>) pricing.get(at++);
            assertEquals(group.getKey(), row.get(0).toString() + row.get(1));
            int[] columns = {2, 3, 4, 7};
            for (int i = 0; i < columns.length; i++) {
                assertEquals(0, group.getValue()[i].compareTo(new BigDecimal(row.get(columns[i]).toString())), group.getKey() + " " + row);
            }
        }
        List<?> forecast = (List<?>) rows(Queries.forecast(2020, 4, 30)).getFirst();
        assertTrue(savings > 0);
        assertEquals(0, saved.compareTo(new BigDecimal(forecast.getFirst().toString())));
        assertEquals("" + savings, forecast.getLast());
    }

    @Test
    void everyCustomerCountsOnceAndRowsAreInOrder() throws Exception {
        String sql = Queries.all(1).stream().filter(q -> q.contains("as customers")).findFirst().orElseThrow();
        List<Long> customers = new ArrayList<>();
        rows(sql).forEach(row -> customers.add(Long.parseLong(((List<?>) row).getLast().toString())));
        assertEquals(new Tables(ORDERS).customers(), customers.stream().mapToLong(Long::longValue).sum());
        assertEquals(customers.stream().sorted(Comparator.reverseOrder()).toList(), customers);
    }

    @Test
    void wrongAnswersAreFound(@TempDir Path other) throws Exception {
        List<FixedRequest> right = FixedRequest.read(data);
        FixedRequest first = right.getFirst();
        FixedRequest.write(other, "spoilt", List.of(new FixedRequest(first.target(), first.type(), first.body().replace("l_shipdate <=", "l_shipdate >"),
                first.status(), first.length(), first.digest())));
        try (Service.Connection connection = tested.service().caller(other, 1).connect(tested.port())) {
            WrongAnswerException e = assertThrows(WrongAnswerException.class, () -> connection.request(0));
            assertTrue(e.getMessage().contains("expected") && e.getMessage().contains("select"), e.getMessage());
        }
    }

    @Test
    void refusals() throws Exception {
        assertEquals(400, send("POST", "/sql", "select nothing from nowhere").status());
        assertEquals(400, send("POST", "/sql", "no query").status());
        assertEquals(404, send("POST", "/other", "select 1").status());
        assertTrue(text(send("POST", "/sql", "select nothing from region")).contains("nothing"));
        assertEquals(List.of(List.of("5")), rows("select count(*) from region"));
        assertTrue(assertThrows(IOException.class, () -> tested.service().start(data, 0, 1)).getMessage().contains("another process"));
    }

    @Test
    void preparesOnceAndExplainsErrors(@TempDir Path other) throws Exception {
        Service service = tested.service();
        assertTrue(assertThrows(IOException.class, () -> service.start(other, 0, 1)).getMessage().contains("prepare the service first"));
        assertTrue(assertThrows(UsageException.class, () -> service.prepare(other, Map.of("orders", "99"))).getMessage().contains("orders"));
        assertTrue(assertThrows(UsageException.class, () -> service.prepare(other, Map.of("tables", "x"))).getMessage().contains("'x'"));
        assertTrue(assertThrows(UsageException.class, () -> service.prepare(other, Map.of("scale", "1"))).getMessage().contains("'scale'"));
        Path file = data.resolve("requests.json");
        FileTime time = Files.getLastModifiedTime(file);
        service.prepare(data, SMALL);
        assertEquals(time, Files.getLastModifiedTime(file));
    }
}
