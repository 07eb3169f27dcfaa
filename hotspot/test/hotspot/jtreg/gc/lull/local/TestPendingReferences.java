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

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.ref.Cleaner;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import gc.lull.GCBean;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary References are processed where all garbage is private and memory never runs out.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullReferencePausePercent=10 -XX:MaxDirectMemorySize=1g -Xlog:gc+publish=debug:file=modes.log gc.lull.local.TestPendingReferences
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull
 * @summary The same in code of C1, with compact headers.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullReferencePausePercent=10 -XX:MaxDirectMemorySize=1g -Xlog:gc+publish=debug:file=modes.log -XX:TieredStopAtLevel=1 -XX:+UseCompactObjectHeaders gc.lull.local.TestPendingReferences
 */

/*
 * @test id=interpreter
 * @requires vm.gc.Lull
 * @summary The same in the interpreter, with references of 64 bits.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullReferencePausePercent=10 -XX:MaxDirectMemorySize=1g -Xlog:gc+publish=debug:file=modes.log -Xint -XX:-UseCompressedOops gc.lull.local.TestPendingReferences
 */

/*
 * @test id=collectALot
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with local collections wherever there may be one.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullReferencePausePercent=10 -XX:MaxDirectMemorySize=1g -Xlog:gc+publish=debug:file=modes.log -XX:LullLocalCollectALot=1 gc.lull.local.TestPendingReferences
 */

public class TestPendingReferences {
    private static final long PATIENCE = 60_000_000_000L;    // nanoseconds

    static final class Held {
        final int number;
        Held(int number) { this.number = number; }
    }

    static final class Finalized {
        static final AtomicInteger finalized = new AtomicInteger();
        @Override @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() { finalized.incrementAndGet(); }
    }

    private static volatile Object shared;

    private static void check(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }

    private static void produceGarbage(int megabytes) {
        Object[] keep = new Object[16];
        for (int i = 0; i < megabytes * 1000; i++) {
            keep[i & 15] = new byte[1000];
        }
        Reference.reachabilityFence(keep);
    }

    /** Produces private garbage until the condition holds. */
    private static void await(BooleanSupplier condition, String what) throws InterruptedException {
        long start = System.nanoTime();
        for (int megabytes = 0; !condition.getAsBoolean(); megabytes += 4) {
            check(System.nanoTime() - start < PATIENCE, "not within " + megabytes + " MB of garbage: " + what);
            produceGarbage(4);
            Thread.sleep(1);    // the reference handler's turn, and a request's end
        }
    }

    private static void privateWeak() throws InterruptedException {
        WeakReference<Held> dead = new WeakReference<>(new Held(1));
        Held held = new Held(2);
        WeakReference<Held> alive = new WeakReference<>(held);
        SoftReference<Held> soft = new SoftReference<>(new Held(3));
        await(() -> dead.get() == null, "a private weak reference is cleared");
        check(alive.get() == held && held.number == 2, "a weak reference to an object in use was cleared");
        check(soft.get() != null && soft.get().number == 3, "a soft reference was cleared though memory suffices");
    }

    private static void chains() throws InterruptedException {
        // Alive by the soft reference of a kept one alone.
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        WeakReference<Object> queued = new WeakReference<>(new Object[] {new WeakReference<>(new Held(4)), new Held(5)}, queue);
        WeakReference<WeakReference<Held>> toWeak = new WeakReference<>(new WeakReference<>(new Held(6)));
        await(() -> toWeak.get() == null, "a weak reference to a weak reference is cleared");
        await(() -> queue.poll() == queued, "a private weak reference is enqueued");
        check(queued.get() == null, "an enqueued reference is not cleared");
    }

    private static void publicReferent() throws InterruptedException {
        shared = new Held(7);
        WeakReference<Object> weak = new WeakReference<>(shared);
        shared = null;
        await(() -> weak.get() == null, "a private weak reference to a public object is cleared");
    }

    private static void phantoms() throws InterruptedException {
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        PhantomReference<Object> phantom = new PhantomReference<>(new Held(8), queue);
        await(() -> queue.poll() == phantom, "a phantom reference is enqueued");
    }

