// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class GatePageTest {
    /** Latencies that differ by setup: a thousandth of the requests takes long. */
    private static List<Outcome> outcomes() {
        List<Outcome> outcomes = new ArrayList<>();
        for (Setup setup : Setup.ALL) {
            Outcome outcome = new Outcome(setup);
            for (int i = 0; i < 5000; i++) {
                outcome.latencies.answered(0, i % 500 == 0 ? 10_000_000L * (outcomes.size() + 1) : 300_000 + 10 * i);
            }
            outcome.requests = 5000;
            outcome.attempts = 5100;
            outcomes.add(outcome);
        }
        return outcomes;
    }

    @Test
    void aLineForEachSetupAndARowForEachOfBothTables() throws Exception {
        Prediction.Summary summary = Prediction.Summary.of(List.of(new Prediction("Full", 100, 99, 120, 101)));
        GatePage page = new GatePage(GatePage.About.shop("Tomcat"), outcomes(), new Predictions(Map.of("Parallel", Map.of("Full <&>", summary))), "settings", "a machine", 1.5);
        Document document = DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new InputSource(new StringReader(page.html().replace("<!DOCTYPE html>", ""))));
        NodeList paths = document.getElementsByTagName("path");
        Set<String> lines = new HashSet<>();
        for (int i = 0; i < paths.getLength(); i++) {
            lines.add(((Element) paths.item(i)).getAttribute("d"));
        }
        assertEquals(Setup.ALL.size(), lines.size());
        // A head and a row of each.
        assertEquals(2 + Setup.ALL.size() + 1, document.getElementsByTagName("tr").getLength());
        assertTrue(page.text().contains("2.00 %"), page.text());
        assertEquals(Setup.ALL.size(), Setup.ALL.stream().map(Setup::colour).distinct().count());
    }
}
