// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.report;

import java.util.List;

/**
 * A page in one file: no network, no script, legible in light and dark and on narrow and wide screens. It is written as XHTML syntax
 * that every HTML reader takes, so that tests can check that it is well-formed.
 */
public final class Page {
    private static final String STYLE = """
            :root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --rule: #d9dee5; --paper: #ffffff; --card: #f6f8fa;
              --lull: #0b7a75; --whole: #2f9e44; --global: #0097c4; --tracking: #5a8f52; --barrier: #7d8f8c;
              --g1: #c2570c; --parallel: #6d4bc3; --serial: #4a6b1f; --zgc: #b3246b; --shenandoah: #1f5fbf;
              --epsilon: #6b6458; --base: #a38a00; --other: #8a3324; }
            @media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa6b5; --rule: #343d49; --paper: #12161c; --card: #1a2029;
              --lull: #3fc9bf; --whole: #8ce99a; --global: #6fdcff; --tracking: #9fd795; --barrier: #b0c4c1;
              --g1: #ff9a52; --parallel: #b49bff; --serial: #a8cc6d; --zgc: #ff7fb8; --shenandoah: #7fb2ff;
              --epsilon: #b5ad9e; --base: #e3cc4a; --other: #e08a78; } }
            * { box-sizing: border-box; }
            body { margin: 0 auto; padding: 20px 16px 48px; max-width: 1240px; background: var(--paper); color: var(--ink);
              font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
            h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .6rem; }
            h3 { font-size: 1rem; margin: 0 0 .2rem; } p { margin: .3rem 0 .6rem; max-width: 76ch; }
            .note { color: var(--soft); font-size: .88rem; margin: 0 0 .4rem; }
            .grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 460px), 1fr)); gap: 16px; margin-bottom: 16px; }
            .card { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 12px; min-width: 0; }
            .card svg { display: block; width: 100%; height: auto; }
            .scroll { overflow-x: auto; margin: .6rem 0; }
            table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
            th, td { padding: 3px 12px 3px 0; text-align: right; border-bottom: 1px solid var(--rule); }
            th:first-child, td:first-child { text-align: left; } thead th { white-space: nowrap; }
            pre { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 10px; margin: .3rem 0 .8rem;
              white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
            .key { display: inline-block; margin-right: 14px; white-space: nowrap; }
            .key i { display: inline-block; width: 22px; height: 0; border-top: 3px solid var(--c); vertical-align: middle; margin-right: 5px; }
            .key i.first, .key i.second, .key i.third, .key i.area { height: 11px; border: 0; background: var(--c); }
            .key i.thin { border-top-width: 1px; } .key i.committed { border-top: 2px dashed var(--soft); }
            .second { opacity: .55; } .third { opacity: .25; } .key i.area { opacity: .25; }
            .lull { --c: var(--lull); } .lull-whole { --c: var(--whole); } .lull-global { --c: var(--global); } .lull-tracking { --c: var(--tracking); } .lull-barrier { --c: var(--barrier); }
            .g1 { --c: var(--g1); } .parallel { --c: var(--parallel); } .serial { --c: var(--serial); }
            .zgc { --c: var(--zgc); } .shenandoah { --c: var(--shenandoah); } .plain { --c: var(--soft); }
            .epsilon { --c: var(--epsilon); } .g1-base { --c: var(--base); } .other { --c: var(--other); }
            .never { --c: var(--serial); } .deferred { --c: var(--g1); } .immediate { --c: var(--lull); }
            .key i.traverse { border-top-style: dashed; } .key i.bitmap { border-top-style: dotted; }
            svg text { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink); }
            svg text.mark, svg text.unit { fill: var(--soft); } svg text.name { font-weight: 600; font-size: 13px; } svg text.value { font-size: 13px; }
            svg .grid { stroke: var(--rule); } svg .axis { stroke: var(--soft); } svg .rule { stroke: var(--soft); stroke-dasharray: 4 4; }
            svg .line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; } svg .line.thin { stroke-width: 1; opacity: .85; }
            svg .line.traverse { stroke-dasharray: 6 4; } svg .line.bitmap { stroke-dasharray: 2 3; }
            svg .line.strong { stroke-width: 2.4; } svg .line.committed { stroke: var(--soft); stroke-width: 1.4; stroke-dasharray: 5 4; }
            svg .area { fill: var(--c); opacity: .2; } svg .stem { stroke: var(--c); stroke-width: 1.5; fill: none; } svg .dot { fill: var(--c); }
            svg .bar { fill: var(--c); }
            @media (max-width: 560px) { svg text, svg text.name, svg text.value { font-size: 14.5px; } }
            """;

    /** The style sheet of pages and of pictures that stand alone. */
    static String style() {
        return STYLE;
    }

    private final Markup body = new Markup();
    private final String title;

    public Page(String title) {
        this.title = title;
        body.text("h1", title).line();
    }

    public Page heading(String text) {
        body.text("h2", text).line();
        return this;
    }

    public Page paragraph(String text) {
        body.text("p", text).line();
        return this;
    }

    public Page note(String text) {
        body.text("p", text, "class", "note").line();
        return this;
    }

    /** Adds text as it would stand in a terminal; long lines wrap. */
    public Page terminal(String text) {
        body.text("pre", text).line();
        return this;
    }

    /** Adds a table; the first row is its heading. It scrolls sideways where it is too wide. */
    public Page table(TextTable table) {
        List<List<String>> rows = table.rows();
        body.open("div", "class", "scroll").open("table").open("thead").open("tr");
        rows.getFirst().forEach(cell -> body.text("th", cell));
        body.close().close().open("tbody").line();
        for (List<String> row : rows.subList(1, rows.size())) {
            body.open("tr");
            row.forEach(cell -> body.text("td", cell));
            body.close().line();
        }
        body.close().close().close().line();
        return this;
    }

    /** Starts a group of pictures, which stand beside each other where there is room. */
    public Page startGrid() {
        body.open("div", "class", "grid").line();
        return this;
    }

    public Page endGrid() {
        body.close().line();
        return this;
    }

    /** Adds a picture with its title, a note (may be empty) and its keys. */
    public Page picture(String heading, String note, List<Key> keys, Markup picture) {
        body.open("div", "class", "card").text("h3", heading);
        if (!note.isEmpty()) {
            note(note);
        }
        body.open("div", "class", "note");
        for (Key key : keys) {
            body.open("span", "class", "key " + key.colour).text("i", "", "class", key.style).text(key.word).close();
        }
        body.close().add(picture).close().line();
        return this;
    }

    /** A word for a colour and style of a picture; both are classes of the style sheet. */
    public record Key(String colour, String style, String word) { }

    /** Returns the page. */
    @Override
    public String toString() {
        Markup head = new Markup();
        head.open("head").empty("meta", "charset", "utf-8").empty("meta", "name", "viewport", "content", "width=device-width, initial-scale=1")
                .text("title", title);
        String style = "<style>\n" + STYLE + "</style>\n";
        return "<!DOCTYPE html>\n<html lang=\"en\">\n" + head.add(new Markup()).close().toString().replace("</head>", style + "</head>") + "\n<body>\n"
                + body + "</body>\n</html>\n";
    }
}
