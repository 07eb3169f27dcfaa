// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report.page;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A page in one file: no network, no script, legible in light and dark and on narrow and wide screens. Well-formed XML. */
public final class Page {
    private static final String STYLE = """
            :root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --rule: #d9dee5; --paper: #ffffff; --card: #f6f8fa;
              --lull: #0b7a75; --global: #0097c4; --published: #c2570c; --other: #6d4bc3; --fourth: #4a6b1f; }
            @media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa6b5; --rule: #343d49; --paper: #12161c; --card: #1a2029;
              --lull: #3fc9bf; --global: #6fdcff; --published: #ff9a52; --other: #b49bff; --fourth: #a8cc6d; } }
            * { box-sizing: border-box; }
            body { margin: 0 auto; padding: 20px 16px 48px; max-width: 1240px; background: var(--paper); color: var(--ink);
              font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
            h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; overflow-wrap: anywhere; } h2 { font-size: 1.2rem; margin: 2rem 0 .6rem; }
            h3 { font-size: 1rem; margin: 0 0 .2rem; overflow-wrap: anywhere; } p, li { margin: .3rem 0 .6rem; max-width: 76ch; }
            ul { padding-left: 1.3rem; } a { color: var(--lull); } nav { margin: .6rem 0 1rem; } nav a { margin-right: 14px; white-space: nowrap; }
            code { font: .88em ui-monospace, "DejaVu Sans Mono", monospace; white-space: nowrap; }
            code.long { white-space: normal; overflow-wrap: anywhere; }
            .note { color: var(--soft); font-size: .88rem; margin: 0 0 .4rem; }
            .grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 460px), 1fr)); gap: 16px; margin-bottom: 16px; }
            .card { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 12px; min-width: 0; margin-bottom: 16px; }
            .grid .card { margin-bottom: 0; } .card.verdict { border-left: 5px solid var(--lull); }
            .card svg { display: block; width: 100%; height: auto; }
            .scroll { overflow-x: auto; margin: .6rem 0; }
            table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
            th, td { padding: 3px 16px 3px 0; text-align: right; border-bottom: 1px solid var(--rule); }
            th:first-child, td:first-child { text-align: left; } th { font-weight: 600; }
            pre { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 10px; margin: .3rem 0 .8rem;
              white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
            .key { display: inline-block; margin-right: 14px; white-space: nowrap; }
            .key i { display: inline-block; width: 22px; height: 0; border-top: 3px solid var(--c); vertical-align: middle; margin-right: 5px; }
            .key i.dot { width: 8px; height: 8px; border: 0; border-radius: 4px; background: var(--c); } .key i.area { height: 11px; border: 0; background: var(--c); opacity: .55; } .key i.committed { border-top: 2px dashed var(--soft); }
            .lull { --c: var(--lull); } .global { --c: var(--global); } .published { --c: var(--published); } .other { --c: var(--other); }
            .fourth { --c: var(--fourth); } .plain { --c: var(--soft); }
            svg text { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--soft); }
            svg .grid { stroke: var(--rule); } svg .axis { stroke: var(--soft); }
            svg .line { fill: none; stroke: var(--c); stroke-width: 1.5; stroke-linejoin: round; }
            svg .line.committed { stroke: var(--soft); stroke-width: 1.4; stroke-dasharray: 5 4; }
            svg .area { fill: var(--c); opacity: .55; } svg .stem { stroke: var(--c); stroke-width: 1.5; fill: none; } svg .dot { fill: var(--c); }
            @media (max-width: 560px) { svg text { font-size: 14.5px; } }
            """;

    /** Characters of code that fit a screen of 400 pixels, in a list. */
    private static final int LONGEST = 34;

    private final Markup body = new Markup();
    private final Markup contents = new Markup();
    private final String title;
    private final List<String> ids = new ArrayList<>();

    /** A word for a colour and style of a picture; both are classes of the style sheet. */
    public record Key(String colour, String style, String word) { }

    /** Starts a page. */
    public Page(String title) {
        this.title = title;
    }

    /** Starts a section, which the contents lead to. */
    public Page section(String heading) {
        String id = heading.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
        if (ids.contains(id)) {
            throw new IllegalArgumentException("two sections are named " + id);
        }
        ids.add(id);
        body.element("h2", heading, "id", id).line();
        contents.element("a", heading, "href", "#" + id).line();
        return this;
    }

    /** Adds a paragraph. Text between back quotes is code. */
    public Page paragraph(String text) {
        return paragraph(text, "plain-text");
    }

    /** Adds a paragraph in small letters. */
    public Page note(String text) {
        return paragraph(text, "note");
    }

    private Page paragraph(String text, String style) {
        body.open("p", "class", style);
        words(text);
        body.close().line();
        return this;
    }

    private void words(String text) {
        String[] parts = text.split("`", -1);
        for (int i = 0; i < parts.length; i++) {
            if (i % 2 == 0) {
                body.text(parts[i]);
            } else {
                code(parts[i]);
            }
        }
    }

    /** Lines break between words of code; inside of one, which a browser would do behind a hyphen, only where it fits no narrow screen. */
    private void code(String text) {
        String between = "";
        for (String word : text.split(" ")) {
            body.text(between);
            if (word.length() > LONGEST) {
                body.element("code", word, "class", "long");
            } else {
                body.element("code", word);
            }
            between = " ";
        }
    }

    /** Adds a list of sentences. */
    public Page list(List<String> items) {
        body.open("ul").line();
        for (String item : items) {
            body.open("li");
            words(item);
            body.close().line();
        }
        body.close().line();
        return this;
    }

    /** Adds text as a terminal shows it. */
    public Page terminal(String text) {
        body.element("pre", text).line();
        return this;
    }

    /** Adds a table; the first row is its heading. Where it is too wide it scrolls. */
    public Page table(List<List<String>> rows) {
        body.open("div", "class", "scroll").open("table").open("thead").open("tr");
        rows.get(0).forEach(cell -> body.element("th", cell));
        body.close().close().open("tbody").line();
        for (List<String> row : rows.subList(1, rows.size())) {
            body.open("tr");
            row.forEach(cell -> body.element("td", cell));
            body.close().line();
        }
        body.close().close().close().line();
        return this;
    }

    /** Starts a frame; {@code style} is empty or a class of the style sheet. */
    public Page card(String style, String heading) {
        body.open("div", "class", ("card " + style).strip()).open("h3");
        words(heading);
        body.close().line();
        return this;
    }

    /** Starts a group of pictures, side by side where there is room. */
    public Page grid() {
        body.open("div", "class", "grid").line();
        return this;
    }

    /** Ends a frame or a group. */
    public Page end() {
        body.close().line();
        return this;
    }

    /** Adds a picture in a frame, with its heading, a note that says how to read it, and its keys. */
    public Page picture(String heading, String note, List<Key> keys, Markup picture) {
        card("", heading).note(note);
        body.open("div", "class", "note");
        for (Key key : keys) {
            body.open("span", "class", "key " + key.colour).element("i", "", "class", key.style).text(key.word).close();
        }
        body.close().add(picture);
        return end();
    }

    /** The page. */
    @Override
    public String toString() {
        Markup escaped = new Markup().text(title);
        return "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"/><meta name=\"viewport\" "
                + "content=\"width=device-width, initial-scale=1\"/>"
                + "<title>" + escaped + "</title><style>\n" + STYLE + "</style></head>\n<body>\n<h1>" + escaped + "</h1>\n<nav>\n"
                + contents + "</nav>\n"
                + body + "</body>\n</html>\n";
    }
}
