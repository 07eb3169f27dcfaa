// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import lull.report.page.Chart.Point;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class PageTest {
    private static final Palette PALETTE = Palette.of(new Palette.Colour("lull", "#000001", "#fffffe"),
            new Palette.Colour("g1", "#000002", "#fffffd"));

    private static Page page() {
        Chart chart = new Chart(200, "a <picture> & its \"name\"");
        Scale x = Scale.linear(0, 10, Chart.LEFT, Chart.RIGHT);
        chart.yAxis(Scale.log(1, 900, chart.bottom(), Chart.TOP), "ms").xAxis(x, x.marks(5), Scale::label, "seconds");
        List<Point> points = List.of(new Point(0, 1), new Point(5, 5000), new Point(10, 3));
        chart.line("lull", points).area("lull", points).stems("g1", points).dots("g1", 2, points).rule(5, "<here>").line("g1", List.of());
        return new Page("Title & <more>", PALETTE).heading("h").paragraph("p").note("n").terminal("java -cp 'a/*' <x>")
                .table(List.of(List.of("", "A & B"), List.of("<p50>", "1"))).grid()
                .picture("Picture", "note", List.of(new Page.Key("lull", "line", "Lull")), chart.end())
                .picture("Bars", "", List.of(), Chart.bars("bars", List.of(new Chart.Bar("Lull", List.of(new Chart.Part("lull", 3)))), "/s")).end();
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
        assertThrows(IllegalStateException.class, () -> new Page("t", PALETTE).grid().toString());
    }

    @Test
    void coloursAreClasses() {
        String text = page().toString();
        assertTrue(text.contains(".lull { --c: var(--lull); }"), text);
        assertTrue(text.contains("--lull: #000001;") && text.contains("--lull: #fffffe;"), text);
        String alone = new Chart(100, "alone").alone(PALETTE);
        assertTrue(alone.startsWith("<svg") && alone.contains("--lull: #000001;"), alone);
    }

    @Test
    void contentsLeadToSections() {
        assertFalse(new Page("t", PALETTE).heading("h").heading("h").toString().contains("<nav>"));
        assertTrue(new Page("t", PALETTE).section("A b").toString().contains("<nav>\n<a href=\"#a-b\">A b</a>"));
    }

    @Test
    void layersLieBetweenLines() {
        Chart chart = new Chart(136, "layers");
        chart.yAxis(Scale.linear(0, 10, chart.bottom(), Chart.TOP), "MB")
                .xAxis(Scale.linear(0, 1, Chart.LEFT, Chart.RIGHT), List.of(), Scale::label, "s");
        chart.layer("lull", List.of(new Point(0, 0), new Point(1, 0)), List.of(new Point(0, 10), new Point(1, 5)));
        chart.layer("g1", List.of(), List.of(new Point(0, 1)));
        String text = chart.end().toString();
        assertTrue(text.contains("class=\"layer lull\" d=\"M58 22L468 61L468 100L58 100Z\""), text);
        assertFalse(text.contains("layer g1"), text);
    }
}
