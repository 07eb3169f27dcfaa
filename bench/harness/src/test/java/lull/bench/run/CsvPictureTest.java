// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

class CsvPictureTest {
    private static final CsvPicture.Words WORDS = new CsvPicture.Words(false, "s", "MB", "memory <over> time");

    private static NodeList lines(String svg) throws Exception {
        Document document = DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
        assertEquals("memory <over> time", document.getDocumentElement().getAttribute("aria-label"));
        assertEquals(1, document.getElementsByTagName("style").getLength());
        return document.getElementsByTagName("path");
    }

    @Test
    void aLineForEachColumnAndItsNameInItsColour() throws Exception {
        String svg = CsvPicture.draw(List.of("t,Lull,G1,mine", "0,1,2,3", "1,4,5,6"), WORDS);
        NodeList paths = lines(svg);
        assertEquals(6, paths.getLength());   // three lines, three in the key
        assertTrue(svg.contains("\"line lull\"") && svg.contains("\"line g1\"") && svg.contains(">mine</text>"), svg);
    }

    @Test
    void whatIsNoNumberIsNotDrawn() throws Exception {
        String all = CsvPicture.draw(List.of("t,Lull", "0,1", "1,2", "2,3"), WORDS);
        String some = CsvPicture.draw(List.of("t,Lull", "0,1", "1,none", "2,3"), WORDS);
        assertEquals(all.chars().filter(c -> c == 'L').count(), some.chars().filter(c -> c == 'L').count() + 1);
        lines(some);
    }

    @Test
    void tablesThatAreNone() {
        assertThrows(IllegalArgumentException.class, () -> CsvPicture.draw(List.of("t,Lull"), WORDS));
        assertThrows(IllegalArgumentException.class, () -> CsvPicture.draw(List.of("t,Lull", "0,1,2"), WORDS));
        assertThrows(IllegalArgumentException.class, () -> CsvPicture.draw(List.of("t,Lull", "x,1"), WORDS));
    }
}