    private static void cleaners() throws InterruptedException {
        AtomicInteger cleaned = new AtomicInteger();
        Cleaner cleaner = Cleaner.create();
        int registered = 0;
        for (int i = 0; i < 200; i++) {
            cleaner.register(new Held(i), cleaned::incrementAndGet);
            registered++;
        }
        int all = registered;
        await(() -> cleaned.get() == all, "cleaners run");
    }

    private static void finalizers() throws InterruptedException {
        for (int i = 0; i < 10; i++) {
            new Finalized();
        }
        await(() -> Finalized.finalized.get() == 10, "finalizers run");
    }

    private static void weakMap() throws InterruptedException {
        Map<Object, byte[]> map = new WeakHashMap<>();
        Object key = new Held(9);
        map.put(key, new byte[9]);
        for (int i = 0; i < 100; i++) {
            map.put(new Held(i), new byte[10]);
        }
        await(() -> map.size() == 1, "a weak map forgets");
        check(map.get(key).length == 9, "a weak map has lost an entry whose key is in use");
    }

    /** What has become old before it dies. */
    private static void outlived() throws InterruptedException {
        AtomicInteger cleaned = new AtomicInteger();
        Cleaner cleaner = Cleaner.create();
        Object[] held = new Object[20];
        for (int i = 0; i < held.length; i++) {
            cleaner.register(held[i] = new Held(i), cleaned::incrementAndGet);
        }
        long pauses = GCBean.collections();
        await(() -> {
            cleaner.register(new Held(0), () -> {});
            return GCBean.collections() >= pauses + 3;
        }, "three pauses");
        check(cleaned.get() == 0, "objects in use were cleaned");
        Reference.reachabilityFence(held);
        held = null;
        await(() -> cleaned.get() == 20, "cleaners of old objects run");
    }

    /** Many registrations, next to no garbage: waits say so. */
    private static void registrationsAlone() throws InterruptedException {
        AtomicInteger cleaned = new AtomicInteger();
        Cleaner cleaner = Cleaner.create();
        int registered = 0;
        for (; cleaned.get() == 0 && registered < 10_000; registered++) {
            cleaner.register(new Held(registered), cleaned::incrementAndGet);
            if (registered % 100 == 99) {
                Thread.sleep(10);
            }
        }
        check(cleaned.get() > 0, "none of " + registered + " was cleaned");
    }

    private static WeakReference<Arena> takeOutside(int bytes) {
        Arena arena = Arena.ofAuto();
        arena.allocate(bytes).fill((byte) 1);
        return new WeakReference<>(arena);
    }

    /** Few registrations, and no garbage but a few hundred bytes: it is the process that grows. */
    private static void memoryOutside() throws InterruptedException {
        List<WeakReference<Arena>> arenas = new ArrayList<>();
        shared = arenas;
        for (int i = 0; i < 40; i++) {
            arenas.add(takeOutside(4 << 20));
        }
        long start = System.nanoTime();
        while (arenas.get(0).get() != null) {
            check(System.nanoTime() - start < PATIENCE, "160 MB outside of the heap are not given up");
            Thread.sleep(50);
        }
    }

    /** Neither memory nor many registrations: threads of executors that nobody has shut down. */
    private static void threadsOutside() throws InterruptedException {
        AtomicInteger alive = new AtomicInteger();
        for (int i = 0; i < 300; i++) {
            Executors.newSingleThreadExecutor(task -> new Thread(() -> {
                alive.incrementAndGet();
                task.run();
                alive.decrementAndGet();
            })).execute(() -> {});
        }
        long start = System.nanoTime();
        while (alive.get() > 150) {
            check(System.nanoTime() - start < PATIENCE, alive.get() + " of 300 executors' threads are alive");
            Thread.sleep(50);
        }
    }

    /** Which threads changed their modes, and why: a thread in public mode collects nothing. */
    private static String modes() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("modes.log"))) {
            return lines.filter(line -> line.matches(".*\\] Thread [0-9]+: .*")).collect(Collectors.joining("\n"));
        }
    }

    public static void main(String[] args) throws Exception {
        privateWeak();
        chains();
        publicReferent();
        phantoms();
        cleaners();
        finalizers();
        weakMap();
        outlived();
        registrationsAlone();
        memoryOutside();
        threadsOutside();
        check(GCBean.localCollections() > 100, "local collections: " + GCBean.localCollections() + "\n" + modes());
    }
}
