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

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary Objects and arrays of every size class hold what was stored in them, after collections too.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC gc.lull.TestAllocationSizes
 */

/*
 * @test id=interpreter
 * @requires vm.gc.Lull
 * @summary All sizes, allocated by the interpreter.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -Xint gc.lull.TestAllocationSizes 1
 */

/*
 * @test id=C1
 * @requires vm.gc.Lull & vm.compiler1.enabled
 * @summary All sizes, allocated by code of C1.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:TieredStopAtLevel=1 gc.lull.TestAllocationSizes
 */

/*
 * @test id=C2
 * @requires vm.gc.Lull & vm.compiler2.enabled
 * @summary All sizes, allocated by code of C2.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:-TieredCompilation gc.lull.TestAllocationSizes
 */

/*
 * @test id=noCompressedOops
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary All sizes, with references of 64 bits.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:-UseCompressedOops gc.lull.TestAllocationSizes
 */

/*
 * @test id=compactHeaders
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary All sizes, with headers of one word.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UseCompactObjectHeaders gc.lull.TestAllocationSizes
 */

/*
 * @test id=alignment32
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary All sizes, with objects at each 32nd byte.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:ObjectAlignmentInBytes=32 gc.lull.TestAllocationSizes
 */

/*
 * @test id=alignment256
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary All sizes, with each object at the start of a line.
 * @library /
 * @run main/othervm -Xmx256m -XX:+UseLullGC -XX:ObjectAlignmentInBytes=256 gc.lull.TestAllocationSizes
 */

/*
 * @test id=noTLAB
 * @requires vm.gc.Lull
 * @summary All sizes, without TLABs.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:-UseTLAB gc.lull.TestAllocationSizes
 */

/*
 * @test id=oneWorker
 * @requires vm.gc.Lull
 * @summary All sizes, marked by one thread.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:ParallelGCThreads=1 gc.lull.TestAllocationSizes
 */

/*
 * @test id=fourWorkers
 * @requires vm.gc.Lull
 * @summary All sizes, marked by four threads.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:ParallelGCThreads=4 -XX:-UseDynamicNumberOfGCThreads gc.lull.TestAllocationSizes
 */

/*
 * @test id=evacuateALot
 * @requires vm.gc.Lull & vm.debug
 * @summary All sizes, moved by each collection.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:LullEvacuateALot=1 gc.lull.TestAllocationSizes
 */

/*
 * @test id=evacuationFailureALot
 * @requires vm.gc.Lull & vm.debug
 * @summary All sizes, of which each collection moves two thirds.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:LullEvacuateALot=1 -XX:LullEvacuationFailureALot=3 -XX:ParallelGCThreads=4
 *                   gc.lull.TestAllocationSizes
 */

public class TestAllocationSizes {
    private static final int LINE = 256;
    private static final int BLOCK = 32 * 1024;

    /** Objects of some sizes below, at and above a line. */
    static class Longs0 {
        void fill(long number) {}
        boolean isFilledWith(long number) { return true; }
    }

    static class Longs1 extends Longs0 {
        long a;

        @Override void fill(long number) {
            super.fill(number);
            a = number;
        }

        @Override boolean isFilledWith(long number) {
            return super.isFilledWith(number) &&
                   a == number;
        }
    }

    static class Longs3 extends Longs1 {
        long b, c;

        @Override void fill(long number) {
            super.fill(number);
            b = c = number;
        }

        @Override boolean isFilledWith(long number) {
            return super.isFilledWith(number) &&
                   b == number && c == number;
        }
    }

    static class Longs7 extends Longs3 {
        long d, e, f, g;

        @Override void fill(long number) {
            super.fill(number);
            d = e = f = g = number;
        }

        @Override boolean isFilledWith(long number) {
            return super.isFilledWith(number) &&
                   d == number && e == number && f == number && g == number;
        }
    }

    static class Longs15 extends Longs7 {
        long h, i, j, k, l, m, n, o;

        @Override void fill(long number) {
            super.fill(number);
            h = i = j = k = l = m = n = number;
            o = number;
        }

        @Override boolean isFilledWith(long number) {
            return super.isFilledWith(number) &&
                   h == number && i == number && j == number && k == number &&
                   l == number && m == number && n == number && o == number;
        }
    }

    static class Longs29 extends Longs15 {
        long p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14;

        @Override void fill(long number) {
            super.fill(number);
            p1 = p2 = p3 = p4 = p5 = p6 = p7 = number;
            p8 = p9 = p10 = p11 = p12 = p13 = p14 = number;
        }

        @Override boolean isFilledWith(long number) {
            return super.isFilledWith(number) &&
                   p1 == number && p2 == number && p3 == number && p4 == number &&
                   p5 == number && p6 == number && p7 == number && p8 == number &&
                   p9 == number && p10 == number && p11 == number && p12 == number &&
                   p13 == number && p14 == number;
        }
    }

