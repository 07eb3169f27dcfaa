// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report.page;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Maps values to coordinates, linearly or by logarithm, and chooses round values for the marks of an axis. */
public final class Scale {
    private final double low;
    private final double high;
    private final double from;
    private final double to;
    private final boolean log;

    private Scale(double low, double high, double from, double to, boolean log) {
        this.low = low;
        this.high = high;
        this.from = from;
        this.to = to;
        this.log = log;
    }

    /** Maps [low, high] to coordinates [from, to]; {@code high} is raised if it is not above {@code low}. */
    public static Scale linear(double low, double high, double from, double to) {
        return new Scale(low, high > low ? high : low + 1, from, to, false);
    }

    /** Maps the round values (1, 2 or 5 times a power of ten) around [low, high] to coordinates [from, to]; {@code low} must be above 0. */
    public static Scale log(double low, double high, double from, double to) {
        if (!(low > 0)) {
            throw new IllegalArgumentException("a logarithmic axis cannot begin at " + low);
        }
        double bottom = round(Math.pow(10, Math.floor(Math.log10(low))));
        while (next(bottom) <= low * (1 + 1e-9)) {
            bottom = next(bottom);
        }
        double top = next(bottom);
        while (top < high * (1 - 1e-9)) {
            top = next(top);
        }
        return new Scale(bottom, top, from, to, true);
    }

    /** Returns the value after {@code value} in 1, 2, 5, 10, 20, 50, ... */
    private static double next(double value) {
        double unit = Math.pow(10, Math.floor(Math.log10(value) + 1e-9));
        double digit = value / unit;
        return round(unit * (digit < 1.5 ? 2 : digit < 3.5 ? 5 : 10));
    }

    private static double round(double value) {
        return new BigDecimal(value).round(new MathContext(6)).doubleValue();
    }

    /** Returns the coordinate of {@code value}; values outside are put on the edge. */
    public double at(double value) {
        double inside = Math.max(low, Math.min(high, value));
        double share = log ? Math.log(inside / low) / Math.log(high / low) : (inside - low) / (high - low);
        return from + share * (to - from);
    }

    /** Returns round values on the axis, about {@code count} of them on a linear one; 1, 2, 5 or only powers of ten on a logarithmic one. */
    public List<Double> marks(int count) {
        List<Double> marks = new ArrayList<>();
        if (log) {
            boolean wide = high / low > 1001;
            for (double mark = low; mark <= high * 1.0001; mark = next(mark)) {
                double decades = Math.log10(mark);
                if (!wide || Math.abs(decades - Math.rint(decades)) < 1e-6) {
                    marks.add(mark);
                }
            }
            return marks;
        }
        double raw = (high - low) / count;
        double unit = Math.pow(10, Math.floor(Math.log10(raw)));
        double step = raw / unit <= 1 ? unit : raw / unit <= 2 ? 2 * unit : raw / unit <= 5 ? 5 * unit : 10 * unit;
        for (double mark = Math.ceil(low / step) * step; mark <= high + step * 1e-6; mark += step) {
            marks.add(mark);
        }
        return marks;
    }

    /** Formats a mark without needless digits. */
    public static String label(double mark) {
        if (Math.abs(mark - Math.rint(mark)) < 1e-9) {
            return String.format(Locale.ROOT, "%,d", Math.round(mark)).replace(',', ' ');
        }
        return String.format(Locale.ROOT, "%.4f", mark).replaceAll("0+$", "");
    }
}
