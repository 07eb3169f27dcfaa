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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

import static gc.lull.local.Checks.check;

/*
 * @test
 * @requires vm.gc.Lull & vm.debug
 * @summary There may be more threads, one after the other, than there are names for them: a name that a thread has is not given to another.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   -XX:LullThreadNames=1000 -XX:+VerifyBeforeGC -XX:+VerifyAfterGC
 *                   -XX:+UseLullGC gc.lull.local.TestThreadNames
 */
public class TestThreadNames {
    static final int NAMES = 1000;
    static final int LONG_LIVED = 20;
    static final int AT_ONCE = 10;
    static final int LAST_LONG_LIVED = 200;    // of the names; threads of the VM have some before

    static final AtomicReference<Throwable> failure = new AtomicReference<>();

    static Thread start(Runnable body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Throwable t) {
                failure.compareAndSet(null, t);
            }
        });
        thread.start();
        return thread;
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void sleep() {
        try {
            Thread.sleep(10);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void verify(List<int[]> objects) {
        for (int i = 0; i < objects.size(); i++) {
            int[] object = objects.get(i);
            check(object[0] == i && object[object.length - 1] == i, "object " + i + " is whole");
        }
    }

    static List<int[]> make() {
        List<int[]> objects = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            int[] object = new int[1 + i];
            object[0] = i;
            object[object.length - 1] = i;
            objects.add(object);
        }
        return objects;
    }

    public static void main(String[] args) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        List<Thread> longLived = new ArrayList<>();
        for (int i = 0; i < LONG_LIVED; i++) {
            longLived.add(start(() -> {
                List<int[]> objects = make();
                while (end.getCount() > 0) {
                    verify(objects);
                    make();
                    sleep();
                }
                verify(objects);
            }));
        }
        for (int started = 0; started < 3 * NAMES; started += AT_ONCE) {
            List<Thread> threads = new ArrayList<>();
            CountDownLatch made = new CountDownLatch(AT_ONCE);
            CountDownLatch verified = new CountDownLatch(1);
            for (int i = 0; i < AT_ONCE; i++) {
                threads.add(start(() -> {
                    List<int[]> objects = make();
                    made.countDown();
                    await(verified);
                    verify(objects);
                }));
            }
            await(made);
            if (started % NAMES < LAST_LONG_LIVED) {
                System.gc();    // it checks that no two threads have the same name
            }
            verified.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
        }
        end.countDown();
        for (Thread thread : longLived) {
            thread.join();
        }
        if (failure.get() != null) {
            throw new AssertionError("in a thread", failure.get());
        }
    }
}
