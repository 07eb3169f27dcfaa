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

import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary With -XX:+UseGCOverheadLimit an application that does little but collect gets an OutOfMemoryError.
 * @library /test/lib /
 * @run driver gc.lull.TestGCOverheadLimit
 */

public class TestGCOverheadLimit {
    static class NearlyFull {
        static volatile Object sink;

        public static void main(String[] args) {
            long max = Runtime.getRuntime().maxMemory();
            Object list = null;
            for (long bytes = 0; bytes < max * 8 / 10; bytes += 150) {
                list = new Object[] { list, new byte[100] };
            }
            // About twenty collections.
            for (long bytes = 0; bytes < max * 4; bytes += 1000) {
                sink = new byte[1000];
            }
            System.out.println("Done, " + (list != null));
        }
    }

    private static OutputAnalyzer run(String limit) throws Exception {
        // Less strict than the defaults, of 98% and 2%.
        return ProcessTools.executeLimitedTestJava("-XX:+UseLullGC", "-Xms16m", "-Xmx16m", limit,
                                                   "-XX:GCTimeLimit=3", "-XX:GCHeapFreeLimit=50", "-Xlog:gc",
                                                   NearlyFull.class.getName());
    }

    public static void main(String[] args) throws Exception {
        OutputAnalyzer output = run("-XX:+UseGCOverheadLimit");
        output.shouldHaveExitValue(1);
        output.shouldContain("java.lang.OutOfMemoryError: GC overhead limit exceeded");

        output = run("-XX:-UseGCOverheadLimit");
        output.shouldHaveExitValue(0);
        output.shouldContain("Done, true");
    }
}
