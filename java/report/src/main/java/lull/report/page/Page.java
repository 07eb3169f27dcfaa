// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report.page;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A page in one file: no network, no script, legible in light and dark and on narrow and wide screens. Well-formed XML. */
public final class Page {
    /** Characters of code that fit a screen of 400 pixels, in a list. */
    private static final int LONGEST = 34;

    private final Markup body = new Markup();
    private final Markup contents = new Markup();
    private final String title;
    private final Palette palette;
    private final List<String> ids = new ArrayList<>();

    /** A word for a colour of the palette and a style: {@code line}, {@code dot}, {@code area} or another class. */
    public record Key(String colour, String style, String word) { }

    /** Starts a page, whose pictures have these colours. */
    public Page(String title, Palette palette) {
        this.title = title;
        this.palette = palette;
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

    /** Starts a part that the contents do not lead to: a heading may be there twice. */
    public Page heading(String heading) {
        body.element("h2", heading).line();
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

    /** Adds a picture in a frame, with its heading, a note that says how to read it (may be empty), and its keys. */
    public Page picture(String heading, String note, List<Key> keys, Markup picture) {
        card("", heading);
        if (!note.isEmpty()) {
            note(note);
        }
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
                + "<title>" + escaped + "</title><style>\n" + palette.style() + "</style></head>\n<body>\n<h1>" + escaped + "</h1>\n"
                + (ids.isEmpty() ? "" : "<nav>\n" + contents + "</nav>\n")
                + body + "</body>\n</html>\n";
    }
}
