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

import java.lang.management.ManagementFactory;

import jdk.test.lib.Platform;
import jdk.test.lib.process.OutputAnalyzer;

/*
 * @test id=refused
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary What Lull cannot work with ends the VM at once, with a sentence that says why.
 * @library /test/lib /
 * @run driver gc.lull.TestFlags refused
 */

/*
 * @test id=accepted
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary The VM runs, and collects, with each of the flags that Lull knows or has to live with.
 * @library /test/lib /
 * @run driver gc.lull.TestFlags accepted
 */

public class TestFlags {
    private static final String EXPERIMENTAL = "-XX:+UnlockExperimentalVMOptions";

    /** Fills the heap twice and looks after some of it. */
    static class Work {
        public static void main(String[] args) {
            Object[] kept = new Object[500];
            for (int i = 0; i < 30_000; i++) {
                Object object = i % 100 == 0 ? Data.bytes(40_000, i) : Data.longs(i % 200, i);
                if (i % 7 == 0) {
                    kept[i / 7 % kept.length] = new Object[] { i, object };
                }
            }
            System.gc();
            for (Object k : kept) {
                Object[] pair = (Object[]) k;
                Data.check(pair[1], (Integer) pair[0]);
            }
            // System.gc() is one; the others may be global or local.
            long collections = ManagementFactory.getGarbageCollectorMXBeans().stream().mapToLong(bean -> bean.getCollectionCount()).sum();
            System.out.println("Worked with " + GCBean.get().getName() + ", " + (collections > 1));
        }
    }

    private static final ProgramWithFlags WORK = new ProgramWithFlags(Work.class, "Worked", "-XX:+UseLullGC", "-Xmx16m");

    private static void refused(String sentence, String... flags) throws Exception {
        WORK.refused(sentence, flags);
    }

    private static OutputAnalyzer accepted(String... flags) throws Exception {
        OutputAnalyzer output = WORK.accepted(flags);
        output.shouldContain("Worked with Lull Global, true");
        return output;
    }

    private static void refused() throws Exception {
        refused("needs -XX:LockingMode=2", "-XX:LockingMode=0");
        refused("needs -XX:LockingMode=2", "-XX:LockingMode=1");
        refused("-XX:ParallelGCThreads=0 cannot be used with it", "-XX:ParallelGCThreads=0");
        refused("it cannot be used with -XX:-DoJVMTIVirtualThreadTransitions", "-XX:+UnlockExperimentalVMOptions",
                "-XX:-DoJVMTIVirtualThreadTransitions");
        refused("supports heaps of less than 1024G, the maximum heap size is 2048G", "-Xmx2t");
        refused("supports heaps of less than 1024G, the maximum heap size is 1024G", "-Xmx1t");
        refused("Multiple garbage collectors selected", "-XX:+UseSerialGC");
        refused("it cannot be used with -XX:-LullTracking", "-XX:+LullLocalCollections", "-XX:-LullTracking");
        refused("it cannot be used with -XX:-LullTracking", "-XX:+LullYoungCollections", "-XX:-LullTracking");

        refused("it cannot be used with -XX:-LullTracking", EXPERIMENTAL, "-XX:+LullSuspendTracking", "-XX:-LullTracking");
        refused("or -XX:+LullAlwaysPrivate", EXPERIMENTAL, "-XX:+LullSuspendTracking", "-XX:+LullAlwaysPrivate");
        refused("say the opposite of each other", EXPERIMENTAL, "-XX:+LullAlwaysPublic", "-XX:+LullAlwaysPrivate");

        refused("must be enabled via -XX:+UnlockExperimentalVMOptions", "-XX:LullLocalBudget=1m");
        refused("must be enabled via -XX:+UnlockExperimentalVMOptions", "-XX:+LullAlwaysPrivate");
        refused("LullReferencePausePercent=51 is outside the allowed range", "-XX:LullReferencePausePercent=51");
        refused("LullLocalBudget=65535 is outside the allowed range", EXPERIMENTAL, "-XX:LullLocalBudget=65535");
        if (!Platform.isDebugBuild()) {
            refused("'LullEvacuateALot' is develop", "-XX:LullEvacuateALot=1");
            refused("-XX:LullTenureSize: Lull chooses this by itself. Leave the flag out.", "-XX:LullTenureSize=0");
        } else {
            refused("LullEvacuationMaxLivePercent=101 is outside the allowed range", "-XX:LullEvacuationMaxLivePercent=101");
            refused("LullFragmentationTriggerPercent=101 is outside the allowed range", "-XX:LullFragmentationTriggerPercent=101");
        }
    }

