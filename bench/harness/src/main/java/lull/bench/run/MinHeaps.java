// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import lull.bench.util.Cli;

/** The smallest heap of each collector for one service, as a line of a file of comma-separated values, with its head. See {@code bench/minheap.sh}. */
public final class MinHeaps {
    private static final String USAGE = "minheap.sh (no arguments; settings are environment variables, see `minheap.sh --help`)";

    private MinHeaps() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("to"), args, cli -> run(Settings.of(System.getenv()), Path.of(cli.text("to"))));
    }

    private static int run(Settings settings, Path file) throws Exception {
        Workload workload = new Workload(settings, settings.text("SERVICE", "compile"));
        List<String> head = new ArrayList<>(List.of("service"));
        List<String> line = new ArrayList<>(List.of(workload.service()));
        int code = 0;
        for (Collector collector : Collector.of(settings, settings.words("COLLECTORS", "lull g1 parallel serial zgc shenandoah"))) {
            workload.prepare(collector.java());
            head.add(collector.label());
            OptionalInt smallest = MinHeap.findOrWarn(settings, workload, collector);
            line.add(smallest.isPresent() ? "" + smallest.getAsInt() : "does not run");
            code = smallest.isPresent() ? code : 1;
            // After each, so that what is interrupted is not lost.
            Files.writeString(file, String.join(",", head) + "\n" + String.join(",", line) + "\n");
        }
        return code;
    }
}
