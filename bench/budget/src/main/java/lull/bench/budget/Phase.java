// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.budget;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import lull.bench.util.Cli;

/**
 * What the service does for some time.
 *
 * @param kind what
 * @param seconds how long
 */
record Phase(Kind kind, int seconds) {
    /** What is done in a phase. */
    enum Kind {
        /** Documents are added to a new index, beside long-lived data: a larger heap makes that faster. */
        INGEST,
        /** The index is searched, and nearly nothing allocated: a larger page cache makes that faster. */
        SEARCH,
        /** The index is searched by requests that allocate much, beside long-lived data: both are needed. */
        MIXED;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Reads phases, as {@code ingest:60,search:90}. */
    static List<Phase> parse(String text) {
        List<Phase> phases = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            String[] pair = part.split(":", -1);
            if (pair.length != 2) {
                throw new Cli.UsageException("'" + part + "' is no phase: give its kind and its seconds, as search:90");
            }
            if (!phases.isEmpty() && phases.getLast().kind() == kind(pair[0])) {
                throw new Cli.UsageException("the phase " + pair[0] + " follows itself: make it one that is longer");
            }
            phases.add(new Phase(kind(pair[0]), (int) Cli.number("the length of the phase " + pair[0], pair[1], 2, 86_400)));
        }
        return phases;
    }

    private static Kind kind(String word) {
        for (Kind kind : Kind.values()) {
            if (kind.word().equals(word)) {
                return kind;
            }
        }
        throw new Cli.UsageException("there is no phase '" + word + "': there are ingest, search and mixed");
    }
}
