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
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReferenceArray;
import jdk.test.whitebox.WhiteBox;

/*
 * @test id=full
 * @requires vm.gc.Lull
 * @summary Arrays of 4 to 300 KB, of one size at a time, fill nine tenths of what the heap has for them, and are replaced at
 *          random. Of 16 KB and a header, say, one is in a block of 32 KB when it is new; once all has slid together
 *          they lie across the borders of blocks, and what is free is in one run.
 * @library /test/lib /
 * @run main/othervm -Xmx20m -XX:+UseLullGC gc.lull.TestStraddlers
 * @run main/othervm -Xmx20m -XX:+UseLullGC -XX:-UseCompressedOops -XX:+UseCompactObjectHeaders -XX:ParallelGCThreads=4
 *                   -XX:-UseDynamicNumberOfGCThreads gc.lull.TestStraddlers
 * @run main/othervm -Xmx20m -XX:+UseLullGC -XX:-LullTracking -XX:-LullYoungCollections -Xint gc.lull.TestStraddlers
 */

/*
 * @test id=threads
 * @requires vm.gc.Lull & vm.debug
 * @summary Such arrays come and go while threads collect by themselves, allocate in the holes beside them, and pauses
 *          of all kinds move what may move.
 * @library /test/lib /
 * @run main/othervm -Xmx32m -XX:+UseLullGC -XX:LullSlideALot=3 -XX:LullEvacuateALot=2
 *                   -XX:LullEvacuationFailureALot=100 -XX:ParallelGCThreads=2 gc.lull.TestStraddlers threads
 * @run main/othervm -Xmx32m -XX:+UseLullGC -XX:LullSlideALot=2 -XX:+LullYoungALot -XX:LullLocalCollectALot=50
 *                   -XX:LullEvacuateALot=3 -XX:ParallelGCThreads=2 -XX:TieredStopAtLevel=1
 *                   gc.lull.TestStraddlers threads
 * @run main/othervm -Xmx32m -XX:+UseLullGC -XX:LullSlideALot=2 -XX:LullSuspendALot=3 -XX:+LullProtectFree
 *                   -XX:+UseCompactObjectHeaders -XX:-UseCompressedOops gc.lull.TestStraddlers threads
 */

/*
 * @test id=young
 * @requires vm.gc.Lull & vm.debug
 * @summary Young collections find what arrays that lie across the borders of blocks have got since the slide.
 * @library /test/lib /
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m -XX:+UseLullGC
 *                   -XX:LullSlideALot=1 -Xint gc.lull.TestStraddlers young
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m -XX:+UseLullGC
 *                   -XX:LullSlideALot=1 -XX:+UseCompactObjectHeaders gc.lull.TestStraddlers young
 */

public class TestStraddlers {
    private static final int[] SIZES = {2100, 4096, 8192, 11_000, 16_384, 32_768, 65_536, 131_072, 300_000};
    private static final int[] FILLING_SIZES = {4096, 11_000, 16_384, 65_536, 300_000};
    private static final int REPLACED = 30;
    private static final int THREADS = 3;

    static volatile Object sink;
    private static volatile Throwable failure;

    // Old arrays that get references to new objects. What is at an index follows from that.
    private static final Object[][] tables = new Object[30][2500];

    private static long room() {
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        return runtime.maxMemory() - (runtime.totalMemory() - runtime.freeMemory());
    }

    // Of so many bytes at most, and a header.
    private static Object make(int size, int number) {
        return switch (number % 6) {
            case 0 -> Data.longs(size / 8, number);
            case 1 -> Data.references(size / 8, number);
            default -> Data.bytes(size, number);
        };
    }

    // So many bytes of arrays of one size, and some replaced.
    private static void fill(int size, long bytes, Random random) {
        int count = (int) (bytes / (size + 16));
        Object[] arrays = new Object[count];
        int[] numbers = new int[count];
        for (int i = 0; i < count + REPLACED; i++) {
            int index = i < count ? i : random.nextInt(count);
            if (arrays[index] != null) {
                Data.check(arrays[index], numbers[index]);
            }
            arrays[index] = null;
            numbers[index] = i;
            arrays[index] = make(size, i);
            sink = new byte[random.nextInt(200)];
        }
        for (int i = 0; i < count; i++) {
            Data.check(arrays[i], numbers[i]);
        }
    }

