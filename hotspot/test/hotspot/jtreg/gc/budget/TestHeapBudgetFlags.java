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


package gc.budget;

import java.util.ArrayList;
import java.util.List;

import gc.lull.ProgramWithFlags;
import jdk.test.lib.process.OutputAnalyzer;

/*
 * @test
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary The heap budget is off by default, works with G1 and Lull, and is refused with any other collector.
 * @library /test/lib /
 * @run driver gc.budget.TestHeapBudgetFlags
 */

public class TestHeapBudgetFlags {
    static class Empty {
        public static void main(String[] args) {
            System.out.println("Ran");
        }
    }

    private static final ProgramWithFlags EMPTY = new ProgramWithFlags(Empty.class, "Ran", "-Xmx64m", "-Xlog:gc+budget");

    private static OutputAnalyzer runs(String... flags) throws Exception {
        return EMPTY.accepted(flags);
    }

    private static void refused(String name, String... flags) throws Exception {
        List<String> all = new ArrayList<>(List.of(flags));
        all.add("-XX:+UseHeapBudget");
        EMPTY.refused("-XX:+UseHeapBudget works with -XX:+UseG1GC and -XX:+UseLullGC, and the collector is " + name,
                      all.toArray(new String[0]));
    }

    public static void main(String[] args) throws Exception {
        refused("Serial", "-XX:+UseSerialGC");
        refused("Parallel", "-XX:+UseParallelGC");
        refused("Epsilon", "-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC");

        for (String collector : List.of("G1", "Lull")) {
            String use = "-XX:+Use" + collector + "GC";
            runs(use).shouldNotContain("[gc,budget]");
            runs(use, "-XX:HeapBudgetFile=some").shouldContain("-XX:HeapBudgetFile has no effect without -XX:+UseHeapBudget");
            runs(use, "-XX:+UseHeapBudget").shouldMatch("Heap budget: " + collector
                + ", heap of .* to 64M, memory limit .*; stalls on I/O: estimated from (the bytes that the process reads|major faults)");
            runs(use, "-XX:+UseHeapBudget", "-XX:HeapBudgetLimit=40m").shouldContain("memory limit 40M");
            runs(use, "-XX:+UseHeapBudget", "-XX:HeapBudgetFile=some-%p").shouldMatch("stalls on I/O: by the sensor of some-[0-9]+");
            runs(use, "-XX:+UseHeapBudget", "-Xms64m").shouldContain("the heap budget has nothing to decide. Leave -Xms out.");
        }
    }
}
