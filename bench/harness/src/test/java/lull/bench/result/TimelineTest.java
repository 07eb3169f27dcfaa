// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import lull.bench.result.Timeline.Heap;
import lull.bench.result.Timeline.Local;
import lull.bench.result.Timeline.Pause;
import lull.bench.result.Timeline.Resident;
import lull.bench.util.Json;
import org.junit.jupiter.api.Test;

class TimelineTest {
    @Test
    void isReadAsItWasWritten() {
        Timeline timeline = new Timeline(20.5, Double.NaN, List.of(new Pause(1.25, 3.5, true)),
                List.of(new Heap(1, 60, 80), new Heap(1.25, 20, Double.NaN)), List.of(new Resident(0.5, 123.25)));
        assertEquals(timeline, Timeline.of(Json.parseObject(Json.line(timeline.json()))));
        Timeline local = new Timeline(20.5, 8, List.of(), List.of(), List.of(), List.of(new Local(0.5, 12.25), new Local(1, 0)));
        assertEquals(local, Timeline.of(Json.parseObject(Json.line(local.json()))));
        assertEquals(local, local.thinned());
        assertThrows(IllegalArgumentException.class, () -> Timeline.of(Map.of("seconds", 1.0)));
    }

    /** 30 s have 300 places of 100 ms. */
    @Test
    void keepsTheLongestPausesAndTheExtremesOfTheHeap() {
        List<Pause> pauses = new ArrayList<>();
        List<Heap> heap = new ArrayList<>();
        for (int i = 0; i < 3000; i++) {
            pauses.add(new Pause(i / 100.0 + 0.001, i % 10 == 7 ? 50 : 1, i % 10 == 7));
            heap.add(new Heap(i / 100.0 + 0.001, 10 + i % 10, 40));
        }
        Timeline thinned = new Timeline(30, 10, pauses, heap, List.of()).thinned();
        assertEquals(300, thinned.pauses().size());
        assertTrue(thinned.pauses().stream().allMatch(p -> p.millis() == 50 && p.full()));
        assertEquals(600, thinned.heap().size());
        assertEquals(List.of(10.0, 19.0), thinned.heap().subList(0, 2).stream().map(Heap::used).toList());
        assertEquals(thinned, thinned.thinned());
        // What is few is kept.
        Timeline few = new Timeline(30, 10, pauses.subList(0, 1), heap.subList(0, 1), List.of());
        assertEquals(few, few.thinned());
    }
}
