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

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import gc.lull.GCBean;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary What has become old before it died is cleaned by a cycle of concurrent marking where all garbage is private:
 *          memory never runs out, and a pause for the whole heap would be long.
 * @library /
 * @run main/othervm -Xmx256m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking
 *                   -XX:LullReferencePausePercent=10 -Xlog:gc,gc+marking:file=cycles.log gc.lull.concurrent.TestCycleForReferences
 */
public class TestCycleForReferences {
    private static final int ALIVE = 800_000;
    private static final int OLD = 20;
    private static final long PATIENCE = 120_000_000_000L;    // nanoseconds

    record Node(Node next, long number) {}

    private static final Cleaner CLEANER = Cleaner.create();
    private static volatile Node alive;

    private static void produceGarbage() {
        Object[] keep = new Object[16];
        for (int i = 0; i < 20_000; i++) {
            keep[i & 15] = new byte[1000];
        }
        Reference.reachabilityFence(keep);
    }

    private static long lines(String what) throws Exception {
        try (var lines = Files.lines(Path.of("cycles.log"))) {
            return lines.filter(line -> line.contains(what)).count();
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < ALIVE; i++) {
            alive = new Node(alive, i);
        }
        AtomicInteger cleaned = new AtomicInteger();
        List<Object> held = new ArrayList<>();
        for (int i = 0; i < OLD; i++) {
            Object object = new int[4];
            held.add(object);
            CLEANER.register(object, cleaned::incrementAndGet);
        }
        System.gc();    // all this is old, and how long such a pause is is known
        long before = GCBean.collections();
        while (GCBean.collections() == before) {
            CLEANER.register(new Object(), () -> {});
            produceGarbage();
            Thread.sleep(1);    // a request's end
        }
        if (cleaned.get() != 0) {
            throw new AssertionError("objects in use were cleaned");
        }
        Reference.reachabilityFence(held);
        held = null;
        long start = System.nanoTime();
        while (cleaned.get() < OLD) {
            if (System.nanoTime() - start > PATIENCE) {
                throw new AssertionError(cleaned + " of " + OLD + " old objects were cleaned");
            }
            CLEANER.register(new Object(), () -> {});
            produceGarbage();
            Thread.sleep(1);
        }
        long full = lines("Pause Full (References)");
        long remarks = lines(" has ended after ");
        System.out.println(remarks + " cycles, " + full + " global pauses for references");
        if (full > 0 || remarks == 0) {
            throw new AssertionError("references were looked at in " + full + " global pauses, not in cycles (" + remarks + ")");
        }
        if (alive.number != ALIVE - 1) {
            throw new AssertionError(alive.number);
        }
    }
}
