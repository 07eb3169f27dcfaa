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

package gc.lull.concurrent;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import jdk.test.whitebox.WhiteBox;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary "new WeakReference<>(f())" allocates before f() is called. So a public Reference may be old, and a cycle may
 *          have looked at it, before its constructor stores what it refers to. That is cleared or kept as any other.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx128m -XX:+UseLullGC
 *                   -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:+LullAlwaysPublic
 *                   gc.lull.concurrent.TestLateReferents
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx128m -XX:+UseLullGC
 *                   -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:+LullAlwaysPublic
 *                   -XX:-LullAgeSurvivors -XX:ParallelGCThreads=3 -XX:ConcGCThreads=2 -XX:-UseDynamicNumberOfGCThreads
 *                   gc.lull.concurrent.TestLateReferents
 */

public class TestLateReferents {
    private static final WhiteBox WB = WhiteBox.getWhiteBox();
    private static final int KEY = 0x5eed;

    private static final class Value {
        final int[] parts = new int[4096];    // has lines of its own, which a sweep makes free

        Value() {
            Arrays.fill(parts, KEY);
        }
    }

    /** Where a young pause comes, between the constructor and the end of the cycle. */
    private enum Pause { None, WhileMarking, AfterMarking }

    private static Object[] old;
    private static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();
    private static Reference<Object> made;

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    /** Markers stand still from here on, and have not come to the array yet. */
    private static void beginMarking() {
        old = new Object[] {new Value()};
        WB.fullGC();
        WB.concurrentGCRunTo(WB.AFTER_MARKING_STARTED);
    }

    /** The caller has allocated a Reference, which becomes old. No marker will find the value in the array. */
    private static Object takeWhileMarking() {
        WB.youngGC();
        WB.youngGC();
        Object value = old[0];
        old[0] = null;
        return value;
    }

    private static void endCycle(Pause pause) {
        switch (pause) {
            case None -> {}
            case WhileMarking -> WB.youngGC();
            case AfterMarking -> {
                WB.concurrentGCRunTo(WB.BEFORE_MARKING_COMPLETED);
                WB.youngGC();
            }
        }
        WB.concurrentGCRunToIdle();
    }

    private static void checkWeak(Pause pause) {
        beginMarking();
        made = new WeakReference<>(takeWhileMarking(), QUEUE);
        endCycle(pause);
        WB.concurrentGCRunTo(WB.AFTER_MARKING_STARTED);
        WB.concurrentGCRunToIdle();
        check(made.refersTo(null), pause + ": a WeakReference is not cleared");
    }

    private static void checkPhantom(Pause pause) throws InterruptedException {
        beginMarking();
        made = new PhantomReference<>(takeWhileMarking(), QUEUE);
        endCycle(pause);
        WB.concurrentGCRunTo(WB.AFTER_MARKING_STARTED);
        WB.concurrentGCRunToIdle();
        check(made.refersTo(null), pause + ": a PhantomReference is not cleared");
    }

    private static void checkSoft(Pause pause) {
        beginMarking();
        made = new SoftReference<>(takeWhileMarking(), QUEUE);
        endCycle(pause);
        WB.youngGC();    // what is free has been used by others
        Value value = (Value) made.get();
        check(value != null, pause + ": a SoftReference is cleared");
        check(Arrays.stream(value.parts).allMatch(part -> part == KEY), pause + ": a SoftReference's value is lost");
    }

    public static void main(String[] args) throws Exception {
        WB.concurrentGCAcquireControl();
        try {
            for (Pause pause : Pause.values()) {
                checkSoft(pause);
                checkWeak(pause);
                check(QUEUE.remove(10_000) == made, pause + ": a WeakReference is not enqueued");
                checkPhantom(pause);
                check(QUEUE.remove(10_000) == made, pause + ": a PhantomReference is not enqueued");
            }
        } finally {
            WB.concurrentGCReleaseControl();
        }
    }
}
