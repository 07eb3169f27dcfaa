// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

/**
 * Which of {@code size} inputs request number n uses: rounds of {@code size} requests, each a permutation of all inputs that
 * follows from seed and round. So a load is varied, repeatable, and the same mix in every round. Has no state.
 */
public record Order(int size, long seed) {
    public Order {
        if (size < 1) {
            throw new IllegalArgumentException("there are " + size + " inputs: at least 1 is needed");
        }
    }

    /** Returns the input, in [0, size), of request {@code number}, which is at least 0. */
    public int input(long number) {
        long round = number / size;
        long stride = 1 + Long.remainderUnsigned(mix(seed ^ mix(round)), size);
        while (gcd(stride, size) != 1) {
            stride++;
        }
        long offset = Long.remainderUnsigned(mix(seed + round + 1), size);
        return (int) ((offset + stride * (number % size)) % size);
    }

    private static long gcd(long a, long b) {
        return b == 0 ? a : gcd(b, a % b);
    }

    /** The finalizer of SplitMix64: every bit of the result depends on every bit of {@code z}. */
    private static long mix(long z) {
        z += 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
