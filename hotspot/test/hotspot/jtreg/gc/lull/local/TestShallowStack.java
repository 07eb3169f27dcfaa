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
import java.util.concurrent.locks.LockSupport;
import gc.lull.GCBean;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary A thread that handles requests at the depth of stack at which it waits for them learns not to collect in their middle.
 * @library / /test/lib
 * @run main/othervm -Xmx256m -Xms256m -XX:+UseLullGC gc.lull.local.TestShallowStack
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull & vm.compiler1.enabled
 * @summary The same in C1's code.
 * @library / /test/lib
 * @run main/othervm -Xmx256m -Xms256m -XX:TieredStopAtLevel=1 -XX:+UseLullGC gc.lull.local.TestShallowStack
 */

/*
 * Each request keeps a few megabytes until its end, and allocates them no deeper than it waits. A collection while it lasts
 * copies most of what there is.
 */
public class TestShallowStack {
    static final int REQUESTS = 300;
    static final int OBJECTS = 6000;        // of a kilobyte

    // Each depth that is tried in vain is tried once in 64 requests.
    static final int DEPTHS = 8;

    static volatile int sink;

    static void requests() {
        for (int request = 0; request < REQUESTS; request++) {
            List<byte[]> kept = new ArrayList<>();
            for (int i = 0; i < OBJECTS; i++) {
                kept.add(new byte[1000]);
            }
            int sum = 0;
            for (byte[] object : kept) {
                sum += object.length;
            }
            sink = sum;
            kept = null;
            LockSupport.parkNanos(1000);
        }
    }

    public static void main(String[] args) throws Exception {
        long before = GCBean.localCollections();
        Thread thread = new Thread(TestShallowStack::requests);
        thread.start();
        thread.join();
        long collections = GCBean.localCollections() - before;
        long inTheMiddle = collections - REQUESTS;
        System.out.println(collections + " local collections for " + REQUESTS + " requests");
        if (collections < REQUESTS / 2) {
            throw new AssertionError("requests end without a collection");
        }
        if (inTheMiddle > (REQUESTS / 64 + 1) * DEPTHS) {
            throw new AssertionError(inTheMiddle + " collections in the middle of " + REQUESTS + " requests");
        }
    }
}
