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

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Random;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import gc.lull.GCBean;

import static gc.lull.local.Checks.check;
import static gc.lull.local.Checks.isPublic;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary What is private stays private, and as it is, in a global collection that lack of memory has caused; after one
 *          that was asked for it is public.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx16m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate -XX:LullReferencePausePercent=0
 *                   gc.lull.local.TestGlobalCollections
 */

/*
 * @test id=inPlace
 * @requires vm.gc.Lull & vm.debug
 * @summary The same where nothing can be copied: lines hold private objects, public ones and dead ones.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx16m -XX:LullEvacuationFailureALot=1
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate -XX:LullReferencePausePercent=0
 *                   gc.lull.local.TestGlobalCollections
 */

/*
 * @test id=evacuating
 * @requires vm.gc.Lull & vm.debug
 * @summary The same where each global collection moves all public objects that private ones refer to.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx16m -XX:-LullYoungCollections -XX:LullEvacuateALot=1
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate -XX:LullReferencePausePercent=0
 *                   gc.lull.local.TestGlobalCollections
 */

/*
 * @test id=deduplicating
 * @requires vm.gc.Lull
 * @summary The same where other threads look at strings.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx16m
 *                   -XX:+UseStringDeduplication -XX:StringDeduplicationAgeThreshold=1
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate -XX:LullReferencePausePercent=0
 *                   gc.lull.local.TestGlobalCollections
 */

/*
 * Each of several threads holds private objects of all shapes beside public ones, and makes garbage of both kinds until there have been
 * some global collections. Prints the seed.
 */
public class TestGlobalCollections {

    static final int THREADS = 3;
    static final int ROUNDS = 2;
    static final int COLLECTIONS = 3;      // in each round
    static final int NODES = 2000;

    static volatile Object published;      // what is in it dies when the next one comes
    static volatile boolean failed;

    // One thread's System.gc() makes public what the others have.
    static final CyclicBarrier allHaveChecked = new CyclicBarrier(THREADS);
    static final CyclicBarrier allAreDone = new CyclicBarrier(THREADS);

    static final class Node {
        final int id;
        final String name;
        Node next;
        Object publicObject;               // referred to by others too

        Node(int id, Node next) {
            this.id = id;
            this.name = "node " + id;
            this.next = next;
        }
    }

    static void round(Random random) throws Exception {
        // By turns private, public and dead, so that they share lines.
        Node head = null;
        for (int i = 0; i < NODES; i++) {
            head = new Node(i, head);
            if (i % 3 == 0) {
                Object[] shared = {new int[] {i}, "shared " + i};
                published = shared;
                head.publicObject = shared;
            }
            if (i % 5 == 0) {
                published = new byte[random.nextInt(300)];
            }
        }
        Object[] large = new Object[10_000];
        for (int i = 0; i < large.length; i += 7) {
            large[i] = Integer.valueOf(10_000 + i);
        }
        WeakReference<Object> weak = new WeakReference<>(new byte[50], new ReferenceQueue<>());
        check(!isPublic(head) && !isPublic(large) && !isPublic(weak), "new objects are private");

        long enough = GCBean.globalCollections() + COLLECTIONS;
        while (GCBean.globalCollections() < enough && !failed) {
            for (int i = 0; i < 200; i++) {
                published = new Object[] {new int[random.nextInt(100)], new Node(i, null)};
            }
            verify(head, large);
        }
        for (Node node = head; node != null; node = node.next) {
            check(!isPublic(node) && !isPublic(node.name), "private objects stay private");
            check(node.publicObject == null || isPublic(node.publicObject), "public objects stay public");
        }
        check(!isPublic(large) && !isPublic(large[7]), "a large private object stays private");
        check(!isPublic(weak) && weak.get() != null && !isPublic(weak.get()), "a private weak reference with a queue keeps its referent");

        allHaveChecked.await();
        System.gc();
        verify(head, large);
        check(isPublic(head) && isPublic(head.name) && isPublic(large) && isPublic(weak), "all that survives System.gc() is public");
        check(weak.get() == null, "System.gc() clears weak references");
        allAreDone.await();
    }

    static void verify(Node head, Object[] large) {
        int id = NODES;
        for (Node node = head; node != null; node = node.next) {
            check(node.id == --id && node.name.equals("node " + id), "a node");
            if (id % 3 == 0) {
                Object[] shared = (Object[]) node.publicObject;
                check(((int[]) shared[0])[0] == id && shared[1].equals("shared " + id), "a public object");
            }
        }
        check(id == 0, "the number of nodes");
        for (int i = 0; i < large.length; i++) {
            check(i % 7 == 0 ? (Integer) large[i] == 10_000 + i : large[i] == null, "an element of a large array");
        }
    }

    public static void main(String[] args) throws Exception {
        long seed = args.length > 0 ? Long.parseLong(args[0]) : System.nanoTime() % 1_000_000;
        System.out.println("seed " + seed);
        Throwable[] failures = new Throwable[THREADS];
        Thread[] threads = new Thread[THREADS];
        for (int t = 0; t < THREADS; t++) {
            int number = t;
            threads[t] = new Thread(() -> {
                try {
                    Random random = new Random(seed + number);
                    for (int i = 0; i < ROUNDS; i++) {
                        round(random);
                    }
                } catch (BrokenBarrierException | InterruptedException e) {
                    // another one has failed
                } catch (Throwable failure) {
                    failures[number] = failure;
                    System.out.println("thread " + number + " failed");
                    failure.printStackTrace(System.out);
                    failed = true;
                    for (Thread thread : threads) {
                        thread.interrupt();     // the barriers are broken wherever it is
                    }
                }
            });
        }
        for (Thread thread : threads) {
            thread.start();
        }
        AssertionError all = null;
        for (int t = 0; t < THREADS; t++) {
            threads[t].join();
            if (failures[t] != null) {
                all = all == null ? new AssertionError("in a thread") : all;
                all.addSuppressed(failures[t]);
            }
        }
        if (all != null) {
            throw all;
        }
        System.out.println(GCBean.globalCollections() + " global collections");
    }
}
