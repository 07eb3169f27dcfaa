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

import java.lang.management.ManagementFactory;

import com.sun.management.HotSpotDiagnosticMXBean;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary SoftMaxHeapSize, set while the VM runs, limits the heap, but not what is in use.
 * @library /
 * @modules jdk.management
 * @run main/othervm -Xms16m -Xmx128m -XX:+UseLullGC gc.lull.TestSoftMaxHeapSize
 */

public class TestSoftMaxHeapSize {
    private static final int M = 1 << 20;

    static volatile Object sink;

    private static long committed() {
        return Runtime.getRuntime().totalMemory();
    }

    private static void setSoftMax(long bytes) {
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).setVMOption("SoftMaxHeapSize", Long.toString(bytes));
    }

    private static void makeGarbage(long bytes) {
        for (long sum = 0; sum < bytes; sum += 1000) {
            sink = new byte[1000];
        }
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message + ": " + committed() / M + "M are committed");
        }
    }

    public static void main(String[] args) {
        byte[][] live = new byte[60][];
        for (int i = 0; i < live.length; i++) {
            live[i] = Data.bytes(M, i);
        }
        makeGarbage(400 * M);
        long before = committed();
        check(before >= 60 * M, "the heap does not hold what is in use");

        // Below what is in use: nothing is lost.
        setSoftMax(32 * M);
        makeGarbage(200 * M);
        for (int i = 0; i < live.length; i++) {
            Data.check(live[i], i);
            live[i] = null;
        }

        // Garbage alone does not let the heap grow beyond.
        System.gc();
        System.gc();
        check(committed() <= 32 * M, "the heap is larger than SoftMaxHeapSize");
        for (int i = 0; i < 10; i++) {
            makeGarbage(40 * M);
            check(committed() <= 32 * M, "the heap has grown beyond SoftMaxHeapSize");
        }

        // Up to -Xmx when it is needed.
        for (int i = 0; i < live.length; i++) {
            live[i] = Data.bytes(M, -i);
        }
        check(committed() >= 60 * M, "the heap does not hold what is in use");
        for (int i = 0; i < live.length; i++) {
            Data.check(live[i], -i);
        }
    }
}
