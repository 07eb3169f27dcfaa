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

/** A thread that has done its work and stays until it is closed: what is told of running threads tells of it, too. */
public final class StayingThread implements AutoCloseable {
    private final CountDownLatch done = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private final Thread thread;

    /** Not started yet. */
    public StayingThread(String name, Runnable work) {
        thread = new Thread(() -> run(work), name);
    }

    private void run(Runnable work) {
        try {
            work.run();
        } finally {
            done.countDown();
        }
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns when the work is done. */
    public void work() throws InterruptedException {
        thread.start();
        done.await();
    }

    @Override
    public void close() throws InterruptedException {
        end.countDown();
        thread.join();
    }
}
