// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Each relative link leads to a file and an anchor that are there; each external one is well-formed. Nothing is fetched. */
final class Links {
    private static final Pattern LINK =
            Pattern.compile("\\[(?:[^\\[\\]]|\\[[^\\[\\]]*\\])*\\]\\(\\s*([^()\\s]*(?:\\([^()]*\\)[^()\\s]*)*)\\s*(?:\"[^\"]*\"\\s*)?\\)");
    private static final Pattern REFERENCE = Pattern.compile("\\]\\[|^ {0,3}\\[[^\\]]+\\]: ", Pattern.MULTILINE);
    private static final Pattern AUTOMATIC = Pattern.compile("<([a-z][a-z+.-]*:[^>]*)>");

    private Links() { }

    static void check(Path root, Page page, Map<Path, Page> pages, Problems problems) {
        Matcher reference = REFERENCE.matcher(page.prose);
        if (reference.find()) {
            problems.add(page, page.lineAt(reference.start()), "link", "write [text](target): links by reference are not checked");
        }
        for (Pattern kind : new Pattern[] {LINK, AUTOMATIC}) {
            Matcher link = kind.matcher(page.prose);
            while (link.find()) {
                String target = link.group(1);
                String wrong = target.matches("[a-z][a-z+.-]*:.*") ? external(target) : relative(root, page, pages, target);
                if (wrong != null) {
                    problems.add(page, page.lineAt(link.start(1)), "link", wrong);
                }
            }
        }
    }

    private static String external(String target) {
        try {
            URI uri = new URI(target);
            boolean web = "https".equals(uri.getScheme()) || "http".equals(uri.getScheme());
            return web && uri.getHost() != null && uri.getHost().contains(".") ? null : target + " is not https://host.domain/...";
        } catch (URISyntaxException e) {
            return target + " is no address: " + e.getReason();
        }
    }

    private static String relative(Path root, Page page, Map<Path, Page> pages, String target) {
        int hash = target.indexOf('#');
        String file = hash < 0 ? target : target.substring(0, hash);
        Path path = file.isEmpty() ? page.path : page.path.resolveSibling(file).normalize();
        if (path.isAbsolute() || path.startsWith("..") || !Files.exists(root.resolve(path))) {
            return target + ": there is no " + path;
        }
        if (hash < 0) {
            return null;
        }
        Page other = pages.get(path);
        String anchor = target.substring(hash + 1);
        if (other == null || !other.anchors.contains(anchor)) {
            return target + ": there is no heading #" + anchor + " in " + path;
        }
        return null;
    }
}
