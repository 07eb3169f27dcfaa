// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.service;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import lull.bench.util.Cli;

/** The preparing process: makes the data of one service. */
public final class PrepareMain {
    private static final String USAGE = "PrepareMain --service NAME --data DIR [--openjdk DIR]";

    private PrepareMain() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("service", "data", "openjdk"), args, cli -> {
            Path data = Path.of(cli.text("data"));
            Files.createDirectories(data);
            String openjdk = cli.text("openjdk", "");
            Services.find(cli.text("service")).prepare(data, openjdk.isEmpty() ? Map.of() : Map.of("openjdk", openjdk));
            return 0;
        });
    }
}
