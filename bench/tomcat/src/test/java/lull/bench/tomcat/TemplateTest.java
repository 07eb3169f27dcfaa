// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.tomcat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TemplateTest {
    @Test
    void valuesPartsAndScopes() {
        Template template = Template.parse("{{a}}: {{#list}}[{{a}}{{b}}]{{/list}}.");
        assertEquals("1: [&lt;x&gt;&amp;y][1&quot;].", template.render(Map.of("a", 1, "list", List.of(Map.of("a", "<x>&", "b", "y"), Map.of("b", "\"")))));
        assertEquals("1: .", template.render(Map.of("a", 1, "list", List.of())));
    }

    @Test
    void badOnesAreRefused() {
        for (String bad : List.of("{{a", "{{#a}}", "{{#a}}{{/b}}", "{{/a}}")) {
            assertThrows(IllegalArgumentException.class, () -> Template.parse(bad), bad);
        }
        assertThrows(IllegalArgumentException.class, () -> Template.parse("{{a}}").render(Map.of()));
    }
}
