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

package gc.lull.young;

import java.lang.invoke.MethodHandles;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import jdk.test.lib.Asserts;
import jdk.test.whitebox.WhiteBox;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.debug
 * @summary What has survived one young collection is found dead by the next one; what has survived two is old, and found dead by a global one only.
 *          What old objects, class loaders and references know of survivors is alive.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m -Xms64m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPublic -XX:LullEvacuationMaxLivePercent=100
 *                   gc.lull.young.TestSurvivors true
 */

/*
 * @test id=off
 * @requires vm.gc.Lull
 * @summary With -XX:-LullAgeSurvivors what has survived one is old.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m -Xms64m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPublic -XX:-LullAgeSurvivors gc.lull.young.TestSurvivors false
 */

/*
 * @test id=workers
 * @requires vm.gc.Lull & vm.debug
 * @summary With several workers.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m -Xms64m
 *                   -XX:ParallelGCThreads=4 -XX:-UseDynamicNumberOfGCThreads
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPublic -XX:LullEvacuationMaxLivePercent=100
 *                   gc.lull.young.TestSurvivors true
 */

/*
 * @test id=wideOops
 * @requires vm.gc.Lull & vm.debug
 * @summary With 64-bit references.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m -Xms64m -XX:-UseCompressedOops
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPublic -XX:LullEvacuationMaxLivePercent=100
 *                   gc.lull.young.TestSurvivors true
 */

// -XX:LullEvacuationMaxLivePercent=100: survivors stay young in each young collection, whatever became of the last ones.
public class TestSurvivors {
    private static final WhiteBox WB = WhiteBox.getWhiteBox();

    private static final int NODES = 30_000;
    private static final int LARGE_STEP = 64;     // elements between two that are stored to, so that most cards stay clean

    private static final class Node {
        final long number;
        final byte[] bytes = new byte[40];
        Object other;

        Node(long number) {
            this.number = number;
        }
    }

    private static final long NODE_BYTES = 24 + 56;   // at least

    private static final Object[] large = new Object[NODES * LARGE_STEP / 32];
    private static final Node[][] small = new Node[NODES / 10][];

    private static volatile Object published;

