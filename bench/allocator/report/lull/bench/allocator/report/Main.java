// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.allocator.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import lull.bench.report.TextTable;

/** Makes the page and the table of claims of the study whose CSV files are in a directory. */
public final class Main {
    private Main() { }

    public static void main(String[] args) throws IOException {
        if (args.length != 1) {
            System.err.println("error: the directory of a study is missing; bench/allocator/study.sh makes one");
            System.exit(2);
        }
        Path directory = Path.of(args[0]);
        Study replay = Study.read(directory);
        StudyPage page = new StudyPage();
        StringBuilder text = new StringBuilder();
        page.introduce();
        part(replay, "Replayed", page, text);
        Path hotspot = directory.resolve("hotspot");
        if (Files.exists(hotspot.resolve("lists.csv"))) {
            part(Study.read(hotspot), "In HotSpot", page, text);
        }
        Files.writeString(directory.resolve("claims.txt"), text);
        Files.writeString(directory.resolve("index.html"), page.toString());
        System.out.print(text);
    }

    private static void part(Study study, String name, StudyPage page, StringBuilder text) {
        TextTable claims = new Claims(study).table();
        List<TextTable> tables = new Tables(study).all();
        text.append(text.isEmpty() ? "" : "\n").append("== ").append(name).append("\n\n");
        for (List<String> row : claims.rows().subList(1, claims.rows().size())) {
            text.append(row.get(0)).append("\n  thesis  ").append(row.get(1)).append("\n  ours    ").append(row.get(2)).append("\n  holds   ").append(row.get(3)).append("\n");
        }
        for (TextTable table : tables) {
            text.append('\n').append(table);
        }
        page.part(study, name, claims, tables);
    }
}