    private static void fillWithEach(Random random) {
        for (int size : FILLING_SIZES) {
            sink = null;
            long bytes = room() * 9 / 10;
            System.out.println(bytes / 1024 + "K of arrays of " + size + " bytes");
            fill(size, bytes, random);
        }
    }

    // Arrays of ten blocks, without any slack, in all of the heap but for the room of two, and of two that die: a larger
    // one fits where these have slid together, and nothing is left free between them.
    private static void leaveOneRun() {
        sink = null;
        int length = 10 * (32 << 10) - 16;
        byte[][] arrays = new byte[(int) (room() / (length + 16)) - 2][];
        Arrays.setAll(arrays, i -> (byte[]) Data.bytes(length, i));
        arrays[3] = null;
        arrays[arrays.length / 2] = null;
        sink = new byte[630_000];
        for (int i = 0; i < arrays.length; i++) {
            if (arrays[i] != null) {
                Data.check(arrays[i], i);
            }
        }
    }

    // What a thread does: arrays that all see, and some, with small objects, that only it sees.
    private static void replace(AtomicReferenceArray<Object[]> shared, Random random, int steps) {
        try {
            List<Object> own = new ArrayList<>();
            for (int i = 0; i < steps && failure == null; i++) {
                int size = SIZES[random.nextInt(random.nextInt(SIZES.length) + 1)];
                Object[] old = shared.getAndSet(random.nextInt(shared.length()), new Object[] {make(size, i), i});
                if (old != null) {
                    Data.check(old[0], (Integer) old[1]);
                }
                for (int j = 0; j < 40; j++) {
                    own.add(Data.bytes(random.nextInt(300), own.size()));
                    Object[] table = tables[random.nextInt(tables.length)];
                    int index = random.nextInt(table.length);
                    if (table[index] != null) {
                        Data.check(table[index], index);
                    }
                    table[index] = Data.bytes(random.nextInt(50), index);
                }
                if (own.size() > 2000) {
                    for (int j = 0; j < own.size(); j++) {
                        Data.check(own.get(j), j);
                    }
                    own = new ArrayList<>();
                }
                if (i % 150 == 0) {
                    System.gc();
                }
            }
        } catch (Throwable t) {
            failure = t;
        }
    }

    private static void runThreads(Random random) throws Exception {
        AtomicReferenceArray<Object[]> shared = new AtomicReferenceArray<>(600);
        Thread[] threads = new Thread[THREADS];
        Arrays.setAll(threads, i -> {
            Random own = new Random(random.nextLong());
            return new Thread(() -> replace(shared, own, 1200));
        });
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure != null) {
            throw new AssertionError("a thread has failed", failure);
        }
    }

    private static void fillEnds() {
        for (Object[] table : tables) {
            for (int i = table.length - 10; i < table.length; i++) {
                table[i] = Data.bytes(i % 40, i);
            }
        }
    }

    // The last elements get new objects when all has slid: a dirty card in the block in which an array begins tells of
    // all of it. By a thread that ends: a young collection keeps what is public in blocks with an owner.
    private static void storeAfterSlides() throws InterruptedException {
        for (int round = 0; round < 5; round++) {
            System.gc();
            Thread thread = new Thread(TestStraddlers::fillEnds);
            thread.start();
            thread.join();
            WhiteBox.getWhiteBox().youngGC();
            for (Object[] table : tables) {
                for (int i = table.length - 10; i < table.length; i++) {
                    Data.check(table[i], i);
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Random random = Data.random();
        if (args.length > 0 && args[0].equals("young")) {
            storeAfterSlides();
        } else if (args.length > 0) {
            runThreads(random);
        } else {
            fillWithEach(random);
            leaveOneRun();
        }
    }
}
