// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report.page;

import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;

/**
 * One picture with two axes, as an SVG element. Colours come from the page's style sheet by class, so that light and dark both work.
 * Its units are those of a picture {@link #WIDTH} wide; the page scales it.
 */
public final class Chart {
    /** Width of every picture: letters stay legible when it is shown at 340 to 700 pixels. */
    public static final double WIDTH = 480;
    /** The coordinates of the drawing area. */
    public static final double LEFT = 58;
    public static final double RIGHT = WIDTH - 12;
    public static final double TOP = 22;

    private final Markup svg = new Markup();
    private final double bottom;
    private Scale x;
    private Scale y;

    /** A point in the chart's values. */
    public record Point(double x, double y) { }

    /** Starts a picture of {@code height}; {@code description} is for those who cannot see it. */
    public Chart(double height, String description) {
        bottom = height - 36;
        svg.open("svg", "viewBox", "0 0 " + Markup.coordinate(WIDTH) + " " + Markup.coordinate(height), "role", "img", "aria-label", description,
                "xmlns", "http://www.w3.org/2000/svg");
    }

    /** Returns the coordinate of the lower edge of the drawing area. */
    public double bottom() {
        return bottom;
    }

    /** Draws the vertical axis with horizontal grid lines; {@code unit} stands above it. */
    public Chart yAxis(Scale scale, String unit) {
        y = scale;
        for (double mark : scale.marks(4)) {
            double at = scale.at(mark);
            svg.empty("line", "class", "grid", "x1", LEFT, "x2", RIGHT, "y1", at, "y2", at);
            svg.element("text", Scale.label(mark), "class", "mark", "x", LEFT - 6, "y", at + 4, "text-anchor", "end");
        }
        svg.element("text", unit, "class", "unit", "x", LEFT - 6, "y", 10.0, "text-anchor", "end").line();
        return this;
    }

    /** Draws the horizontal axis with {@code marks}, named by {@code label}, and {@code title} below. */
    public Chart xAxis(Scale scale, List<Double> marks, DoubleFunction<String> label, String title) {
        x = scale;
        svg.empty("line", "class", "axis", "x1", LEFT, "x2", RIGHT, "y1", bottom, "y2", bottom);
        for (double mark : marks) {
            double at = scale.at(mark);
            svg.empty("line", "class", "axis", "x1", at, "x2", at, "y1", bottom, "y2", bottom + 4);
            // At the right edge there is no room for its second half.
            boolean last = at > RIGHT - 12;
            svg.element("text", label.apply(mark), "class", "mark", "x", last ? WIDTH : at, "y", bottom + 17, "text-anchor", last ? "end" : "middle");
        }
        svg.element("text", title, "class", "unit", "x", (LEFT + RIGHT) / 2, "y", bottom + 32, "text-anchor", "middle").line();
        return this;
    }

    /** Draws a line through {@code points}. */
    public Chart line(String classes, List<Point> points) {
        if (!points.isEmpty()) {
            svg.empty("path", "class", "line " + classes, "d", path(points)).line();
        }
        return this;
    }

    /** Draws the area between {@code points} and the horizontal axis. */
    public Chart area(String classes, List<Point> points) {
        if (!points.isEmpty()) {
            String d = path(points) + "L" + Markup.coordinate(x.at(points.get(points.size() - 1).x)) + " " + Markup.coordinate(bottom) + "L"
                    + Markup.coordinate(x.at(points.get(0).x)) + " " + Markup.coordinate(bottom) + "Z";
            svg.empty("path", "class", "area " + classes, "d", d).line();
        }
        return this;
    }

    /** Draws what lies between two lines; both have their points from left to right. */
    public Chart layer(String classes, List<Point> lower, List<Point> upper) {
        if (upper.size() > 1) {
            StringBuilder d = new StringBuilder(path(upper));
            for (int i = lower.size() - 1; i >= 0; i--) {
                d.append('L').append(position(lower.get(i)));
            }
            svg.empty("path", "class", "layer " + classes, "d", d.append('Z')).line();
        }
        return this;
    }

    /** Draws a vertical line from the axis up to each point. */
    public Chart stems(String classes, List<Point> points) {
        StringBuilder d = new StringBuilder();
        for (Point point : points) {
            d.append('M').append(Markup.coordinate(x.at(point.x))).append(' ').append(Markup.coordinate(bottom)).append('V')
                    .append(Markup.coordinate(y.at(point.y)));
        }
        if (!d.isEmpty()) {
            svg.empty("path", "class", "stem " + classes, "d", d).line();
        }
        return this;
    }

