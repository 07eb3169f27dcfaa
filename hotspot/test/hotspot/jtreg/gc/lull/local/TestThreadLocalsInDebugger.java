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

import java.util.concurrent.locks.LockSupport;
import gc.lull.local.OwnThread.Value;

import static gc.lull.local.Checks.check;
import static gc.lull.local.Checks.isPublic;

/*
 * @test
 * @requires vm.gc.Lull & vm.jvmti
 * @summary A debugger stops a thread in ThreadLocal.set, which has the map in a local by then, and runs a method there that waits. The map is not
 *          replaced by a private one meanwhile: the value would go into the old one.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm/native -agentlib:LullStopInSet -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocalsInDebugger
 */
public class TestThreadLocalsInDebugger {
    private static final ThreadLocal<Value> BEFORE = new ThreadLocal<>();
    private static final ThreadLocal<Value> MEANWHILE = new ThreadLocal<>();

    private static boolean wasStopped;

    /** The thread's next {@code set} runs {@link #stopped}, between looking for the map and storing into it. */
    private static native void stopInSet(Thread thread);

    private static void stopped() {
        wasStopped = true;
        waitSometimes();
    }

    /** Each wait has enough before it for a local collection, and not so much that one comes without it. */
    private static void waitSometimes() {
        for (int i = 0; i < 10; i++) {
            for (int k = 0; k < 100; k++) {
                byte[] garbage = new byte[1000];
                garbage[0] = 1;
            }
            LockSupport.parkNanos(1000);
        }
    }

    private static void set() {
        BEFORE.set(new Value(1));
        waitSometimes();
        check(!isPublic(BEFORE.get()), "a value of this thread is public");
        // Makes all public, the map, too.
        System.gc();
        check(isPublic(BEFORE.get()), "System.gc() has left a value private");
        stopInSet(Thread.currentThread());
        MEANWHILE.set(new Value(2));
        check(wasStopped, "the thread was not stopped");
        Value value = MEANWHILE.get();
        check(value != null && value.number == 2 && value.isWhole(), "lost: " + value);
        waitSometimes();
        check(MEANWHILE.get() == value && BEFORE.get().isWhole(), "a value is another one");
        // Nobody has the map in a frame any more.
        MEANWHILE.set(new Value(3));
        check(!isPublic(MEANWHILE.get()), "the map was not taken back");
    }

    public static void main(String[] args) throws Exception {
        System.loadLibrary("LullStopInSet");
        OwnThread.run(TestThreadLocalsInDebugger::set);
    }
}
