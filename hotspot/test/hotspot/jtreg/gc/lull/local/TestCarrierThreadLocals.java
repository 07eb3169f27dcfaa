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
import java.util.concurrent.locks.LockSupport;
import gc.lull.GCBean;
import gc.lull.local.OwnThread.Value;
import jdk.internal.access.SharedSecrets;
import jdk.internal.misc.CarrierThreadLocal;

import static gc.lull.local.Checks.check;
import static gc.lull.local.Checks.isPublic;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.continuations
 * @summary A virtual thread that is unmounted while it makes the value of a variable of its carrier puts it into the map of that carrier, wherever it is then.
 * @modules java.base/jdk.internal.access java.base/jdk.internal.misc
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx48m
 *                   -Djdk.virtualThreadScheduler.parallelism=2 -Djdk.virtualThreadScheduler.maxPoolSize=2
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestCarrierThreadLocals
 */

/*
 * @test id=interpreter
 * @requires vm.gc.Lull & vm.continuations & vm.debug
 * @summary The same in the interpreter, where each load is checked.
 * @modules java.base/jdk.internal.access java.base/jdk.internal.misc
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx48m
 *                   -Djdk.virtualThreadScheduler.parallelism=2 -Djdk.virtualThreadScheduler.maxPoolSize=2
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   -Xint -XX:+LullLoadCheck
 *                   gc.lull.local.TestCarrierThreadLocals
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull & vm.continuations & vm.debug & vm.compiler1.enabled
 * @summary The same in C1's code, with changes of the mode.
 * @modules java.base/jdk.internal.access java.base/jdk.internal.misc
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx48m
 *                   -Djdk.virtualThreadScheduler.parallelism=2 -Djdk.virtualThreadScheduler.maxPoolSize=2
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   -XX:TieredStopAtLevel=1 -XX:Tier3DelayOn=0 -XX:+LullLoadCheck -XX:LullFlipModeALot=20
 *                   gc.lull.local.TestCarrierThreadLocals
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull & vm.continuations & vm.debug & vm.compiler2.enabled
 * @summary The same in C2's code, with collections at every third slow allocation.
 * @modules java.base/jdk.internal.access java.base/jdk.internal.misc
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx48m
 *                   -Djdk.virtualThreadScheduler.parallelism=2 -Djdk.virtualThreadScheduler.maxPoolSize=2
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   -XX:-TieredCompilation -XX:CompileThreshold=100 -XX:LullLocalCollectALot=3
 *                   gc.lull.local.TestCarrierThreadLocals
 */
public class TestCarrierThreadLocals {
    static final int ROUNDS = 100;

    static final CarrierThreadLocal<Value> early = new CarrierThreadLocal<>();
    static final CarrierThreadLocal<Value> late = new CarrierThreadLocal<>();

    /** Its first value of each carrier is made by a virtual thread that waits meanwhile. */
    static final class Slow extends CarrierThreadLocal<Value> {
        final Thread maker;
        final int number;
        final CountDownLatch mayGoOn = new CountDownLatch(1);

        Slow(Thread maker, int number) {
            this.maker = maker;
            this.number = number;
        }

        @Override
        protected Value initialValue() {
            check(Thread.currentThread() == maker, "others find the value that was made");
            await(mayGoOn);
            return new Value(number);
        }
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static Thread carrier() {
        return SharedSecrets.getJavaLangAccess().currentCarrierThread();
    }

    /** Private garbage and waits: its carrier collects locally. */
    static void garbage() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 1000; k++) {
                byte[] some = new byte[1000];
                some[0] = 1;
            }
            Thread.sleep(1);
        }
    }

    /** Keeps a carrier, from when it has said which one that is until it may end. */
    static final class Keeper {
        final AtomicReference<Thread> carrier = new AtomicReference<>();
        final CountDownLatch mayLook = new CountDownLatch(1);
        final CountDownLatch mayEnd = new CountDownLatch(1);
        final AtomicReference<Throwable> thrown = new AtomicReference<>();
        final Thread thread;

        Keeper(Slow slow, int round) {
            thread = Thread.ofVirtual().uncaughtExceptionHandler((t, e) -> thrown.set(e)).start(() -> run(slow, round));
        }

        private static void spin(CountDownLatch latch) {
            while (latch.getCount() > 0) {
                Thread.onSpinWait();
            }
        }

        /** Without a wait, so on one carrier. */
        private void run(Slow slow, int round) {
            Thread mine = TestCarrierThreadLocals.carrier();
            Value value = new Value(round);
            late.set(value);
            carrier.set(mine);
            spin(mayLook);
            if (slow.mayGoOn.getCount() == 0) {
                check(isPublic(value), "what is set for a carrier that has been left by a virtual thread is public");
                check(late.get() == value && value.number == round && value.isWhole(), "the value that this thread has set");
                Value made = slow.get();
                check(made.number == slow.number && made.isWhole(), "the value that was made on another carrier");
                Value before = early.get();
                check(before.number == -round && before.isWhole() && isPublic(before), "what was set before the other one left is public");
            }
            spin(mayEnd);
            check(TestCarrierThreadLocals.carrier() == mine, "it has not left its carrier");
        }

        void end() throws InterruptedException {
            mayLook.countDown();
            mayEnd.countDown();
            thread.join();
            checkNothingThrown(thrown);
        }
    }

    static void checkNothingThrown(AtomicReference<Throwable> thrown) {
        if (thrown.get() != null) {
            throw new AssertionError("in a virtual thread", thrown.get());
        }
    }

    static void round(int round) throws InterruptedException {
        AtomicReference<Slow> slow = new AtomicReference<>();
        AtomicReference<Thread> left = new AtomicReference<>();
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread maker = Thread.ofVirtual().uncaughtExceptionHandler((t, e) -> thrown.set(e)).start(() -> {
            slow.set(new Slow(Thread.currentThread(), 1000 + round));
            Thread first = carrier();
            early.set(new Value(-round));
            left.set(first);
            Value made = slow.get().get();
            check(carrier() != first, "it goes on on the other carrier");
            check(made.number == 1000 + round && made.isWhole(), "the value that it has made");
            made = null;
            try {
                garbage();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        while ((left.get() == null || maker.getState() != Thread.State.WAITING) && maker.isAlive()) {
            Thread.sleep(1);
        }
        checkNothingThrown(thrown);
        // Two carriers, and a thread that stays on each.
        List<Keeper> keepers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            keepers.add(new Keeper(slow.get(), round));
        }
        for (Keeper keeper : keepers) {
            while (keeper.carrier.get() == null && keeper.thread.isAlive()) {
                Thread.sleep(1);
            }
        }
        boolean firstIsThere = keepers.get(0).carrier.get() == left.get();
        Keeper there = keepers.get(firstIsThere ? 0 : 1);
        Keeper elsewhere = keepers.get(firstIsThere ? 1 : 0);
        check(there.carrier.get() == left.get() && elsewhere.carrier.get() != left.get(), "both carriers are taken");
        elsewhere.end();
        slow.get().mayGoOn.countDown();
        maker.join();
        checkNothingThrown(thrown);
        there.end();
    }

    public static void main(String[] args) throws Exception {
        long before = GCBean.localCollections();
        for (int i = 1; i <= ROUNDS; i++) {
            round(i);
        }
        long collections = GCBean.localCollections() - before;
        System.out.println(collections + " local collections");
        check(collections >= ROUNDS, "carriers collect locally");
    }
}
