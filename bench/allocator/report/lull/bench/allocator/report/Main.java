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
        Study study = Study.read(directory);
        TextTable claims = new Claims(study).table();
        List<TextTable> tables = new Tables(study).all();
        StringBuilder text = new StringBuilder();
        for (List<String> row : claims.rows().subList(1, claims.rows().size())) {
            text.append(row.get(0)).append("\n  thesis  ").append(row.get(1)).append("\n  ours    ").append(row.get(2)).append("\n  holds   ").append(row.get(3)).append("\n");
        }
        for (TextTable table : tables) {
            text.append('\n').append(table);
        }
        Files.writeString(directory.resolve("claims.txt"), text);
        Files.writeString(directory.resolve("index.html"), new StudyPage(study).write(claims, tables).toString());
        System.out.print(text);
    }
}
