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
import gc.lull.GCBean;
import jdk.test.whitebox.WhiteBox;

import static gc.lull.local.Checks.check;
import static gc.lull.local.Checks.isPublic;

/*
 * @test id=young
 * @requires vm.gc.Lull & vm.debug
 * @summary A young pause in the middle of each request takes the garbage that was made before it: what the local collection at the
 *          end frees is compared with what was published since, and the thread's objects stay private.
 * @library / /test/lib
 * @modules java.management
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullReferencePausePercent=0 -XX:-LullSuspendTracking
 *                   gc.lull.local.TestPauseInRequest young
 */

/*
 * @test id=global
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with global collections that somebody has asked for.
 * @library / /test/lib
 * @modules java.management
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullReferencePausePercent=0 -XX:-LullSuspendTracking
 *                   gc.lull.local.TestPauseInRequest global
 */
public class TestPauseInRequest {
    private static final WhiteBox WB = WhiteBox.getWhiteBox();

    static final int REQUESTS = 20;
    static final int KB = 1024;

    static final byte[][] seen = new byte[1024][];    // public after the first collection

    static void publish(int kilobytes) {
        for (int i = 0; i < kilobytes; i++) {
            seen[i & 1023] = new byte[KB];
        }
    }

    static void garbage(int kilobytes) {
        byte[][] mine = new byte[8][];    // or a compiler leaves the garbage out
        for (int i = 0; i < kilobytes; i++) {
            mine[i & 7] = new byte[KB];
        }
        check(mine[7].length == KB, "an array");
    }

    /** Of 9 MB a ninth is published: far from too much. Of what is freed a pause has taken all but half a megabyte. */
    static void request(boolean young) {
        publish(1024);
        garbage(8 * 1024 - 512);
        if (young) {
            WB.youngGC();
        } else {
            System.gc();
        }
        garbage(512);
        LockSupport.parkNanos(1);
    }

    public static void main(String[] args) {
        boolean young = args[0].equals("young");
        System.gc();    // what start-up leaves, and seen is public
        long before = GCBean.localCollections();
        for (int i = 0; i < REQUESTS; i++) {
            request(young);
            check(!isPublic(new byte[KB]), "what a thread makes is private after request " + i);
        }
        long collections = GCBean.localCollections() - before;
        check(collections >= REQUESTS, collections + " local collections in " + REQUESTS + " requests");
    }
}
