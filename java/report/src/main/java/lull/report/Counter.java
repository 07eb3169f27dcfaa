// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.util.Arrays;

/** A count that only grows, as it was seen now and then. Between two looks it is taken to grow evenly. */
final class Counter {
    private double[] times = new double[16];
    private double[] values = new double[16];
    private int size;

    /** Adds a look. Looks come in the order of time; of two at the same time, or one that has gone back, the later one counts. */
    void add(double time, double value) {
        if (size == times.length) {
            times = Arrays.copyOf(times, 2 * size);
            values = Arrays.copyOf(values, 2 * size);
        }
        if (size > 0 && time <= times[size - 1]) {
            size--;
        }
        times[size] = time;
        values[size++] = value;
    }

    int size() {
        return size;
    }

    /** The time of the first look. */
    double from() {
        return times[0];
    }

    /** The time of the last look. */
    double to() {
        return times[size - 1];
    }

    /** The time of a look. */
    double time(int i) {
        return times[i];
    }

    /** The count at a time; before the first look that of the first, after the last that of the last. */
    double at(double time) {
        if (size == 0) {
            return 0;
        }
        int i = Arrays.binarySearch(times, 0, size, time);
        if (i >= 0) {
            return values[i];
        }
        int next = -i - 1;
        if (next == 0) {
            return values[0];
        }
        if (next == size) {
            return values[size - 1];
        }
        double share = (time - times[next - 1]) / (times[next] - times[next - 1]);
        return values[next - 1] + share * (values[next] - values[next - 1]);
    }

    /** How much was added in a time. */
    double between(double from, double to) {
        return at(to) - at(from);
    }

    /** How much was added from the first look to the last. */
    double total() {
        return size == 0 ? 0 : values[size - 1] - values[0];
    }
}
