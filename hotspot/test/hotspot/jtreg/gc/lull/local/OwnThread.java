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

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import gc.lull.GCBean;

/** A thread of its own for a part of a test, which has nothing public yet, and what it does there. */
final class OwnThread {
    private OwnThread() {}

    /** What a thread has: private, until somebody else can reach it. */
    static final class Value {
        final int number;
        final String text;

        Value(int number) {
            this.number = number;
            this.text = "value " + number;
        }

        boolean isWhole() {
            return text.equals("value " + number);
        }
    }

    interface Body {
        void run() throws Exception;
    }

    interface Owner {
        /** Has something before {@code othersRead} runs, during which another thread reads it, and looks at it afterwards. */
        void run(Body othersRead) throws Exception;
    }

    interface Reader {
        void read(Thread owner) throws Throwable;
    }

    /** Private garbage, a wait, and a local collection therefore. */
    static void endRequest() {
        long before = GCBean.localCollections();
        do {
            for (int i = 0; i < 1000; i++) {
                byte[] garbage = new byte[1000];
                garbage[0] = 1;
            }
            LockSupport.parkNanos(1000);
        } while (GCBean.localCollections() == before);
    }

    static void run(Body body) throws Exception {
        run(Thread.ofPlatform(), body);
    }

    static void run(Thread.Builder builder, Body body) throws Exception {
        Throwable[] failure = new Throwable[1];
        Thread thread = builder.unstarted(() -> {
            try {
                body.run();
            } catch (Throwable t) {
                failure[0] = t;
            }
        });
        thread.start();
        thread.join();
        if (failure[0] != null) {
            throw new AssertionError("in a thread", failure[0]);
        }
    }

    /** The owner in a thread of its own, and the reader in this one. */
    static void runWithReader(Owner owner, Reader reader) throws Throwable {
        runWithReader(Thread.ofPlatform(), owner, reader);
    }

    /** A virtual thread is not unmounted meanwhile. */
    static void runWithReader(Thread.Builder builder, Owner owner, Reader reader) throws Throwable {
        CountDownLatch isThere = new CountDownLatch(1);
        CountDownLatch wasRead = new CountDownLatch(1);
        Throwable[] failure = new Throwable[1];
        Thread thread = builder.unstarted(() -> {
            try {
                owner.run(() -> {
                    isThere.countDown();
                    while (Thread.currentThread().isVirtual() && wasRead.getCount() > 0) {
                        Thread.onSpinWait();
                    }
                    wasRead.await();
                });
            } catch (Throwable t) {
                failure[0] = t;
                isThere.countDown();
            }
        });
        thread.start();
        isThere.await();
        try {
            if (failure[0] == null) {
                reader.read(thread);
            }
        } finally {
            wasRead.countDown();
            thread.join();
        }
        if (failure[0] != null) {
            throw failure[0];
        }
    }
}
