// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import lull.bench.budget.Phase;
import lull.bench.load.FixedRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SparkBudgetTest {
    @Test
    void reportsAreMeasuredAndChecked(@TempDir Path directory) throws Exception {
        Path data = directory.resolve("data");
        MonthTables.make(data, 900, 1);
        long made = Files.getLastModifiedTime(data.resolve("requests.json")).toMillis();
        MonthTables.make(data, 900, 1);
        assertEquals(made, Files.getLastModifiedTime(data.resolve("requests.json")).toMillis(), "made twice");
        assertTrue(Files.isDirectory(MonthTables.tables(data).resolve("lines").resolve("l_month=4")), "no directory for a month");
        List<FixedRequest> reports = FixedRequest.read(data);
        for (String kind : MonthTables.KINDS) {
            assertEquals(2, reports.stream().filter(report -> report.target().equals("/" + kind)).count());
        }

        Map<String, Object> result = SparkBudgetMain.measure(data, Phase.parse("scan:6,join:6", MonthTables.KINDS), null);
        for (Object phase : (List<?>) result.get("phases")) {
            assertTrue((double) ((Map<?, ?>) phase).get("per_second") > 0, "nothing was done: " + phase);
        }

        List<FixedRequest> wrong = new ArrayList<>();
        reports.forEach(report -> wrong.add(FixedRequest.post(report.target(), report.type(), report.body(), "another answer")));
        FixedRequest.write(data, "test", wrong);
        assertThrows(IllegalStateException.class, () -> SparkBudgetMain.measure(data, Phase.parse("scan:6", MonthTables.KINDS), null));
    }
}
