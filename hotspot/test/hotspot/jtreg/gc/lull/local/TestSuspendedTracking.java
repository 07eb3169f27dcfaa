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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import gc.lull.GCBean;
import jdk.test.lib.dcmd.JMXExecutor;
import jdk.test.whitebox.WhiteBox;

import static gc.lull.local.Checks.check;
import static gc.lull.local.Checks.isPublic;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.debug
 * @summary While tracking is suspended new objects are public, old objects that refer to them keep them alive, and no thread collects
 *          by itself; afterwards new objects are private again.
 * @library / /test/lib
 * @modules java.management
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m -XX:LullSuspendALot=2
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestSuspendedTracking
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull & vm.debug
 * @summary The same where C2 has compiled the stores.
 * @library / /test/lib
 * @modules java.management
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m -XX:LullSuspendALot=3 -Xcomp -XX:-TieredCompilation
 *                   -XX:CompileCommand=compileonly,gc.lull.local.TestSuspendedTracking::*
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestSuspendedTracking
 */
public class TestSuspendedTracking {
    private static final WhiteBox WB = WhiteBox.getWhiteBox();
    private static final Pattern STATE = Pattern.compile("publication\\.tracking: (on|suspended)");

    static final int COLLECTIONS = 30;
    static final int NODES = 500;

    static final class Node {
        final int id;
        final byte[] payload;
        Node next;

        Node(int id, Node next) {
            this.id = id;
            this.payload = new byte[id % 200];
            this.next = next;
        }
    }

    // Old and public after the first collections.
    static final Node[] table = new Node[64];
    static final Node[] large = new Node[20_000];

    static boolean isSuspended() {
        Matcher matcher = STATE.matcher(new JMXExecutor().execute("Lull.info", true).getOutput());
        check(matcher.find(), "Lull.info tells the state of tracking");
        return matcher.group(1).equals("suspended");
    }

    /** More than any wait is worth a look for. */
    static void waitAfterGarbage() {
        byte[][] latest = new byte[8][];    // or a compiler leaves the garbage out
        for (int i = 0; i < 1024; i++) {
            latest[i & 7] = new byte[1024];
        }
        check(latest[7].length == 1024, "an array");
        LockSupport.parkNanos(1);
    }

    static Node chain(int nodes) {
        Node head = null;
        for (int i = nodes; i > 0; i--) {
            head = new Node(i, head);
        }
        return head;
    }

    static void verify(Node head, int nodes) {
        for (int i = 1; i <= nodes; i++, head = head.next) {
            check(head.id == i && head.payload.length == i % 200, "node " + i);
        }
        check(head == null, "there is no more");
    }

    public static void main(String[] args) {
        int suspended = 0;
        int resumed = 0;
        boolean was = false;
        long collected = 0;                     // locally, while tracking was not suspended
        Node mine = chain(NODES);               // known to this thread only
        List<Node> others = new ArrayList<>();
        for (int collection = 0; collection < COLLECTIONS; collection++) {
            // A young collection finds what is new by the cards of what is old only.
            if (collection % 3 == 0) {
                System.gc();
            } else {
                WB.youngGC();
            }
            boolean is = isSuspended();
            suspended += is && !was ? 1 : 0;
            resumed += was && !is ? 1 : 0;
            was = is;

            Node fresh = chain(NODES);
            check(isPublic(fresh) == is, "a new object is " + (is ? "private while tracking is suspended" : "public while it is not"));
            long before = GCBean.localCollections();
            waitAfterGarbage();
            long local = GCBean.localCollections() - before;
            check(!is || local == 0, "a thread has collected by itself while tracking is suspended");
            collected += local;
            for (int i = 0; i < table.length; i++) {
                if (table[i] != null) {
                    verify(table[i], i);
                }
                table[i] = chain(i);
            }
            for (int i = collection; i < large.length; i += 1000) {
                large[i] = new Node(i, null);
            }
            others.add(fresh);
            check(isPublic(table[5]), "what a public object refers to is public");
            verify(mine, NODES);
        }
        WB.youngGC();
        for (Node node : others) {
            verify(node, NODES);
        }
        for (int i = 0; i < large.length; i++) {
            check((large[i] != null) == (i % 1000 < COLLECTIONS) && (large[i] == null || large[i].id == i), "element " + i);
        }
        check(suspended >= 3 && resumed >= 2, "suspended " + suspended + " times, resumed " + resumed);
        check(collected > 0, "no thread has collected by itself while tracking was not suspended");
    }
}
