// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class PlannedTimeTest {
    /** A line of bench.sh: preset NAME FULL QUICK. */
    private static final Pattern PRESET = Pattern.compile("^preset (\\w+) (?:\"([^\"]*)\"|(\\S+)) (?:\"([^\"]*)\"|(\\S+))$", Pattern.MULTILINE);

    /** Returns the plan of {@code bench.sh quick} or {@code full}, as the script has it. */
    private static PlannedTime planned(boolean quick) throws IOException {
        Map<String, String> preset = new TreeMap<>();
        Matcher m = PRESET.matcher(Files.readString(Path.of("../bench.sh")));
        while (m.find()) {
            int group = quick ? 4 : 2;
            preset.put(m.group(1), m.group(group) == null ? m.group(group + 1) : m.group(group));
        }
        assertEquals(7, preset.size(), preset.toString());
        preset.put("LULL_BUILD", "/nowhere");
        preset.put("LULL_BASE_JDK", "/nowhere");
        return PlannedTime.of(Settings.of(preset));
    }

    @Test
    void quickIsDoneIn15Minutes() throws IOException {
        PlannedTime quick = planned(true);
        assertEquals(2 * 3 * 2 * 2, quick.count());
        assertEquals(24 * (6 + 6 + 5 + 8), quick.rest().toSeconds());
        assertTrue(quick.first().plus(quick.rest()).toSeconds() < 15 * 60, quick.toString());
    }

    @Test
    void fullHasEveryService() throws IOException {
        PlannedTime full = planned(false);
        // 7 collectors in 4 heaps, and Epsilon in one of its own.
        assertEquals(8 * 5 * (7 * 4 + 1), full.count());
        assertEquals(full.count() * 81L - 8 * 5 * 30, full.rest().toSeconds());
        assertTrue(full.toString().contains("+ Epsilon) x 5 invocations = 1160 invocations"), full.toString());
    }
}
