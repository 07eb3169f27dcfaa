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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import gc.lull.GCBean;
import jdk.test.lib.dcmd.PidJcmdExecutor;

/*
 * @test id=scarce
 * @requires vm.gc.Lull
 * @summary A thread with a very deep stack looks at it rarely where memory is scarce: for each frame that it visits it has
 *          allocated some hundred bytes.
 * @library / /test/lib
 * @modules java.base/jdk.internal.misc java.management
 * @run main/othervm -Xms96m -Xmx96m -XX:+UsePerfData -XX:+UseLullGC gc.lull.local.TestDeepStacks scarce
 */

/*
 * @test id=waits
 * @requires vm.gc.Lull
 * @summary The same of one that waits now and then.
 * @library / /test/lib
 * @modules java.base/jdk.internal.misc java.management
 * @run main/othervm -Xms96m -Xmx96m -XX:+UsePerfData -XX:+UseLullGC gc.lull.local.TestDeepStacks waits
 */

public class TestDeepStacks {
    private static final int M = 1 << 20;
    private static final int DEPTH = 100_000;
    private static final int GARBAGE = 150;             // MB
    private static final int BYTES_PER_FRAME = 256;     // half of what LullWalkBudget says

    static volatile Object last;
    static byte[][] held;

    private static long counter(String name) {
        String all = new PidJcmdExecutor().execute("PerfCounter.print", true).getOutput();
        Matcher matcher = Pattern.compile("^sun\\.gc\\.lull\\.local\\." + name + "=(\\d+)$", Pattern.MULTILINE).matcher(all);
        if (!matcher.find()) {
            throw new AssertionError("no counter " + name + ": " + all);
        }
        return Long.parseLong(matcher.group(1));
    }

    private static int descend(int depth, Runnable atTheBottom) {
        if (depth == 0) {
            atTheBottom.run();
            return 0;
        }
        return descend(depth - 1, atTheBottom) + 1;
    }

    /** Private garbage. */
    private static void garbage(boolean waits) {
        byte[][] latest = new byte[8][];
        for (int i = 0; i < GARBAGE * (M / 1000); i++) {
            latest[i & 7] = new byte[1000 - 16];
            if (waits && i % 500 == 0) {
                LockSupport.parkNanos(1);
            }
        }
        last = latest[0];
    }

    private static void run(Runnable work) throws InterruptedException {
        Throwable[] failure = new Throwable[1];
        Thread thread = new Thread(null, work, "deep", 256L * M);
        thread.setUncaughtExceptionHandler((t, e) -> failure[0] = e);
        thread.start();
        thread.join();
        if (failure[0] != null) {
            throw new AssertionError(failure[0]);
        }
    }

    public static void main(String[] args) throws Exception {
        boolean waits = args[0].equals("waits");
        if (!waits) {
            // Less than a quarter of the heap is free.
            held = new byte[74 * M / 10_000][];
            for (int i = 0; i < held.length; i++) {
                held[i] = new byte[10_000];
            }
        }
        long shallowBefore = GCBean.localCollections();
        run(() -> garbage(waits));
        long shallow = GCBean.localCollections() - shallowBefore;

        long collectionsBefore = GCBean.localCollections();
        long framesBefore = counter("frames");
        long pausesBefore = GCBean.collections();
        run(() -> descend(DEPTH, () -> garbage(waits)));
        long frames = counter("frames") - framesBefore;
        long collections = GCBean.localCollections() - collectionsBefore;
        System.out.println(GARBAGE + " MB: " + shallow + " local collections on a shallow stack; below " + DEPTH + " frames "
                           + collections + ", which visited " + frames + ", and " + (GCBean.collections() - pausesBefore)
                           + " pauses");
        if (shallow < GARBAGE / 16) {
            throw new AssertionError("A thread with a shallow stack is to collect by itself");
        }
        // The test's main thread has its own few.
        if (frames > (long) GARBAGE * M / BYTES_PER_FRAME) {
            throw new AssertionError(frames + " frames were visited for " + GARBAGE + " MB");
        }
    }
}