    /** Draws a dot at each point. */
    public Chart dots(String classes, double radius, List<Point> points) {
        for (Point point : points) {
            svg.empty("circle", "class", "dot " + classes, "cx", x.at(point.x), "cy", y.at(point.y), "r", radius);
        }
        svg.line();
        return this;
    }

    /** Draws a vertical line from {@code low} to {@code high} at each {@code x}: the interval of an estimate. */
    public Chart ranges(String classes, List<Range> ranges) {
        StringBuilder d = new StringBuilder();
        for (Range range : ranges) {
            d.append('M').append(Markup.coordinate(x.at(range.x))).append(' ').append(Markup.coordinate(y.at(range.low))).append('V')
                    .append(Markup.coordinate(y.at(range.high)));
        }
        if (!d.isEmpty()) {
            svg.empty("path", "class", "stem " + classes, "d", d).line();
        }
        return this;
    }

    /** An interval of {@link #ranges}, in the chart's values. */
    public record Range(double x, double low, double high) { }

    /** Draws a vertical rule at {@code value} with a word above it. */
    public Chart rule(double value, String word) {
        double at = x.at(value);
        svg.empty("line", "class", "rule", "x1", at, "x2", at, "y1", TOP, "y2", bottom);
        svg.element("text", word, "class", "unit", "x", at, "y", 12.0, "text-anchor", at > WIDTH * 0.75 ? "end" : "middle").line();
        return this;
    }

    /** Writes the names of lines above the drawing area, each beside a piece of its line; {@code classes} and {@code names} in the same order. */
    public Chart key(List<String> classes, List<String> names) {
        double at = LEFT + 24;
        for (int i = 0; i < names.size(); i++) {
            svg.empty("path", "class", "line " + classes.get(i), "d", "M" + Markup.coordinate(at) + " 6H" + Markup.coordinate(at + 18));
            svg.element("text", names.get(i), "x", at + 23, "y", 10.0);
            at += 40 + 7.2 * names.get(i).length();
        }
        svg.line();
        return this;
    }

    /** Ends the picture. */
    public Markup end() {
        return svg.close();
    }

    /** Ends the picture as a file of its own, with its style sheet. */
    public String alone(Palette palette) {
        String element = end().toString();
        int head = element.indexOf('>') + 1;
        return element.substring(0, head) + "\n<style>" + Markup.escape(palette.style()) + "</style>\n" + element.substring(head) + "\n";
    }

    private String path(List<Point> points) {
        StringBuilder d = new StringBuilder();
        for (Point point : points) {
            d.append(d.isEmpty() ? 'M' : 'L').append(position(point));
        }
        return d.toString();
    }

    private String position(Point point) {
        return Markup.coordinate(x.at(point.x)) + " " + Markup.coordinate(y.at(point.y));
    }

    /** Horizontal bars, each of one or more parts laid end to end, with the name above and the sum beside. */
    public static Markup bars(String description, List<Bar> bars, String unit) {
        double row = 46;
        double height = 8 + row * bars.size();
        double most = bars.stream().mapToDouble(Bar::sum).max().orElse(1);
        Scale scale = Scale.linear(0, most, 4, WIDTH - 100);
        Markup svg = new Markup();
        svg.open("svg", "viewBox", "0 0 " + Markup.coordinate(WIDTH) + " " + Markup.coordinate(height), "role", "img", "aria-label", description,
                "xmlns", "http://www.w3.org/2000/svg");
        for (int i = 0; i < bars.size(); i++) {
            Bar bar = bars.get(i);
            double top = 4 + i * row;
            svg.element("text", bar.name, "class", "name", "x", 4.0, "y", top + 14);
            double sum = 0;
            for (Part part : bar.parts) {
                double left = scale.at(sum);
                sum += part.value;
                svg.empty("rect", "class", "bar " + part.classes, "x", left, "y", top + 20, "width", Math.max(0.5, scale.at(sum) - left), "height", 16.0);
            }
            svg.element("text", String.format(Locale.ROOT, "%.1f ", sum) + unit, "class", "value", "x", scale.at(sum) + 6, "y", top + 33).line();
        }
        return svg.close();
    }

    /** A bar of {@link #bars}. */
    public record Bar(String name, List<Part> parts) {
        double sum() {
            return parts.stream().mapToDouble(Part::value).sum();
        }
    }

    /** A part of a bar; {@code value} is not negative. */
    public record Part(String classes, double value) { }
}
