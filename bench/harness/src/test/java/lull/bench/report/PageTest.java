// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import lull.bench.report.Chart.Point;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class PageTest {
    private static Page page() {
        Chart chart = new Chart(200, "a <picture> & its \"name\"");
        Scale x = Scale.linear(0, 10, Chart.LEFT, Chart.RIGHT);
        chart.yAxis(Scale.log(1, 900, chart.bottom(), Chart.TOP), "ms").xAxis(x, x.marks(5), Scale::label, "seconds");
        List<Point> points = List.of(new Point(0, 1), new Point(5, 5000), new Point(10, 3));
        chart.line("lull", points).area("lull", points).stems("g1", points).dots("g1", 2, points).rule(5, "<here>").line("g1", List.of());
        TextTable table = new TextTable();
        table.add(List.of("", "A & B"));
        table.add(List.of("<p50>", "1"));
        return new Page("Title & <more>").heading("h").paragraph("p").note("n").terminal("java -cp 'a/*' <x>").table(table).startGrid()
                .picture("Picture", "note", List.of(new Page.Key("lull", "line", "Lull")), chart.end())
                .picture("Bars", "", List.of(), Chart.bars("bars", List.of(new Chart.Bar("Lull", List.of(new Chart.Part("lull", 3)))), "/s")).endGrid();
    }

    @Test
    void isWellFormedAndComplete() throws Exception {
        String text = page().toString();
        Document document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(text)));
        assertEquals(2, document.getElementsByTagName("svg").getLength());
        assertEquals("Title & <more>", document.getElementsByTagName("h1").item(0).getTextContent());
        assertEquals("java -cp 'a/*' <x>", document.getElementsByTagName("pre").item(0).getTextContent());
        assertEquals(1, document.getElementsByTagName("style").getLength());
    }

    @Test
    void needsNothingElse() {
        String text = page().toString().replace("http://www.w3.org/2000/svg", "");
        for (String outside : List.of("<script", "<link", "<img", "http:", "https:", "url(", "@import")) {
            assertFalse(text.contains(outside), outside);
        }
        assertTrue(text.contains("prefers-color-scheme: dark"));
    }

    @Test
    void refusesAnOpenGrid() {
        assertThrows(IllegalStateException.class, () -> new Page("t").startGrid().toString());
    }

    @Test
    void tables() {
        TextTable table = new TextTable();
        table.add(List.of("name", "n"));
        table.add(List.of("a,b", "10"));
        assertEquals("name   n\n--------\na,b   10\n", table.toString());
        assertEquals("name,n\n\"a,b\",10\n", table.csv());
        assertThrows(IllegalArgumentException.class, () -> table.add(List.of("one")));
    }
}
