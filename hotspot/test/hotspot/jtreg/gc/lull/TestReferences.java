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

import java.lang.ref.Cleaner;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary References are cleared and enqueued, cleaners and finalizers are run, when their objects are dropped and not before.
 * @library /
 * @run main/othervm -Xmx32m -XX:+UseLullGC gc.lull.TestReferences
 */

/*
 * @test id=interpreter
 * @requires vm.gc.Lull
 * @summary References, used by the interpreter.
 * @library /
 * @run main/othervm -Xmx32m -XX:+UseLullGC -Xint gc.lull.TestReferences
 */

/*
 * @test id=oneWorker
 * @requires vm.gc.Lull
 * @summary References, processed by one thread.
 * @library /
 * @run main/othervm -Xmx32m -XX:+UseLullGC -XX:ParallelGCThreads=1 gc.lull.TestReferences
 */

/*
 * @test id=fourWorkers
 * @requires vm.gc.Lull
 * @summary References, processed by four threads.
 * @library /
 * @run main/othervm -Xmx32m -XX:+UseLullGC -XX:ParallelGCThreads=4 -XX:-UseDynamicNumberOfGCThreads
 *                   -XX:+UnlockExperimentalVMOptions -XX:ReferencesPerThread=0 gc.lull.TestReferences
 */

/*
 * @test id=evacuationFailureALot
 * @requires vm.gc.Lull & vm.debug
 * @summary References to objects of which each collection moves some.
 * @library /
 * @run main/othervm -Xmx48m -XX:+UseLullGC -XX:LullEvacuateALot=1 -XX:LullEvacuationFailureALot=3
 *                   -XX:ParallelGCThreads=4 -XX:-UseDynamicNumberOfGCThreads gc.lull.TestReferences
 */

/*
 * @test id=slideALot
 * @requires vm.gc.Lull & vm.debug
 * @summary References whose referents slide with their blocks at each collection.
 * @library /
 * @run main/othervm -Xmx48m -XX:+UseLullGC -XX:LullSlideALot=1 gc.lull.TestReferences
 */

public class TestReferences {
    static final class Referent {
        final int number;
        Referent(int number) { this.number = number; }
    }

    private static Referent held;

    private static void check(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }

    /** For what other threads do after a collection. */
    private static void await(BooleanSupplier condition, String message) throws InterruptedException {
        for (int i = 0; i < 2000 && !condition.getAsBoolean(); i++) {
            Thread.sleep(10);
        }
        check(condition.getAsBoolean(), message);
    }

    private static void weak() throws InterruptedException {
        ReferenceQueue<Referent> queue = new ReferenceQueue<>();
        held = new Referent(1);
        WeakReference<Referent> weak = new WeakReference<>(held, queue);
        System.gc();
        System.gc();
        check(weak.get() == held && weak.get().number == 1, "a weak reference to an object that is in use was cleared");
        check(queue.poll() == null, "a weak reference to an object that is in use was enqueued");
        held = null;
        System.gc();
        check(weak.refersTo(null), "a weak reference was not cleared");
        check(queue.remove(20_000) == weak, "a weak reference was not enqueued");
        check(queue.remove(100) == null, "a weak reference was enqueued twice");
    }

    private static void phantom() throws InterruptedException {
        ReferenceQueue<Referent> queue = new ReferenceQueue<>();
        held = new Referent(2);
        PhantomReference<Referent> phantom = new PhantomReference<>(held, queue);
        System.gc();
        System.gc();
        check(phantom.refersTo(held), "a phantom reference to an object that is in use was cleared");
        check(queue.poll() == null, "a phantom reference to an object that is in use was enqueued");
        held = null;
        System.gc();
        check(phantom.refersTo(null), "a phantom reference was not cleared");
        check(queue.remove(20_000) == phantom, "a phantom reference was not enqueued");
    }

