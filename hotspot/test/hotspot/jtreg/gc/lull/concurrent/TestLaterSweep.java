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

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.test.whitebox.WhiteBox;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary The pause that ends a cycle of concurrent marking leaves blocks with nothing young to be swept. What is garbage there
 *          does not count as used, and is free soon.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms128m -Xmx128m -XX:+UseLullGC
 *                   -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:+ExplicitGCInvokesConcurrent
 *                   -Xlog:gc*,gc+heap=debug,gc+marking=debug:file=sweeps.log
 *                   gc.lull.concurrent.TestLaterSweep
 */

/*
 * @test id=takers
 * @requires vm.gc.Lull & vm.debug
 * @summary The same where nobody sweeps but who needs memory, and the next cycle.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms128m -Xmx128m -XX:+UseLullGC
 *                   -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking -XX:+ExplicitGCInvokesConcurrent
 *                   -Xlog:gc*,gc+heap=debug,gc+marking=debug:file=sweeps.log
 *                   -XX:+LullMarkInRemark
 *                   gc.lull.concurrent.TestLaterSweep takers
 */

public class TestLaterSweep {
    private static final WhiteBox WB = WhiteBox.getWhiteBox();

    private static final int ROUNDS = 4;
    private static final int LISTS = 400;
    private static final int NODES = 500;
    private static final int LARGE = 100;
    private static final int LARGE_SIZE = 200_000;

    private static final class Node {
        final int number;
        final byte[] padding;
        Node next;

        Node(int number, Node next) {
            this.number = number;
            this.padding = new byte[number % 80];
            this.next = next;
        }
    }

    private static final Node[] LIST = new Node[LISTS];
    private static final byte[][] ARRAY = new byte[LARGE][];
    private static volatile Object garbage;

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    private static List<String> log() throws Exception {
        return Files.readAllLines(Path.of("sweeps.log"));
    }

    private static long count(String what) throws Exception {
        return log().stream().filter(line -> line.contains(what)).count();
    }

    private static long used() {
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static void fill() {
        for (int i = 0; i < LISTS; i++) {
            for (int n = NODES; n > 0; n--) {
                LIST[i] = new Node(n, LIST[i]);
            }
        }
        for (int i = 0; i < LARGE; i++) {
            ARRAY[i] = new byte[LARGE_SIZE];
            ARRAY[i][i] = (byte) i;
        }
    }

    /** A quarter of the lists and arrays as a whole, and single nodes of the others. */
    private static void drop(int round) {
        for (int i = round; i < LISTS - ROUNDS; i += ROUNDS) {
            LIST[i] = null;
        }
        for (int i = round; i < LARGE - ROUNDS; i += ROUNDS) {
            ARRAY[i] = null;
        }
        for (Node list : LIST) {
            for (Node node = list; node != null && node.next != null; node = node.next) {
                if (node.next.number % 8 == round) {
                    node.next = node.next.next;
                }
            }
        }
    }

    private static void verify(int rounds) {
        for (int i = 0; i < LISTS; i++) {
            check((LIST[i] == null) == (i % ROUNDS < rounds && i < LISTS - ROUNDS), "list " + i);
            int expected = 1;
            for (Node node = LIST[i]; node != null; node = node.next, expected++) {
                while (expected != 1 && expected % 8 < rounds) {
                    expected++;
                }
                check(node.number == expected && node.padding.length == expected % 80, "list " + i + ", node " + expected);
            }
            check(LIST[i] == null || expected >= NODES - ROUNDS, "list " + i + " ends before node " + expected);
        }
        for (int i = 0; i < LARGE; i++) {
            check(ARRAY[i] == null || ARRAY[i][i] == (byte) i, "array " + i);
        }
    }

    /** A whole cycle. Where markers do nothing it needs pauses. */
    private static void cycle() throws Exception {
        Thread caller = new Thread(System::gc);
        caller.start();
        for (int i = 0; caller.isAlive(); i++) {
            caller.join(20);
            if (i > 1) {
                WB.youngGC();
            }
        }
    }

    private static long number(String pattern) throws Exception {
        List<String> lines = log();
        for (int i = lines.size() - 1; i >= 0; i--) {
            Matcher matcher = Pattern.compile(pattern).matcher(lines.get(i));
            if (matcher.find()) {
                return Long.parseLong(matcher.group(1));
            }
        }
        throw new AssertionError("no line of the log has " + pattern);
    }

    /** The last remark has swept few blocks, and has left many. */
    private static void verifyPause() throws Exception {
        long remark = number("GC\\((\\d+)\\) Pause Remark");
        long swept = number("GC\\(" + remark + "\\) Swept: (\\d+) blocks");
        long left = number("GC\\(" + remark + "\\) Left to be swept: (\\d+) blocks");
        System.out.println("Swept in the pause: " + swept + " blocks, left: " + left);
        check(left >= 100 && swept < left, "the pause has swept " + swept + " blocks, and has left " + left);
    }

    private static void allocate() {
        Object[] kept = new Object[1000];
        for (int i = 0; i < 50_000; i++) {
            kept[i % kept.length] = new byte[1000];
            garbage = kept;
        }
        garbage = null;
    }

    private static long sumOfTaken() throws Exception {
        Pattern pattern = Pattern.compile("Swept after the cycle: .*, and (\\d+) when they were taken");
        return log().stream().map(pattern::matcher).filter(Matcher::find).mapToLong(m -> Long.parseLong(m.group(1))).sum();
    }

    public static void main(String[] args) throws Exception {
        boolean takers = args.length > 0;
        fill();
        WB.fullGC();    // all of it is old
        long dropped = (long) (LARGE / ROUNDS - 1) * LARGE_SIZE;
        for (int round = 0; round < ROUNDS; round++) {
            long before = used();
            long sweeps = count("Swept after the cycle: ");
            drop(round);
            cycle();
            verifyPause();
            long after = used();
            check(after < before - dropped, "before: " + before + ", after the cycle: " + after + ", dropped: " + dropped);
            for (int i = 0; !takers && count("Swept after the cycle: ") == sweeps; i++) {
                check(i < 1000, "nobody sweeps");
                Thread.sleep(10);
            }
            verify(round + 1);
            long swept = used();
            check(takers || swept < before - dropped, "before: " + before + ", when all is swept: " + swept);
            allocate();
            verify(round + 1);
        }
        if (takers) {
            WB.fullGC();    // sweeps the rest first
            long taken = sumOfTaken();
            check(taken > 0, "no block was swept when it was taken");
            System.out.println("Swept when they were taken: " + taken + " blocks");
        }
        verify(ROUNDS);
    }
}
