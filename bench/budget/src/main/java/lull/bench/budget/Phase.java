// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.budget;

import java.util.ArrayList;
import java.util.List;
import lull.bench.util.Cli;

/**
 * What a service does for some time.
 *
 * @param kind what
 * @param seconds how long
 */
public record Phase(String kind, int seconds) {

    /** Reads phases of these {@code kinds}, as {@code ingest:60,search:90}. */
    public static List<Phase> parse(String text, List<String> kinds) {
        List<Phase> phases = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            String[] pair = part.split(":", -1);
            if (pair.length != 2) {
                throw new Cli.UsageException("'" + part + "' is no phase: give its kind and its seconds, as " + kinds.getFirst() + ":90");
            }
            if (!kinds.contains(pair[0])) {
                throw new Cli.UsageException("there is no phase '" + pair[0] + "': there are " + String.join(", ", kinds));
            }
            if (!phases.isEmpty() && phases.getLast().kind().equals(pair[0])) {
                throw new Cli.UsageException("the phase " + pair[0] + " follows itself: make it one that is longer");
            }
            phases.add(new Phase(pair[0], (int) Cli.number("the length of the phase " + pair[0], pair[1], 2, 86_400)));
        }
        return phases;
    }
}
