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

import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary OutOfMemoryError is thrown when the heap is full, for small and large objects, and the heap can be used afterwards.
 * @library /
 * @run main/othervm -Xmx24m -XX:+UseLullGC -XX:-UseGCOverheadLimit gc.lull.TestOutOfMemory
 */

/*
 * @test id=noTLAB
 * @requires vm.gc.Lull
 * @summary OutOfMemoryError in code of C1, without TLABs.
 * @library /
 * @run main/othervm -Xmx24m -XX:+UseLullGC -XX:-UseGCOverheadLimit -XX:-UseTLAB -XX:TieredStopAtLevel=1 gc.lull.TestOutOfMemory
 */

/*
 * @test id=evacuationFailureALot
 * @requires vm.gc.Lull & vm.debug
 * @summary OutOfMemoryError in a heap of which each collection moves some.
 * @library /
 * @run main/othervm -Xmx24m -XX:+UseLullGC -XX:LullEvacuateALot=1 -XX:LullEvacuationFailureALot=3 gc.lull.TestOutOfMemory
 */

public class TestOutOfMemory {
    private static final String NO_SPACE = "Java heap space";

    static final class Link {
        final Link   next;
        final byte[] payload;
        final int    number;

        Link(Link next, int number, int size) {
            this.next = next;
            this.number = number;
            this.payload = Data.bytes(size, number);
        }
    }

    private static void checkMessage(OutOfMemoryError error, String expected) {
        if (!expected.equals(error.getMessage())) {
            throw new AssertionError("\"" + error.getMessage() + "\" instead of \"" + expected + "\"", error);
        }
    }

    /** Fills the heap with a list; returns the bytes that have gone into it. */
    private static long fill(int size) {
        Link list = null;
        int count = 0;
        OutOfMemoryError error;
        try {
            while (true) {
                list = new Link(list, count, size);
                count++;
            }
        } catch (OutOfMemoryError e) {
            error = e;
        }
        for (Link link = list; link != null; link = link.next) {
            if (link.number != --count) {
                throw new AssertionError("the list has lost something");
            }
            Data.check(link.payload, link.number);
        }
        long total = list == null ? 0 : (long) (list.number + 1) * size;
        list = null;
        checkMessage(error, NO_SPACE);
        return total;
    }

    /** The heap takes as much a second time. */
    private static void smallAndMedium() {
        for (int size : new int[] { 200, 10_000, 300_000 }) {
            long first = fill(size);
            long second = fill(size);
            System.out.println("Room for " + first / 1024 + "K in objects of " + size + ", then for " + second / 1024 + "K");
            if (first < Runtime.getRuntime().maxMemory() * 6 / 10) {
                throw new AssertionError("OutOfMemoryError in a heap that was not full");
            }
            if (second < first * 9 / 10) {
                throw new AssertionError("the memory of dropped objects was not all used again");
            }
        }
    }

    /** One that never fits does not disturb the others: there is one collection for it, which clears soft references as they promise. */
    private static void tooLarge() {
        byte[] kept = Data.bytes(4_000_000, 7);
        SoftReference<byte[]> soft = new SoftReference<>(Data.bytes(1000, 8));
        for (long length : new long[] { Runtime.getRuntime().maxMemory(), Integer.MAX_VALUE - 8 }) {
            long collections = GCBean.collections();
            try {
                byte[] array = new byte[(int) length];
                throw new AssertionError("room for " + array.length + " bytes");
            } catch (OutOfMemoryError e) {
                checkMessage(e, NO_SPACE);
            }
            if (GCBean.collections() != collections + 1) {
                throw new AssertionError(GCBean.collections() - collections + " collections for an object that never fits");
            }
        }
        if (soft.get() != null) {
            throw new AssertionError("a soft reference was not cleared before OutOfMemoryError");
        }
        try {
            long[] array = new long[Integer.MAX_VALUE];
            throw new AssertionError("room for " + array.length + " words");
        } catch (OutOfMemoryError e) {
            checkMessage(e, "Requested array size exceeds VM limit");
        }
        Data.check(kept, 7);
    }

    /** Each of several threads runs into the full heap, and can go on. */
    private static void threads() throws InterruptedException {
        final int count = 4;
        CountDownLatch errors = new CountDownLatch(count);
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            int size = 200 + 3000 * i;
            threads[i] = new Thread(() -> {
                List<byte[]> list = null;
                try {
                    // The other threads may have filled the heap already.
                    list = new ArrayList<>(400_000);
                    while (true) {
                        list.add(new byte[size]);
                    }
                } catch (OutOfMemoryError e) {
                    list = null;
                    errors.countDown();
                }
            });
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (errors.getCount() != 0) {
            throw new AssertionError(errors.getCount() + " threads have ended without an OutOfMemoryError");
        }
        fill(1000);
    }

    public static void main(String[] args) throws InterruptedException {
        smallAndMedium();
        tooLarge();
        threads();
    }
}
