// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import lull.report.Place.Frame;
import lull.report.gclog.GcLog;
import lull.report.page.Page;
import lull.report.page.Palette;
import org.junit.jupiter.api.Test;

/** What the page says in words: numbers, advice for places, logs, and that nothing of a recording becomes markup. */
class WordsTest {
    private static Place place(String... methods) {
        return new Place(Place.significant(List.of(methods).stream()
                .map(m -> new Frame(m.substring(0, m.lastIndexOf('.')), m.substring(m.lastIndexOf('.') + 1), 7)).toList()));
    }

    @Test
    void numbers() {
        assertEquals("12.3\u00a0MB", Text.bytes(12.3 * (1 << 20)));
        assertEquals("0\u00a0B", Text.bytes(0));
        assertEquals("–", Text.bytes(Double.NaN));
        assertEquals("1.50\u00a0ms", Text.time(0.0015));
        assertEquals("12\u00a0%", Text.percent(0.123));
        assertEquals("1.2\u00a0%", Text.percent(0.0123));
        assertEquals("10\u00a0%", Text.percent(0.0999));
        assertEquals("0.05\u00a0%", Text.percent(0.0005));
        assertEquals("1\u00a0234\u00a0567", Text.number(1234567));
        assertEquals("service.jar", Text.shortName("/opt/app/service.jar --port 80"));
        assertEquals("ServerMain", Text.shortName("lull.bench.service.ServerMain"));
    }

    @Test
    void classes() {
        assertEquals("byte[]", Text.className("[B"));
        assertEquals("java.lang.String[][]", Text.className("[[Ljava.lang.String;"));
        assertEquals("a.B", Text.className("a.B"));
        assertEquals("byte[]", Text.className("byte[]"));
    }

    @Test
    void secretsStayOut() {
        String arguments = Text.withoutSecrets("-Xmx1g -Ddb.password=hunter2 -Dkeystore.PASSWORD=\"a b\" --api-token=abc -Dport=80");
        assertFalse(arguments.matches(".*(hunter2|a b|abc).*"), arguments);
        assertTrue(arguments.contains("-Dport=80") && arguments.contains("-Ddb.password=..."), arguments);
        assertEquals("-Durl=jdbc:postgresql://db/rows?user=me&password=... -Dport=80",
                Text.withoutSecrets("-Durl=jdbc:postgresql://db/rows?user=me&password=hunter2&ssl=true -Dport=80"));
        assertEquals("-Durl=amqp://me:...@broker/queue", Text.withoutSecrets("-Durl=amqp://me:hunter2@broker/queue"));
        assertEquals("service.jar --password ... --api-key ... --token --port 80",
                Text.withoutSecrets("service.jar --password hunter2 --api-key 'a b' --token --port 80"));
        assertEquals("-jar monkey.jar 7", Text.withoutSecrets("-jar monkey.jar 7"));
    }

    @Test
    void placesEndSomeFramesBehindTheApplication() {
        Place place = place("java.util.HashMap.putVal", "java.util.HashMap.put", "a.A.m", "a.B.n", "a.C.o", "a.D.p", "a.E.q", "a.F.r");
        assertEquals("a.A.m:7", place.application().toString());
        assertEquals(7, place.frames.size());
        assertEquals("java.lang.Thread.run:7", place("java.lang.Thread.run").application().toString());
    }

    @Test
    void advice() {
        assertTrue(StoreAdvice.of(place("java.util.concurrent.LinkedBlockingQueue.enqueue", "java.util.concurrent.LinkedBlockingQueue.put",
                "a.A.m")).contains("another thread"));
        assertTrue(StoreAdvice.of(place("java.util.concurrent.ConcurrentHashMap.putVal", "a.A.m")).contains("share"));
        assertTrue(StoreAdvice.of(place("java.util.concurrent.ConcurrentHashMap.putVal", "a.PageCache.get")).contains("cache"));
        assertTrue(StoreAdvice.of(place("java.util.ArrayList.add", "org.h2.mvstore.Page.insert")).contains("database"));
        assertTrue(StoreAdvice.of(place("org.apache.catalina.connector.Request.setAttribute", "a.A.m")).contains("server's own"));
        assertTrue(StoreAdvice.of(place("java.lang.invoke.LambdaForm.compile", "a.A.m")).contains("linking"));
        assertTrue(StoreAdvice.of(place("a.A.m", "a.B.n")).contains("`a.A.m:7` stores"));
    }

    @Test
    void logs() {
        GcLog log = GcLog.parse(Stream.of("[1.500s][info][gc,start] GC(0) Pause Full (Allocation Failure)",
                "[1.520s][info][gc,heap] GC(0) Marked: 100 objects, 2048K; evacuated: 1 objects, 1K; left in evacuated blocks: 0 "
                + "objects, 0K",
                "[1.520s][info][gc,heap] GC(0) Still private, of the marked: 10 objects, 512K",
                "[2,500s][info][gc,heap] GC(1) Marked: 100 objects, 1024K; evacuated: 1 objects, 1K; left in evacuated blocks: 0 "
                        + "objects, 0K", "nonsense", "[2.6"));
        assertEquals(4, log.lines());
        assertEquals(new GcLog.Found(1.52, 2048 * 1024, 512 * 1024), log.found().get(0));
        assertEquals(new GcLog.Found(2.5, 1024 * 1024, 0), log.found().get(1));
    }

    @Test
    void namesAreNoMarkup() {
        String page = new Page("<b>&\u0001", Palette.of()).section("A & B").paragraph("`<script>` and <i>").terminal("<init>").toString();
        assertTrue(page.contains("<code>&lt;script&gt;</code> and &lt;i&gt;") && page.contains("&lt;init&gt;")
                && page.contains("&lt;b&gt;&amp;\ufffd"), page);
        assertTrue(page.contains("href=\"#a-b\"") && page.contains("id=\"a-b\""), page);
        assertThrows(IllegalArgumentException.class, () -> new Page("x", Palette.of()).section("Twice").section("Twice"));
    }
}
