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

import java.util.concurrent.CountDownLatch;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary Monitors that are held, entered or waited for during a collection still work after it.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC gc.lull.TestMonitors
 */

/*
 * @test id=compactHeaders
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary Monitors, kept in a table.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UseCompactObjectHeaders gc.lull.TestMonitors
 */

/*
 * @test id=evacuateALot
 * @requires vm.gc.Lull & vm.debug
 * @summary Monitors of objects that each collection moves.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:LullEvacuateALot=1 gc.lull.TestMonitors
 */

/*
 * @test id=evacuationFailureALot
 * @requires vm.gc.Lull & vm.debug
 * @summary Monitors of objects some of which cannot be moved.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:LullEvacuateALot=1 -XX:LullEvacuationFailureALot=2 gc.lull.TestMonitors
 */

/*
 * @test id=slideALot
 * @requires vm.gc.Lull & vm.debug
 * @summary Monitors of objects that slide with their blocks at each collection.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:LullSlideALot=1 gc.lull.TestMonitors
 */

public class TestMonitors {
    private static final int OBJECTS = 50;

    static final class Lock {
        int entered;
        int hash;
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }

    /** Nobody competes for these: the header says that they are locked, and by whom the thread knows. */
    private static void fast(Lock[] locks, int depth) {
        if (depth == 5) {
            System.gc();
            return;
        }
        Lock lock = locks[depth];
        synchronized (lock) {
            synchronized (lock) {
                fast(locks, depth + 1);
                check(Thread.holdsLock(lock), "a lock was lost");
            }
            check(Thread.holdsLock(lock), "a lock that was entered twice was lost when it was left once");
            System.gc();
        }
        check(!Thread.holdsLock(lock), "a lock is still held");
    }

    /** One thread holds the monitor, one waits to enter it, one waits to be notified. */
    private static void inflated(Lock lock) throws Exception {
        CountDownLatch waiting = new CountDownLatch(1);
        boolean[] notified = new boolean[1];
        Thread waiter = new Thread(() -> {
            synchronized (lock) {
                waiting.countDown();
                while (!notified[0]) {
                    try {
                        lock.wait();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
                lock.entered++;
            }
        });
        waiter.start();
        waiting.await();
        Thread blocked = new Thread(() -> {
            synchronized (lock) {
                lock.entered++;
            }
        });
        synchronized (lock) {
            blocked.start();
            while (blocked.getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
            System.gc();
            System.gc();
            check(Thread.holdsLock(lock), "a lock was lost");
            check(lock.entered == 0, "another thread has entered a monitor that is held");
            notified[0] = true;
            lock.notifyAll();
        }
        waiter.join();
        blocked.join();
        check(lock.entered == 2, lock.entered + " threads have entered the monitor instead of 2");
        System.gc();
        synchronized (lock) {
            lock.entered++;
        }
    }

    private static Lock[] newLocks() {
        Lock[] locks = new Lock[OBJECTS];
        for (int i = 0; i < OBJECTS; i++) {
            locks[i] = new Lock();
            if (i % 2 == 0) {
                locks[i].hash = System.identityHashCode(locks[i]);
            }
        }
        return locks;
    }

    public static void main(String[] args) throws Exception {
        Lock[] locks = newLocks();
        for (int i = 0; i < 10; i++) {
            fast(locks, 0);
        }
        for (int i = 10; i < 30; i++) {
            inflated(locks[i]);
        }
        // Each lock, used or not, keeps its identity and can be locked.
        for (int i = 0; i < OBJECTS; i++) {
            check(locks[i].hash == 0 || locks[i].hash == System.identityHashCode(locks[i]), "the identity hash code has changed");
            synchronized (locks[i]) {
                check(Thread.holdsLock(locks[i]), "a lock cannot be taken");
            }
        }
    }
}
