// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import lull.bench.budget.Phase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OpenSearchBudgetTest {
    @Test
    void phasesAreMeasuredAndAnswersChecked(@TempDir Path directory) throws Exception {
        Path data = directory.resolve("data");
        StoredIndex.make(data, 500);
        long made = Files.getLastModifiedTime(data.resolve("count")).toMillis();
        StoredIndex.make(data, 500);
        assertEquals(made, Files.getLastModifiedTime(data.resolve("count")).toMillis(), "made twice");
        Map<String, Object> result = OpenSearchBudgetMain.measure(data, Phase.parse("search:2,mixed:2,ingest:2", OpenSearchBudgetMain.KINDS), null);
        for (Object phase : (List<?>) result.get("phases")) {
            assertTrue((double) ((Map<?, ?>) phase).get("per_second") > 0, "nothing was done: " + phase);
        }
    }
}
