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
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.debug
 * @summary Arrays that native code holds by address (JNI critical) stay where they are during collections.
 * @library /
 * @run main/othervm -Xmx32m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullFragmentationTriggerPercent=0
 *                   gc.lull.TestPinning
 */

/*
 * @test id=evacuateALot
 * @requires vm.gc.Lull & vm.debug
 * @summary Arrays that native code holds by address stay where they are, and all else is moved.
 * @library /
 * @run main/othervm -Xmx32m -XX:+UseLullGC -XX:LullEvacuateALot=1 -XX:ParallelGCThreads=2 gc.lull.TestPinning
 */

/*
 * @test id=slideALot
 * @requires vm.gc.Lull & vm.debug
 * @summary Arrays that native code holds by address stay where they are, and whole blocks slide past them.
 * @library /
 * @run main/othervm -Xmx32m -XX:+UseLullGC -XX:LullSlideALot=1 -XX:ParallelGCThreads=2 gc.lull.TestPinning
 */

public class TestPinning {
    private static final int THREADS = 3;
    private static final int COLLECTIONS = 60;

    private static volatile boolean stop;
    private static volatile Throwable failure;

    // The JDK's native code for each of these works on the array itself.
    private static int compressAndExpand(Random random) throws Exception {
        byte[] original = new byte[1 + random.nextInt(40_000)];
        for (int i = 0; i < original.length; i++) {
            original[i] = (byte) (random.nextInt(4) == 0 ? random.nextInt() : i);
        }
        byte[] compressed = new byte[original.length + 1000];
        Deflater deflater = new Deflater(6);
        deflater.setInput(original);
        deflater.finish();
        int length = deflater.deflate(compressed);
        long adler = Integer.toUnsignedLong(deflater.getAdler());
        deflater.end();

        byte[] expanded = new byte[original.length];
        Inflater inflater = new Inflater();
        inflater.setInput(compressed, 0, length);
        int count = inflater.inflate(expanded);
        inflater.end();

        if (count != original.length || !java.util.Arrays.equals(original, expanded)) {
            throw new AssertionError(original.length + " bytes have come back as others");
        }
        Adler32 sum = new Adler32();
        sum.update(original);
        if (sum.getValue() != adler) {
            throw new AssertionError("the sum of " + original.length + " bytes is wrong");
        }
        CRC32 crc = new CRC32();
        crc.update(original);
        long whole = crc.getValue();
        crc.reset();
        for (byte b : original) {
            crc.update(b);
        }
        if (crc.getValue() != whole) {
            throw new AssertionError("the CRC of " + original.length + " bytes is wrong");
        }
        return original.length;
    }

    private static void run(long seed) {
        Random random = new Random(seed);
        byte[][] neighbours = new byte[200][];
        long bytes = 0;
        try {
            while (!stop) {
                for (int i = 0; i < 20; i++) {
                    int which = random.nextInt(neighbours.length);
                    if (neighbours[which] != null) {
                        Data.check(neighbours[which], which);
                    }
                    neighbours[which] = Data.bytes(random.nextInt(3000), which);
                }
                bytes += compressAndExpand(random);
            }
            if (bytes == 0) {
                throw new AssertionError("a thread had nothing to do");
            }
        } catch (Throwable t) {
            failure = t;
        }
    }

    public static void main(String[] args) throws Exception {
        Random random = Data.random();
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            long seed = random.nextLong();
            threads[i] = new Thread(() -> run(seed));
            threads[i].start();
        }
        for (int i = 0; i < COLLECTIONS && failure == null; i++) {
            Thread.sleep(5);
            System.gc();
        }
        stop = true;
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure != null) {
            throw new AssertionError("a thread has failed", failure);
        }
    }
}
