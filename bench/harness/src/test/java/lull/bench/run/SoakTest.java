// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import lull.report.gclog.GcLog;
import org.junit.jupiter.api.Test;

class SoakTest {
    private static final Server.End ORDINARY = new Server.End(0, false);

    private static List<String> failures(long begun, long answers, long unanswered, long errors, Server.End end, long requests) {
        Map<String, Object> closed = Map.of("name", "closed", "requests", begun, "answers", answers, "unanswered", unanswered);
        Trial trial = new Trial(null, 64, List.of(), List.of(), Map.of("phases", List.of(closed), "errors", errors), List.of(), GcLog.parse(Stream.of()), 0, end);
        return Soak.failures(trial, requests);
    }

    @Test
    void passesWhenAllIsAnswered() {
        assertEquals(List.of(), failures(100, 100, 0, 0, ORDINARY, 100));
        assertEquals(List.of(), failures(73, 73, 0, 0, ORDINARY, 0));
    }

    @Test
    void whatIsNotAnsweredFails() {
        assertEquals(List.of("4 requests not done"), failures(73, 69, 4, 0, ORDINARY, 0));
        assertEquals(List.of("31 requests not done"), failures(73, 69, 4, 0, ORDINARY, 100));
        assertEquals(List.of("1 errors"), failures(100, 99, 0, 1, ORDINARY, 100));
        // That of a first request, which is not measured.
        assertEquals(List.of("1 errors"), failures(100, 100, 0, 1, ORDINARY, 100));
        assertEquals(List.of("no answer"), failures(0, 0, 0, 0, ORDINARY, 0));
    }

    /** As of a debug build that finds something when it stops. */
    @Test
    void aServerThatDoesNotStopAsItShouldFails() {
        assertEquals(List.of("the server stopped with exit code 134"), failures(100, 100, 0, 0, new Server.End(134, false), 100));
        assertEquals(List.of("the server did not stop within 20 s and was killed"), failures(100, 100, 0, 0, new Server.End(137, true), 100));
    }
}
