// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class MarkupTest {
    @Test
    void escapesTextAndAttributes() {
        Markup markup = new Markup().open("a", "title", "\"<&>'").text("1 < 2 && 3 > 2 \u0000").close();
        assertEquals("<a title=\"&quot;&lt;&amp;&gt;&#39;\">1 &lt; 2 &amp;&amp; 3 &gt; 2 \ufffd</a>", markup.toString());
    }

    @Test
    void formatsCoordinates() {
        assertEquals("<rect x=\"1.3\" y=\"2\"/>", new Markup().empty("rect", "x", 1.25001, "y", 2.0).toString());
        assertThrows(IllegalArgumentException.class, () -> new Markup().empty("rect", "x", Double.NaN));
        assertThrows(IllegalArgumentException.class, () -> new Markup().empty("rect", "x"));
    }

    @Test
    void refusesOpenElements() {
        assertThrows(IllegalStateException.class, () -> new Markup().open("a").toString());
    }
}
