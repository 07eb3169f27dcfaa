// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.service;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import lull.bench.util.Cli;

/** The preparing process: makes the data of one service. */
public final class PrepareMain {
    private static final String USAGE = "PrepareMain --service NAME --data DIR [--openjdk DIR] [--options 'NAME=VALUE ...']";

    private PrepareMain() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("service", "data", "openjdk", "options"), args, cli -> {
            Path data = Path.of(cli.text("data"));
            Files.createDirectories(data);
            Map<String, String> options = Options.parse(cli.text("options", ""));
            if (!cli.text("openjdk", "").isEmpty()) {
                options.put("openjdk", cli.text("openjdk"));
            }
            Services.find(cli.text("service")).prepare(data, options);
            return 0;
        });
    }
}
