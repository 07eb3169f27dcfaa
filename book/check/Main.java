// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * The check of the pages. Prints what is wrong, a line each, and a sum; exit status 1 if anything is.
 *
 * <pre>
 *   check ROOT [OPENJDK]   all pages of a repository; with OpenJDK's source also the list of its names
 *   stage ROOT DIR         writes to DIR what mdBook makes the site of
 *   site DIR               a site that was made
 * </pre>
 */
final class Main {
    private Main() { }

    public static void main(String[] args) throws IOException {
        int wrong = switch (args[0]) {
            case "check" -> check(Path.of(args[1]).toRealPath(), args.length > 2 ? Path.of(args[2]) : null);
            case "stage" -> stage(Path.of(args[1]).toRealPath(), Path.of(args[2]));
            case "site" -> new Site(Path.of(args[1])).check();
            default -> throw new IllegalArgumentException("check, stage or site, not " + args[0]);
        };
        System.exit(wrong == 0 ? 0 : 1);
    }

    private static int check(Path root, Path openjdk) throws IOException {
        Problems problems = new Problems();
        Sources sources = new Sources(root);
        Map<Path, Page> pages = pages(root, sources);
        Upstream upstream = new Upstream(root.resolve("book/upstream-names.txt"));
        if (openjdk != null) {
            upstream.check(openjdk);
        }
        Commands commands = new Commands(sources, upstream, problems);
        for (Page page : pages.values()) {
            Links.check(root, page, pages, problems);
            Style.check(page, problems);
            commands.check(page);
        }
        Style.checkIndex(pages, problems);
        Complete.check(sources, pages, problems);
        Mentions.check(sources, pages, problems);
        problems.print();
        int wrong = problems.count() + upstream.wrong();
        System.out.println(pages.size() + " pages, " + wrong + " problems");
        return wrong;
    }

    private static int stage(Path root, Path to) throws IOException {
        Sources sources = new Sources(root);
        new Stage(root, pages(root, sources), to).write(sources.files());
        return 0;
    }

    private static Map<Path, Page> pages(Path root, Sources sources) throws IOException {
        Map<Path, Page> pages = new TreeMap<>();
        for (Path path : sources.files()) {
            if (path.toString().endsWith(".md") && !path.startsWith("book/test")) {
                pages.put(path, new Page(path, root.resolve(path)));
            }
        }
        return pages;
    }
}
