// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report.page;

import java.util.List;

/**
 * A picture over the time of the recording, as an SVG element. Its colours are classes of the page's style sheet, so light and dark
 * both work; its units are pixels of a picture {@link #WIDTH} wide, which the page scales.
 */
public final class Picture {
    private static final double WIDTH = 480;
    private static final double HEIGHT = 208;
    private static final double LEFT = 58;
    private static final double RIGHT = WIDTH - 12;
    private static final double TOP = 30;
    private static final double BOTTOM = HEIGHT - 36;

    private final Markup svg = new Markup();
    private final Axis x;
    private final Axis y;

    /** A value at a time, in seconds. */
    public record Point(double time, double value) { }

    private Picture(String description, double seconds, Axis y, String unit) {
        this.x = Axis.linear(seconds, LEFT, RIGHT);
        this.y = y;
        svg.open("svg", "viewBox", "0 0 " + Markup.coordinate(WIDTH) + " " + Markup.coordinate(HEIGHT), "role", "img", "aria-label",
                description,
                "xmlns", "http://www.w3.org/2000/svg");
        for (double mark : y.marks(5)) {
            svg.empty("line", "class", "grid", "x1", LEFT, "x2", RIGHT, "y1", y.at(mark), "y2", y.at(mark));
            svg.element("text", Axis.label(mark), "class", "mark", "x", LEFT - 6, "y", y.at(mark) + 4, "text-anchor", "end");
        }
        svg.element("text", unit, "class", "mark", "x", LEFT - 6, "y", 12.0, "text-anchor", "end");
        svg.empty("line", "class", "axis", "x1", LEFT, "x2", RIGHT, "y1", BOTTOM, "y2", BOTTOM);
        for (double mark : x.marks(6)) {
            svg.empty("line", "class", "axis", "x1", x.at(mark), "x2", x.at(mark), "y1", BOTTOM, "y2", BOTTOM + 4);
            svg.element("text", Axis.label(mark), "class", "mark", "x", x.at(mark), "y", BOTTOM + 17, "text-anchor", "middle");
        }
        svg.element("text", "seconds", "class", "mark", "x", (LEFT + RIGHT) / 2, "y", BOTTOM + 32, "text-anchor", "middle").line();
    }

    /** A picture whose vertical axis goes from 0 to {@code most}. */
    public static Picture linear(String description, double seconds, double most, String unit) {
        return new Picture(description, seconds, Axis.linear(most * 1.08, BOTTOM, TOP), unit);
    }

    /** A picture whose vertical axis is logarithmic; {@code least} is above 0. */
    public static Picture log(String description, double seconds, double least, double most, String unit) {
        return new Picture(description, seconds, Axis.log(least, most, BOTTOM, TOP), unit);
    }

    /** Draws a line through points. */
    public Picture line(String classes, List<Point> points) {
        if (!points.isEmpty()) {
            svg.empty("path", "class", "line " + classes, "d", path(points)).line();
        }
        return this;
    }

    /** Fills what lies between two lines, each of points in the order of time. */
    public Picture between(String classes, List<Point> lower, List<Point> upper) {
        if (upper.size() > 1) {
            StringBuilder d = new StringBuilder(path(upper));
            for (int i = lower.size() - 1; i >= 0; i--) {
                d.append('L').append(position(lower.get(i)));
            }
            svg.empty("path", "class", "area " + classes, "d", d.append('Z')).line();
        }
        return this;
    }

    /** Draws a line from the axis up to each point. */
    public Picture stems(String classes, List<Point> points) {
        StringBuilder d = new StringBuilder();
        for (Point point : points) {
            d.append('M').append(Markup.coordinate(x.at(point.time))).append(' ').append(Markup.coordinate(BOTTOM))
                    .append('V').append(Markup.coordinate(y.at(point.value)));
        }
        if (d.length() > 0) {
            svg.empty("path", "class", "stem " + classes, "d", d).line();
        }
        return this;
    }

    /** Draws a dot at each point. */
    public Picture dots(String classes, List<Point> points) {
        for (Point point : points) {
            svg.empty("circle", "class", "dot " + classes, "cx", x.at(point.time), "cy", y.at(point.value), "r", 2.2);
        }
        svg.line();
        return this;
    }

    /** Ends the picture. */
    public Markup end() {
        return svg.close();
    }

    private String path(List<Point> points) {
        StringBuilder d = new StringBuilder();
        for (Point point : points) {
            d.append(d.length() == 0 ? 'M' : 'L').append(position(point));
        }
        return d.toString();
    }

    private String position(Point point) {
        return Markup.coordinate(x.at(point.time)) + " " + Markup.coordinate(y.at(point.value));
    }
}
