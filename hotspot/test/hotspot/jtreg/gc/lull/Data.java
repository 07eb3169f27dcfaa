/*
 * Copyright (c) 2026, the Lull authors. All rights reserved.
 * DO NOT ALTER OR REMOVE COPYRIGHT NOTICES OR THIS FILE HEADER.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation.  The Lull authors designate
 * this particular file as subject to the "Classpath" exception as provided
 * in the LICENSE file that accompanied this code.
 *
 * This code is distributed in the hope that it will be useful, but WITHOUT
 * ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
 * FITNESS FOR A PARTICULAR PURPOSE.  See the GNU General Public License
 * version 2 for more details (a copy is included in the LICENSE file that
 * accompanied this code).
 *
 * You should have received a copy of the GNU General Public License version
 * 2 along with this work; if not, write to the Free Software Foundation,
 * Inc., 51 Franklin St, Fifth Floor, Boston, MA 02110-1301 USA.
 *
 */

package gc.lull;

import java.util.Random;

/**
 * Objects whose contents follow from a number, so that a test can check them when
 * collections have marked, moved or overwritten them.
 */
final class Data {
    private static final long DEFAULT_SEED = 20250916;

    /** The elements of reference arrays. They are moved like everything else. */
    private static final Object[] TOKENS = new Object[61];

    static {
        for (int i = 0; i < TOKENS.length; i++) {
            TOKENS[i] = "token " + i;
        }
    }

    private Data() {}

    /** A random generator. Its seed is printed, and is set with -Djdk.test.lib.random.seed=N. */
    static Random random() {
        long seed = Long.getLong("jdk.test.lib.random.seed", DEFAULT_SEED);
        System.out.println("Random seed: " + seed);
        return new Random(seed);
    }

    /** Large arrays are looked at four times in each line of 256 bytes, others everywhere. */
    private static int step(int length) {
        return length > 64 * 1024 ? 61 : 1;
    }

    static byte[] bytes(int length, int number) {
        byte[] array = new byte[length];
        for (int i = 0, step = step(length); i < length; i += step) {
            if (array[i] != 0) {
                throw new AssertionError("new byte[" + length + "] holds " + array[i] + " at " + i);
            }
            array[i] = (byte) (number + i);
        }
        return array;
    }

    static long[] longs(int length, int number) {
        long[] array = new long[length];
        for (int i = 0; i < length; i++) {
            if (array[i] != 0) {
                throw new AssertionError("new long[" + length + "] holds " + array[i] + " at " + i);
            }
            array[i] = ((long) number << 32) + i;
        }
        return array;
    }

    static Object[] references(int length, int number) {
        Object[] array = new Object[length];
        for (int i = 0; i < length; i++) {
            if (array[i] != null) {
                throw new AssertionError("new Object[" + length + "] holds a reference at " + i);
            }
            array[i] = token(number + i);
        }
        return array;
    }

    private static Object token(int number) {
        return TOKENS[Integer.remainderUnsigned(number, TOKENS.length)];
    }

    /** Checks what one of the methods above has made for that number. Allocates nothing. */
    static void check(Object object, int number) {
        if (object instanceof byte[] array) {
            for (int i = 0, step = step(array.length); i < array.length; i += step) {
                if (array[i] != (byte) (number + i)) {
                    throw wrong(object, array.length, number, i, array[i]);
                }
            }
        } else if (object instanceof long[] array) {
            for (int i = 0; i < array.length; i++) {
                if (array[i] != ((long) number << 32) + i) {
                    throw wrong(object, array.length, number, i, array[i]);
                }
            }
        } else if (object instanceof Object[] array) {
            for (int i = 0; i < array.length; i++) {
                if (array[i] != token(number + i)) {
                    throw wrong(object, array.length, number, i, array[i]);
                }
            }
        } else {
            throw new IllegalArgumentException(object.getClass().getName());
        }
    }

    private static AssertionError wrong(Object array, int length, int number, int index, Object element) {
        return new AssertionError(array.getClass().getSimpleName() + " of " + length + " elements for number " + number +
                                  " holds " + element + " at " + index);
    }
}
