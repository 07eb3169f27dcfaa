// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PredictionTest {
    private static String line(String kind, double actual, double predicted, double most) {
        return line(kind, actual, predicted, most, predicted);
    }

    private static String line(String kind, double actual, double predicted, double most, double halfway) {
        return "lull gate: pause of " + actual + " ms, predicted " + predicted + ", at most " + most + ", halfway " + halfway + ", kind " + kind + "; 0 answered in all, 0 kept now, 7 rounds";
    }

    @Test
    void pausesOfAKindAfterTheFirstOnes() {
        List<String> lines = new ArrayList<>(List.of("ready", "lull gate: stands before sun.nio.ch.Net.accept"));
        for (int i = 0; i < Prediction.LEARNING; i++) {
            lines.add(line("Full", 100, 1, 2));
            lines.add(line("no collection", 1, 1, 1));
        }
        lines.add(line("Full", 100, 97, 99, 103));
        lines.add(line("Full", 100, 101, 110));
        lines.add(line("Young", 5, 5, 6));
        Map<String, List<Prediction>> read = Prediction.read(lines);
        assertEquals(List.of("Full"), List.copyOf(read.keySet()));
        Prediction.Summary summary = Prediction.Summary.of(read.get("Full"));
        assertEquals(2, summary.pauses());
        assertEquals(50, summary.within2());
        assertEquals(100, summary.within4());
        assertEquals(50, summary.over());
        assertEquals(100, summary.median());
        assertEquals(50, summary.within2Halfway());
    }
}