    static class Longs30 extends Longs29 {
        long q;

        @Override void fill(long number) {
            super.fill(number);
            q = number;
        }

        @Override boolean isFilledWith(long number) {
            return super.isFilledWith(number) &&
                   q == number;
        }
    }

    static class Longs31 extends Longs30 {
        long r;

        @Override void fill(long number) {
            super.fill(number);
            r = number;
        }

        @Override boolean isFilledWith(long number) {
            return super.isFilledWith(number) &&
                   r == number;
        }
    }

    static class Longs32 extends Longs31 {
        long s;

        @Override void fill(long number) {
            super.fill(number);
            s = number;
        }

        @Override boolean isFilledWith(long number) {
            return super.isFilledWith(number) &&
                   s == number;
        }
    }

    private static Longs0 newLongs(int which) {
        return switch (which) {
            case 0 -> new Longs0();
            case 1 -> new Longs1();
            case 2 -> new Longs3();
            case 3 -> new Longs7();
            case 4 -> new Longs15();
            case 5 -> new Longs29();
            case 6 -> new Longs30();
            case 7 -> new Longs31();
            default -> new Longs32();
        };
    }

    private static final int CLASSES = 9;

    enum Kind { LONGS, BYTE_ARRAY, LONG_ARRAY, REFERENCE_ARRAY }

    private record Shape(Kind kind, int length) {
        Object allocate(int number) {
            return switch (kind) {
                case LONGS -> {
                    Longs0 longs = newLongs(length);
                    if (!longs.isFilledWith(0)) {
                        throw new AssertionError("a new " + longs.getClass().getSimpleName() + " is not empty");
                    }
                    longs.fill(number);
                    yield longs;
                }
                case BYTE_ARRAY -> Data.bytes(length, number);
                case LONG_ARRAY -> Data.longs(length, number);
                case REFERENCE_ARRAY -> Data.references(length, number);
            };
        }

        void check(Object object, int number) {
            if (kind == Kind.LONGS) {
                if (!((Longs0) object).isFilledWith(number)) {
                    throw new AssertionError(object.getClass().getSimpleName() + " does not hold " + number);
                }
            } else {
                Data.check(object, number);
            }
        }
    }

    private static void addArrays(List<Shape> shapes, int bytes) {
        shapes.add(new Shape(Kind.BYTE_ARRAY, bytes));
        shapes.add(new Shape(Kind.LONG_ARRAY, bytes / 8));
        shapes.add(new Shape(Kind.REFERENCE_ARRAY, bytes / 4));
    }

    private static List<Shape> shapes() {
        List<Shape> shapes = new ArrayList<>();
        for (int i = 0; i < CLASSES; i++) {
            for (int times = 0; times < 20; times++) {
                shapes.add(new Shape(Kind.LONGS, i));
            }
        }
        for (int bytes = 0; bytes <= 20 * LINE; bytes += 24) {
            addArrays(shapes, bytes);
        }
        // The header is 8 to 24 bytes: sizes from just below to just above the boundary.
        for (int boundary : new int[] { LINE, 2 * LINE, BLOCK / 4, BLOCK / 2, BLOCK, 2 * BLOCK }) {
            for (int bytes = boundary - 40; bytes <= boundary + 16; bytes += 8) {
                addArrays(shapes, bytes);
            }
        }
        for (int bytes : new int[] { 1 << 20, (1 << 20) - 16, 3_000_000 }) {
            shapes.add(new Shape(Kind.BYTE_ARRAY, bytes));
        }
        return shapes;
    }

    public static void main(String[] args) {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 4;
        Random random = Data.random();
        List<Shape> shapes = shapes();
        java.util.Collections.shuffle(shapes, random);
        Object[] objects = new Object[shapes.size()];
        int[] numbers = new int[shapes.size()];
        System.out.println(shapes.size() + " shapes, " + rounds + " rounds");

        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < objects.length; i++) {
                // Half of the objects of the round before stay, and the others leave holes.
                if (objects[i] == null || random.nextBoolean()) {
                    numbers[i] = random.nextInt();
                    objects[i] = shapes.get(i).allocate(numbers[i]);
                }
            }
            check(shapes, objects, numbers);
            System.gc();
            check(shapes, objects, numbers);
            for (int i = 0; i < objects.length; i++) {
                if (random.nextBoolean()) {
                    objects[i] = null;
                }
            }
            System.gc();
            check(shapes, objects, numbers);
        }
    }

    private static void check(List<Shape> shapes, Object[] objects, int[] numbers) {
        for (int i = 0; i < objects.length; i++) {
            if (objects[i] != null) {
                shapes.get(i).check(objects[i], numbers[i]);
            }
        }
    }
}