    private static long used() {
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** With as much beside them that is dead: where nearly all of a block is alive it is not evacuated, and so old at once. */
    private static void fill() {
        for (int i = 0; i < small.length; i++) {
            for (int j = 0; j < small[i].length; j++) {
                small[i][j] = new Node(i * 10L + j);
                published = new byte[80];
            }
        }
    }

    private static void clear() {
        for (Node[] nodes : small) {
            Arrays.fill(nodes, null);
        }
    }

    private static void check() {
        for (int i = 0; i < small.length; i++) {
            for (int j = 0; j < small[i].length; j++) {
                if (small[i][j].number != i * 10L + j) {     // an assertion of the library would make objects
                    throw new AssertionError(small[i][j].number + " at " + i + ", " + j);
                }
            }
        }
    }

    private static void assertFreed(boolean freed, long before, long after, String what) {
        System.out.println(what + ": " + before / 1024 + " KB in use before, " + after / 1024 + " after");
        if (freed) {
            Asserts.assertGT(before - after, NODES * NODE_BYTES * 9 / 10, what);
        } else {
            Asserts.assertLT(before - after, NODES * NODE_BYTES * 2 / 10, what);
        }
    }

    /** When is it found that what has survived so many young collections is dead? */
    private static void deaths(boolean aging) {
        for (int collections = 0; collections <= 3; collections++) {
            System.gc();
            fill();
            for (int i = 0; i < collections; i++) {
                WB.youngGC();
                check();
            }
            long before = used();
            clear();
            WB.youngGC();
            boolean young = collections == 0 || collections == 1 && aging;
            assertFreed(young, before, used(), "after " + collections + " young collections, by another one");
            if (!young) {
                System.gc();
                assertFreed(true, before, used(), "after " + collections + " young collections, by a global one");
            }
        }
    }

    /** A global collection in between makes survivors old. */
    private static void globalCollection() {
        fill();
        WB.youngGC();
        System.gc();
        check();
        long before = used();
        clear();
        WB.youngGC();
        assertFreed(false, before, used(), "after a global one, by a young one");
    }

    /** Elements of a large old array, each on a card of its own; and then one object of a generation that refers to the next one. */
    private static void references() {
        for (int round = 0; round < 6; round++) {
            for (int i = 0; i < large.length; i += LARGE_STEP) {
                Node node = new Node(i);
                node.other = large[i];
                large[i] = node;
            }
            WB.youngGC();
            for (int i = 0; i < large.length; i += LARGE_STEP) {
                Node node = (Node) large[i];
                for (int depth = round; depth >= 0; depth--) {
                    Asserts.assertEQ(node.number, (long) i);
                    node = (Node) node.other;
                }
                Asserts.assertNull(node, "the first one refers to nothing");
            }
        }
        Arrays.fill(large, null);
    }

    private static final class NumberedReference extends WeakReference<Object> {
        final int number;

        NumberedReference(int number, Object referent, ReferenceQueue<Object> queue) {
            super(referent, queue);
            this.number = number;
        }
    }

    /** References and what they refer to, of different age, and of some the referent dies: they are linked with each other by the collection. */
    private static void weakReferences() throws InterruptedException {
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        NumberedReference[] references = new NumberedReference[900];
        Object[] referents = new Object[references.length];
        int expected = 0;
        for (int age = 0; age < 3; age++) {
            for (int i = age; i < references.length; i += 3) {
                referents[i] = new Node(i);
            }
            WB.youngGC();
            for (int i = age; i < references.length; i += 3) {
                references[i] = new NumberedReference(i, referents[i], queue);
            }
        }
        for (int i = 0; i < references.length; i++) {
            if (i % 2 == 0) {
                referents[i] = null;
                // The oldest have survived three young collections.
                expected++;
            }
        }
        System.gc();
        WB.youngGC();
        for (int found = 0; found < expected; found++) {
            Reference<?> reference = queue.remove(60_000);
            Asserts.assertNotNull(reference, found + " of " + expected + " references were enqueued");
            Asserts.assertEQ(((NumberedReference) reference).number % 2, 0);
        }
        for (int i = 1; i < references.length; i += 2) {
            Asserts.assertEQ(((Node) references[i].get()).number, (long) i);
        }
        Arrays.fill(references, null);
        // Young ones, and survivors: a young collection finds them, and links some of either with others.
        for (int round = 0; round < 4; round++) {
            NumberedReference[] some = new NumberedReference[300];
            for (int i = 0; i < some.length; i++) {
                referents[i] = new Node(i);
                some[i] = new NumberedReference(i, referents[i], queue);
            }
            WB.youngGC();
            for (int i = 0; i < some.length; i += 3) {
                referents[i] = null;
                some[i + 1] = new NumberedReference(i + 1, new Node(0), queue);
            }
            WB.youngGC();
            WB.youngGC();
            System.gc();
            for (int found = 0; found < 200; found++) {
                Reference<?> reference = queue.remove(60_000);
                Asserts.assertNotNull(reference, found + " of 200 references were enqueued");
                Asserts.assertNE(((NumberedReference) reference).number % 3, 2);
            }
            for (int i = 2; i < some.length; i += 3) {
                Asserts.assertEQ(((Node) some[i].get()).number, (long) i);
            }
        }
    }

    /** Mirrors, constants and class data hang on the handles of a class loader. */
    private static void classes() throws Exception {
        byte[] bytes;
        try (var in = TestSurvivors.class.getResourceAsStream("TestSurvivors$Hidden.class")) {
            bytes = in.readAllBytes();
        }
        Class<?>[] classes = new Class<?>[60];
        for (int i = 0; i < classes.length; i++) {
            var options = i % 2 == 0 ? new MethodHandles.Lookup.ClassOption[0]
                                     : new MethodHandles.Lookup.ClassOption[] {MethodHandles.Lookup.ClassOption.STRONG};
            classes[i] = MethodHandles.lookup().defineHiddenClassWithClassData(bytes, new Node(i), true, options).lookupClass();
            if (i % 3 == 0) {
                WB.youngGC();
            }
            for (int j = 0; j <= i; j++) {
                Asserts.assertEQ(((Node) classes[j].getDeclaredField("data").get(null)).number, (long) j);
            }
        }
    }

    static class Hidden {
        static final Object data;
        static {
            try {
                data = MethodHandles.classData(MethodHandles.lookup(), "_", Object.class);
            } catch (IllegalAccessException e) {
                throw new AssertionError(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        boolean aging = Boolean.parseBoolean(args[0]);
        for (int i = 0; i < small.length; i++) {
            small[i] = new Node[10];
        }
        deaths(aging);
        globalCollection();
        references();
        weakReferences();
        classes();
    }
}
