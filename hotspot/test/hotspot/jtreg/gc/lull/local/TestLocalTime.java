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

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.sun.management.OperatingSystemMXBean;
import jdk.test.lib.Asserts;
import jdk.test.lib.dcmd.JMXExecutor;
import jdk.test.lib.dcmd.PidJcmdExecutor;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary The time of the bean of local collections is processor time, where more threads collect than there are
 *          processors: no more than the process has had.
 * @library / /test/lib
 * @modules java.management jdk.management
 * @run main/othervm -Xmx256m -XX:+UsePerfData -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullLocalBudget=64k
 *                   gc.lull.local.TestLocalTime
 */

public class TestLocalTime {
    static final int ROUNDS = 400;
    static final int ALIVE = 4_000;
    static final int GARBAGE = 128 << 10;

    static final class Node {
        Node next;
    }

    /** Each collection looks at all nodes: a thread loses its processor in the middle of some. */
    static void work() {
        Node alive = null;
        for (int i = 0; i < ALIVE; i++) {
            Node node = new Node();
            node.next = alive;
            alive = node;
        }
        for (int round = 0; round < ROUNDS; round++) {
            byte[][] latest = new byte[8][];    // or a compiler leaves the garbage out
            for (int i = 0; i < GARBAGE / 1024; i++) {
                latest[i & 7] = new byte[1024 - 16];
            }
            Asserts.assertNotNull(latest[round & 7]);
        }
        int count = 0;
        for (Node node = alive; node != null; node = node.next) {
            count++;
        }
        Asserts.assertEQ(count, ALIVE);
    }

    static long processorNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    static long beanMillis() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                                .filter(bean -> bean.getName().equals("Lull Local")).findFirst().orElseThrow().getCollectionTime();
    }

    static long counter(String name) {
        String all = new PidJcmdExecutor().execute("PerfCounter.print", true /* silent */).getStdout();
        String line = "^sun\\.gc\\.lull\\.local\\." + name + "=(\\d+)$";
        Matcher matcher = Pattern.compile(line, Pattern.MULTILINE).matcher(all);
        Asserts.assertTrue(matcher.find(), "no counter " + name + ": " + all);
        return Long.parseLong(matcher.group(1));
    }

    static double info(String key) {
        String all = new JMXExecutor().execute("Lull.info", true /* silent */).getStdout();
        Matcher matcher = Pattern.compile("^local\\." + key + ": ([0-9.]+) ms$", Pattern.MULTILINE).matcher(all);
        Asserts.assertTrue(matcher.find(), "no key " + key + ": " + all);
        return Double.parseDouble(matcher.group(1));
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4 + 4 * Runtime.getRuntime().availableProcessors(); i++) {
            Thread thread = new Thread(TestLocalTime::work);
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        // What must be smaller is read first: there are a few collections meanwhile.
        long least = counter("processorTime") / 1_000_000;
        long bean = beanMillis();
        long process = processorNanos() / 1_000_000;
        long most = counter("processorTime") / 1_000_000 + 5;    // what was in the midst of being counted
        System.out.println("bean " + bean + " ms, by the counter " + least + " to " + most + " ms, elapsed "
                           + counter("time") / 1_000_000 + " ms, process " + process + " ms");
        Asserts.assertGT(counter("time") / 1_000_000, most, "threads wait while they collect, or nothing is tested");
        Asserts.assertGTE(bean, least);
        Asserts.assertLTE(bean, most);
        Asserts.assertLTE(bean, process, "no more than the process has had");
        // Beside the elapsed time of the longest, which reads like a pause.
        double longest = info("longest_processor_time");
        Asserts.assertGT(longest, 0.0);
        Asserts.assertLTE(longest, info("longest") + 0.01);
        Asserts.assertLTE(counter("longestProcessorTime"), counter("longest") + 10_000);
    }
}