    private static void cleaner() throws InterruptedException {
        AtomicInteger cleaned = new AtomicInteger();
        held = new Referent(3);
        Cleaner cleaner = Cleaner.create();
        cleaner.register(held, cleaned::incrementAndGet);
        System.gc();
        Thread.sleep(100);
        check(cleaned.get() == 0, "the object of a cleaner was cleaned while it was in use");
        held = null;
        System.gc();
        await(() -> cleaned.get() == 1, "the object of a cleaner was not cleaned");
        System.gc();
        Thread.sleep(100);
        check(cleaned.get() == 1, "the object of a cleaner was cleaned twice");
        Reference.reachabilityFence(cleaner);
    }

    static final class Finalizable {
        static final AtomicInteger finalized = new AtomicInteger();
        static volatile Finalizable resurrected;

        final Referent part = new Referent(4);

        @Override
        @SuppressWarnings("removal")
        protected void finalize() {
            finalized.incrementAndGet();
            resurrected = this;
        }
    }

    private static WeakReference<Finalizable> newFinalizable(ReferenceQueue<Finalizable> queue, List<Reference<?>> references) {
        Finalizable finalizable = new Finalizable();
        references.add(new PhantomReference<>(finalizable, queue));
        WeakReference<Finalizable> weak = new WeakReference<>(finalizable);
        System.gc();
        check(weak.get() == finalizable, "the weak reference to an object with a finalizer was cleared while it was in use");
        check(Finalizable.finalized.get() == 0, "an object was finalized while it was in use");
        return weak;
    }

    private static void finalizer() throws InterruptedException {
        ReferenceQueue<Finalizable> queue = new ReferenceQueue<>();
        List<Reference<?>> references = new ArrayList<>();
        WeakReference<Finalizable> weak = newFinalizable(queue, references);
        System.gc();
        check(weak.refersTo(null), "the weak reference to an object with a finalizer was not cleared");
        await(() -> Finalizable.resurrected != null, "an object was not finalized");
        System.gc();
        check(Finalizable.resurrected.part.number == 4, "an object that its finalizer has kept is damaged");
        check(queue.poll() == null, "the phantom reference to an object that its finalizer has kept was enqueued");
        Finalizable.resurrected = null;
        System.gc();
        check(queue.remove(20_000) == references.get(0), "the phantom reference to a finalized object was not enqueued");
        check(Finalizable.finalized.get() == 1, "an object was finalized " + Finalizable.finalized.get() + " times");
    }

    private static void soft() {
        held = new Referent(5);
        SoftReference<Referent> toHeld = new SoftReference<>(held);
        SoftReference<Referent> toDropped = new SoftReference<>(new Referent(6));
        System.gc();
        check(toDropped.get() != null && toDropped.get().number == 6, "a soft reference was cleared although there is memory");
        List<byte[]> filler = new ArrayList<>();
        boolean thrown = false;
        try {
            while (true) {
                filler.add(new byte[10_000]);
            }
        } catch (OutOfMemoryError e) {
            filler.clear();
            thrown = true;
        }
        check(thrown, "no OutOfMemoryError");
        check(toDropped.get() == null, "OutOfMemoryError was thrown before a soft reference was cleared");
        check(toHeld.get() == held && held.number == 5, "a soft reference to an object that is in use was cleared");
    }

    /** Many at a time, some to objects in use, some only to be reached through others. */
    private static void many() {
        final int count = 30_000;
        Referent[] inUse = new Referent[count];
        List<Reference<Referent>> references = new ArrayList<>(count);
        ReferenceQueue<Referent> queue = new ReferenceQueue<>();
        for (int i = 0; i < count; i++) {
            Referent referent = new Referent(i);
            if (i % 3 == 0) {
                inUse[i] = referent;
            }
            references.add(i % 2 == 0 ? new WeakReference<>(referent, queue) : new PhantomReference<>(referent, queue));
        }
        System.gc();
        for (int i = 0; i < count; i++) {
            if (i % 3 == 0) {
                check(references.get(i).refersTo(inUse[i]) && inUse[i].number == i,
                      "reference " + i + " does not refer to its object, which is in use");
            } else {
                check(references.get(i).refersTo(null), "reference " + i + " was not cleared");
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        weak();
        phantom();
        cleaner();
        finalizer();
        many();
        soft();
    }
}
