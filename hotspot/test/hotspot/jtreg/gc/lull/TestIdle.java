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
import java.util.function.BooleanSupplier;

import jdk.test.lib.dcmd.JMXExecutor;
import jdk.test.whitebox.WhiteBox;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.debug
 * @summary A program that is idle after a peak is collected once, and gives the memory back.
 * @library /test/lib /
 * @run main/othervm -Xms16m -Xmx256m -XX:+UseLullGC -XX:LullLookInterval=100 gc.lull.TestIdle
 */

/*
 * @test id=compact
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with compact headers and all that is freed protected.
 * @library /test/lib /
 * @run main/othervm -Xms16m -Xmx256m -XX:+UseLullGC -XX:LullLookInterval=100 -XX:+UseCompactObjectHeaders -XX:+LullProtectFree gc.lull.TestIdle
 */

/*
 * @test id=sparse
 * @requires vm.gc.Lull & vm.debug
 * @summary The same where a tenth of it stays alive, in all blocks.
 * @library /test/lib /
 * @run main/othervm -Xms16m -Xmx256m -XX:+UseLullGC -XX:LullLookInterval=100 gc.lull.TestIdle sparse
 */

/*
 * @test id=fixed
 * @requires vm.gc.Lull & vm.debug
 * @summary A heap of one size stays what it is.
 * @library /test/lib /
 * @run main/othervm -Xms128m -Xmx128m -XX:+UseLullGC -XX:LullLookInterval=100 gc.lull.TestIdle fixed
 */

/*
 * @test id=working
 * @requires vm.gc.Lull & vm.debug
 * @summary A program that allocates nothing but whose threads work is not idle: a cycle collects it, and memory goes back.
 * @library /test/lib /
 * @run main/othervm -Xms16m -Xmx256m -XX:+UseLullGC -XX:LullLookInterval=100 gc.lull.TestIdle working
 */

/*
 * @test id=marking
 * @requires vm.gc.Lull & vm.debug
 * @summary The same where a cycle has marked the peak as alive already: another one collects it.
 * @library /test/lib /
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms16m -Xmx256m -XX:+UseLullGC -XX:+LullCycleALot -XX:LullLookInterval=100 gc.lull.TestIdle marking
 */

public class TestIdle {
    private static final int MEGABYTE = 1 << 20;

    private static volatile Object[] held;
    private static volatile long sum;

    private static void check(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }

    private static long committed() {
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted();
    }

    /** For what the VM does when nobody asks. */
    private static boolean await(BooleanSupplier condition) throws InterruptedException {
        for (int i = 0; i < 300 && !condition.getAsBoolean(); i++) {
            Thread.sleep(100);
        }
        return condition.getAsBoolean();
    }

    private static void dropMost() {
        for (int i = 0; i < held.length; i++) {
            if (i % 10 != 0) {
                held[i] = null;
            }
        }
    }

    private static void fill(int megabytes, int size) {
        Object[] peak = new Object[megabytes * (MEGABYTE / size)];
        for (int i = 0; i < peak.length; i++) {
            peak[i] = new byte[size - 16];
        }
        held = peak;
    }

    /** In Java all the time, whether it has a processor or not. */
    private static void work() {
        Thread worker = new Thread(() -> {
            while (true) {
                sum++;
            }
        });
        worker.setDaemon(true);
        worker.start();
    }

    private static String marking() {
        String info = new JMXExecutor().execute("Lull.info", true /* silent */).getStdout();
        return info.lines().filter(line -> line.startsWith("marking.state: ")).findFirst().orElseThrow().substring(15);
    }

    /** With a cycle after each other one. What dies now was found alive by this one. */
    private static void mark() throws InterruptedException {
        String marking = marking();
        for (int i = 0; i < 1000 && !marking.equals("marked"); i++) {
            if (marking.equals("marking") || marking.equals("clearing")) {
                Thread.sleep(10);
            } else {
                WhiteBox.getWhiteBox().youngGC();
            }
            marking = marking();
        }
        check(marking.equals("marked"), "no cycle has marked: " + marking);
    }

    public static void main(String[] args) throws Exception {
        boolean isFixed = args.length > 0 && args[0].equals("fixed");
        boolean isSparse = args.length > 0 && args[0].equals("sparse");
        boolean isMarking = args.length > 0 && args[0].equals("marking");
        boolean isWorking = isMarking || args.length > 0 && args[0].equals("working");
        check(GCBean.collections() >= 0 && committed() > 0, "beans");    // they take a while to load, in which nothing is held yet
        if (isMarking) {
            marking();                                                   // and so does this
        }
        int size = isSparse ? 1 << 10 : 16 << 10;
        fill(isFixed ? 40 : 100, size);
        long peak = committed();
        if (isMarking) {
            mark();
        }
        if (isSparse) {
            dropMost();
        } else {
            held = null;
        }
        if (isWorking) {
            work();
        }
        long globals = GCBean.globalCollections();
        long before = GCBean.collections();
        check(await(() -> GCBean.collections() > before), "no collection in half a minute without work");
        if (isFixed) {
            check(committed() == peak, "-Xms is not kept: " + committed());
            return;
        }
        check(peak > 100L * MEGABYTE, "the peak was of " + peak);
        long most = (isSparse ? 32L : 48L) * MEGABYTE;
        check(await(() -> committed() <= most), "of " + peak + " bytes at the peak " + committed() + " are still committed");
        if (isWorking) {
            check(GCBean.globalCollections() == globals, "threads at work were stopped for the whole heap");
            return;
        }
        // Once for all of it: what there is to gain is gained.
        long collections = GCBean.collections();
        Thread.sleep(3000);
        check(GCBean.collections() - collections <= 1, "collections without work: " + (GCBean.collections() - collections));
        // And it can grow again.
        fill(100, size);
        check(held.length == 100 * (MEGABYTE / size), "lost");
    }
}
