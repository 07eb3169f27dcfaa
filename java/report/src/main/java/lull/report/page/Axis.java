// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report.page;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Maps values to coordinates, and names the round ones among them. */
final class Axis {
    private final double low;
    private final double high;
    private final double from;
    private final double to;
    private final boolean log;

    private Axis(double low, double high, double from, double to, boolean log) {
        this.low = low;
        this.high = high;
        this.from = from;
        this.to = to;
        this.log = log;
    }

    /** From 0 to {@code high}, or to 1 if that is 0. */
    static Axis linear(double high, double from, double to) {
        return new Axis(0, high > 0 ? high : 1, from, to, false);
    }

    /** Whole decades around [low, high]; {@code low} is above 0. */
    static Axis log(double low, double high, double from, double to) {
        double bottom = Math.pow(10, Math.floor(Math.log10(low)));
        double top = Math.pow(10, Math.ceil(Math.log10(Math.max(high, low)) - 1e-9));
        return new Axis(bottom, Math.max(top, bottom * 10), from, to, true);
    }

    /** The coordinate of a value; those outside are put on the edge. */
    double at(double value) {
        double inside = Math.max(low, Math.min(high, value));
        double share = log ? Math.log(inside / low) / Math.log(high / low) : (inside - low) / (high - low);
        return from + share * (to - from);
    }

    /** About {@code count} round values; of decades all. */
    List<Double> marks(int count) {
        List<Double> marks = new ArrayList<>();
        if (log) {
            for (double mark = low; mark <= high * 1.001; mark *= 10) {
                marks.add(mark);
            }
            return marks;
        }
        double raw = (high - low) / count;
        double unit = Math.pow(10, Math.floor(Math.log10(raw)));
        double step = unit * (raw <= unit ? 1 : raw <= 2 * unit ? 2 : raw <= 5 * unit ? 5 : 10);
        for (int i = 0; i * step <= high * (1 + 1e-9); i++) {
            marks.add(i * step);
        }
        return marks;
    }

    /** A mark without needless digits. */
    static String label(double mark) {
        if (Math.abs(mark - Math.rint(mark)) < 1e-9) {
            return String.format(Locale.ROOT, "%,d", Math.round(mark)).replace(',', '\u00a0');
        }
        return String.format(Locale.ROOT, "%.4f", mark).replaceAll("0+$", "");
    }
}
