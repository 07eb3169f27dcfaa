// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The site as it was made: each link within it leads somewhere, and it can be searched. */
final class Site {
    private static final Pattern LINK = Pattern.compile("(?:href|src)=\"([^\"]*)\"");
    private static final Pattern ID = Pattern.compile("\\bid=\"([^\"]*)\"");

    private final Path site;
    private final Map<Path, String> texts = new TreeMap<>();
    private int wrong;

    Site(Path site) {
        this.site = site;
    }

    /** How many links lead nowhere. */
    int check() throws IOException {
        boolean searched = false;
        try (Stream<Path> files = Files.walk(site)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                String name = file.getFileName().toString();
                searched |= name.startsWith("searchindex") && Files.size(file) > 100_000;
                // These two are read at another address than their own.
                if (name.endsWith(".html") && !name.equals("404.html") && !name.equals("toc.html")) {
                    texts.put(file, Files.readString(file));
                }
            }
        }
        if (!searched) {
            report(site, "there is no index for searches");
        }
        for (Path file : texts.keySet()) {
            Matcher link = LINK.matcher(texts.get(file).replaceAll("(?s)<pre.*?</pre>|<script.*?</script>", ""));
            while (link.find()) {
                follow(file, link.group(1));
            }
        }
        System.out.println(texts.size() + " pages of the site, " + wrong + " problems");
        return wrong;
    }

    private void follow(Path from, String target) {
        if (target.isEmpty() || target.matches("(?:[a-z]+:|//).*")) {
            return;
        }
        int hash = target.indexOf('#');
        String path = hash < 0 ? target : target.substring(0, hash);
        Path to = path.isEmpty() ? from : from.resolveSibling(path).normalize();
        if (!Files.isRegularFile(to)) {
            report(from, target + " leads nowhere");
        } else if (hash >= 0 && hash + 1 < target.length() && texts.containsKey(to)) {
            if (!ids(to).contains(target.substring(hash + 1))) {
                report(from, target + " leads to no heading");
            }
        }
    }

    private final Map<Path, Set<String>> known = new TreeMap<>();

    private Set<String> ids(Path page) {
        return known.computeIfAbsent(page, p -> {
            Set<String> ids = new HashSet<>();
            Matcher id = ID.matcher(texts.get(p));
            while (id.find()) {
                ids.add(id.group(1));
            }
            return ids;
        });
    }

    private void report(Path from, String what) {
        wrong++;
        System.out.println(site.relativize(from) + ": site: " + what);
    }
}