    /** What was a flag once is refused as any unknown one, and then with what to do. */
    private static void removed() throws Exception {
        refused("-XX:LullMinHoleLines: Lull chooses this by itself. Leave the flag out.", EXPERIMENTAL, "-XX:LullMinHoleLines=1");
        refused("-XX:LullEvacuationReservePercent: Lull chooses this", EXPERIMENTAL, "-XX:LullEvacuationReservePercent=5");
        refused("-XX:LullPublicModePercent: Lull chooses this by itself. Leave the flag out; in place of 100 there is "
            + "-XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate.", EXPERIMENTAL, "-XX:LullPublicModePercent=100");
        refused("-XX:LullLocalDefragmentation: Workers do not collect", EXPERIMENTAL, "-XX:-LullLocalDefragmentation");
        refused("-XX:LullAllocation: The allocator study has a VM of its own", "-XX:LullAllocation=segregated");
        OutputAnalyzer output = WORK.run("-XX:LullMinHole=1");
        output.shouldContain("Unrecognized VM option 'LullMinHole=1'");
        output.shouldNotContain("Leave the flag out");
        accepted("-XX:+IgnoreUnrecognizedVMOptions", "-XX:LullMinHoleLines=1");
    }

    private static void accepted() throws Exception {
        if (Platform.isDebugBuild()) {
            accepted("-XX:-LullAdaptiveHoles", "-XX:-LullPrivateThreadLocals");
            accepted("-XX:-LullEvacuation");
            accepted("-XX:LullEvacuationMaxLivePercent=100", "-XX:LullFragmentationTriggerPercent=0");
            accepted("-XX:LullEvacuationMaxLivePercent=0", "-XX:LullFragmentationTriggerPercent=100");
        }
        accepted("-XX:-LullUncommit", "-XX:+UseLargePages");
        accepted("-XX:LullReferencePausePercent=0", "-XX:+UseTransparentHugePages");
        accepted(EXPERIMENTAL, "-XX:+LullAlwaysPrivate");
        accepted(EXPERIMENTAL, "-XX:+LullAlwaysPublic");
        accepted("-XX:+UnlockDiagnosticVMOptions", "-XX:+LullVerifyHeap", "-XX:+VerifyBeforeGC", "-XX:+VerifyAfterGC");
        accepted("-XX:+AlwaysPreTouch", "-Xms16m", "-XX:ObjectAlignmentInBytes=16");
        accepted("-XX:ObjectAlignmentInBytes=256");
        accepted("-XX:+UseNUMA");
        accepted("-XX:-LullTracking");
        accepted("-XX:-LullYoungCollections");
        accepted("-XX:-LullLocalCollections");
        accepted(EXPERIMENTAL, "-XX:-LullSuspendTracking");
        // The size of TLABs is up to Lull, whatever is asked for.
        accepted("-XX:TLABSize=16k", "-XX:MinTLABSize=4k", "-XX:+ResizeTLAB", "-XX:+ZeroTLAB");
        OutputAnalyzer output = accepted("-XX:TLABSize=64k", "-XX:MinTLABSize=64k", "-Xlog:gc+tlab=debug");
        output.shouldContain("-XX:TLABSize=65536 is more than a block of the Lull heap: using 32768");
        output.shouldContain("-XX:MinTLABSize=65536 is more than a block of the Lull heap can always give: using 16384");
        output.shouldMatch("TLAB totals: .*refills: [1-9]");
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "refused"  -> {
                refused();
                removed();
            }
            case "accepted" -> accepted();
            default         -> throw new IllegalArgumentException(args[0]);
        }
    }
}
