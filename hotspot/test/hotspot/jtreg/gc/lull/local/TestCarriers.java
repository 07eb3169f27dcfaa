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


package gc.lull.local;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import gc.lull.GCBean;

import static gc.lull.local.Checks.check;
import static gc.lull.local.Checks.isPublic;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.continuations
 * @summary What a virtual thread allocates is private to its carrier until it is unmounted; then what its frames refer to is public.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestCarriers 300 100
 */

/*
 * @test id=interpreter
 * @requires vm.gc.Lull & vm.continuations & vm.debug
 * @summary The same in the interpreter, where each load is checked, with a global collection now and then.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx24m
 *                   -Xint -XX:+LullLoadCheck
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestCarriers 100 30
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull & vm.continuations & vm.debug & vm.compiler1.enabled
 * @summary The same in C1's code, without the fast path of unmounting.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx24m
 *                   -XX:TieredStopAtLevel=1 -XX:+LullLoadCheck -XX:-UseContinuationFastPath
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestCarriers 200 50
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull & vm.continuations & vm.debug & vm.compiler2.enabled
 * @summary The same in C2's code, with collections at every third slow allocation.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx24m
 *                   -XX:-TieredCompilation -XX:CompileThreshold=100 -XX:LullLocalCollectALot=3
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestCarriers 100 50
 */

/*
 * @test id=headers
 * @requires vm.gc.Lull & vm.continuations & vm.bits == 64
 * @summary The same with compact headers and references of 64 bits.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m
 *                   -XX:-UseCompressedOops
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+UseCompactObjectHeaders -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestCarriers 200 50
 */

/*
 * @test id=off
 * @requires vm.gc.Lull & vm.continuations & vm.debug
 * @summary With -XX:-LullPrivateCarriers all is public that a thread allocates after it has carried a virtual thread.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate -XX:-LullPrivateCarriers
 *                   gc.lull.local.TestCarriers 100 30 off
 */
public class TestCarriers {
    static final int DEPTH = 10;

    static final Object contended = new Object();
    static final AtomicInteger done = new AtomicInteger();
    static volatile Throwable failure;
    static final AtomicInteger births = new AtomicInteger();
    static final AtomicInteger privateBirths = new AtomicInteger();

    static final class Node {
        final int number;
        final Node next;
        final String name;

        Node(int number, Node next) {
            this.number = number;
            this.next = next;
            this.name = "node " + number;
        }
    }

    static void garbage(int bytes) {
        for (int i = 0; i < bytes; i += 100) {
            byte[] some = new byte[84];
            some[0] = 1;
        }
    }

    /** Each frame has nodes of its own, and the object of a lock that it holds. */
    static void deep(int depth, int number) {
        Node head = null;
        for (int i = 0; i < 3; i++) {
            head = new Node(number + i, head);
        }
        Object lock = new Object();
        births.incrementAndGet();
        if (!isPublic(head) && !isPublic(lock)) {
            privateBirths.incrementAndGet();    // unless a global collection has come just now
        }
        synchronized (lock) {
            if (depth > 0) {
                deep(depth - 1, number + 3);
            } else {
                garbage(20_000);
                LockSupport.parkNanos(1);
            }
        }
        check(isPublic(head) && isPublic(head.next.name) && isPublic(lock), "what the frames of an unmounted thread refer to is public");
        int expected = number + 3;
        for (Node node = head; node != null; node = node.next) {
            expected--;
            check(node.number == expected && node.name.equals("node " + expected), "a node");
        }
        check(expected == number, "the number of nodes");
    }

    /** Unmounted, or not, while it waits for a monitor. */
    static void contend(int number) {
        Node node = new Node(number, new Node(number + 1, null));
        synchronized (contended) {
            if (number % 8 == 0) {
                LockSupport.parkNanos(1);
            }
            garbage(1000);
        }
        check(node.number == number && node.next.number == number + 1 && node.name.equals("node " + number), "a node");
    }

    static void timedWait(int number) throws InterruptedException {
        Node node = new Node(number, new Node(number + 1, null));
        Object monitor = new Object();
        synchronized (monitor) {
            monitor.wait(1);
        }
        check(isPublic(monitor), "an object that a thread waits for is public");
        check(node.number == number && node.next.number == number + 1 && node.name.equals("node " + number), "a node");
    }

    static void run(int number, int rounds) {
        try {
            for (int i = 0; i < rounds && failure == null; i++) {
                deep(DEPTH, number + i);
                contend(number + i);
                if (i % 10 == 0) {
                    timedWait(number + i);
                }
            }
            done.incrementAndGet();
        } catch (Throwable t) {
            failure = t;
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        int rounds = Integer.parseInt(args[1]);
        boolean isOff = args.length > 2;
        long before = GCBean.localCollections();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int number = i * 1000;
            threads.add(Thread.ofVirtual().start(() -> run(number, rounds)));
        }
        while (failure == null && done.get() < count) {
            Thread.sleep(100);
            System.gc();
        }
        if (failure != null) {
            throw new AssertionError("a virtual thread has failed", failure);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        long collections = GCBean.localCollections() - before;
        System.out.println(collections + " local collections, " + GCBean.globalCollections() + " global ones");
        System.out.println(privateBirths + " of " + births + " objects were born private");
        check(isOff ? privateBirths.get() < births.get() / 10 : privateBirths.get() > births.get() / 10 * 9,
              privateBirths + " of " + births + " objects were born private");
        check(isOff || collections >= (long) count * rounds * 20_000 / 10_000_000, "carriers collect locally");
    }
}
