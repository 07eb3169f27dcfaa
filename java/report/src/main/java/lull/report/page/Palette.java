// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report.page;

import java.util.List;

/**
 * The colours of a page and of its pictures, each for light and dark, and the style sheet with them. A colour's word
 * is a class: what has it is drawn in that colour. {@code plain} is the colour of soft letters.
 */
public record Palette(List<Colour> colours) {
    /** {@code word} is a class of the style sheet; {@code light} and {@code dark} are written as {@code #rrggbb}. */
    public record Colour(String word, String light, String dark) { }

    private static final String LIGHT = "--ink: #1c2430; --soft: #5b6675; --rule: #d9dee5;"
            + " --paper: #ffffff; --card: #f6f8fa; --accent: #0b7a75;";
    private static final String DARK = "--ink: #e6eaf0; --soft: #9aa6b5; --rule: #343d49;"
            + " --paper: #12161c; --card: #1a2029; --accent: #3fc9bf;";
    private static final String SHAPES = """
            * { box-sizing: border-box; }
            body { margin: 0 auto; padding: 20px 16px 48px; max-width: 1240px; background: var(--paper);
              color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
            h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; overflow-wrap: anywhere; }
            h2 { font-size: 1.2rem; margin: 2rem 0 .6rem; }
            h3 { font-size: 1rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
            p, li { margin: .3rem 0 .6rem; max-width: 76ch; }
            ul { padding-left: 1.3rem; }
            a { color: var(--accent); }
            nav { margin: .6rem 0 1rem; }
            nav a { margin-right: 14px; white-space: nowrap; }
            code { font: .88em ui-monospace, "DejaVu Sans Mono", monospace; white-space: nowrap; }
            code.long { white-space: normal; overflow-wrap: anywhere; }
            .note { color: var(--soft); font-size: .88rem; margin: 0 0 .4rem; }
            .grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 460px), 1fr));
              gap: 16px; margin-bottom: 16px; }
            .card { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 12px;
              min-width: 0; margin-bottom: 16px; }
            .grid .card { margin-bottom: 0; }
            .card.verdict { border-left: 5px solid var(--accent); }
            .card svg { display: block; width: 100%; height: auto; }
            .scroll { overflow-x: auto; margin: .6rem 0; }
            table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
            th, td { padding: 3px 14px 3px 0; text-align: right; border-bottom: 1px solid var(--rule); }
            th:first-child, td:first-child { text-align: left; }
            th { font-weight: 600; }
            pre { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 10px;
              margin: .3rem 0 .8rem; white-space: pre-wrap; overflow-wrap: anywhere;
              font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
            .plain { --c: var(--soft); }
            .second { opacity: .55; }
            .third { opacity: .25; }
            .key { display: inline-block; margin-right: 14px; white-space: nowrap; }
            .key i { display: inline-block; width: 22px; height: 0; border-top: 3px solid var(--c);
              vertical-align: middle; margin-right: 5px; }
            .key i.first, .key i.second, .key i.third, .key i.area, .key i.layer { height: 11px; border: 0;
              background: var(--c); }
            .key i.area { opacity: .25; }
            .key i.layer { opacity: .55; }
            .key i.dot { width: 8px; height: 8px; border: 0; border-radius: 4px; background: var(--c); }
            .key i.thin { border-top-width: 1px; }
            .key i.committed { border-top: 2px dashed var(--soft); }
            .key i.dashed { border-top-style: dashed; }
            .key i.dotted { border-top-style: dotted; }
            svg text { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink); }
            svg text.mark, svg text.unit { fill: var(--soft); }
            svg text.name { font-weight: 600; font-size: 13px; }
            svg text.value { font-size: 13px; }
            svg .grid { stroke: var(--rule); }
            svg .axis { stroke: var(--soft); }
            svg .rule { stroke: var(--soft); stroke-dasharray: 4 4; }
            svg .line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; }
            svg .line.thin { stroke-width: 1; opacity: .85; }
            svg .line.dashed { stroke-dasharray: 6 4; }
            svg .line.dotted { stroke-dasharray: 2 3; }
            svg .line.strong { stroke-width: 2.4; }
            svg .line.committed { stroke: var(--soft); stroke-width: 1.4; stroke-dasharray: 5 4; }
            svg .area { fill: var(--c); opacity: .2; }
            svg .layer { fill: var(--c); opacity: .55; }
            svg .stem { stroke: var(--c); stroke-width: 1.5; fill: none; }
            svg .dot, svg .bar { fill: var(--c); }
            @media (max-width: 560px) { svg text, svg text.name, svg text.value { font-size: 14.5px; } }
            """;

    /** A palette of these. */
    public static Palette of(Colour... colours) {
        return new Palette(List.of(colours));
    }

    /** The style sheet of pages and of pictures that stand alone. */
    String style() {
        StringBuilder light = new StringBuilder(LIGHT);
        StringBuilder dark = new StringBuilder(DARK);
        StringBuilder classes = new StringBuilder();
        for (Colour colour : colours) {
            light.append(" --").append(colour.word).append(": ").append(colour.light).append(';');
            dark.append(" --").append(colour.word).append(": ").append(colour.dark).append(';');
            classes.append('.').append(colour.word).append(" { --c: var(--").append(colour.word).append("); }\n");
        }
        return ":root { color-scheme: light dark; " + light + " }\n"
                + "@media (prefers-color-scheme: dark) { :root { " + dark + " } }\n" + SHAPES + classes;
    }
}
