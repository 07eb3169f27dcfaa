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

import java.util.List;
import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;
import jdk.test.whitebox.WhiteBox;
import jdk.test.whitebox.code.BlobType;

/*
 * @test
 * @requires vm.gc.Lull & vm.debug
 * @summary The code cache grows slowly. A collection that nobody has asked for unloads code when there is much more than after the last one that
 *          did, and not before.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run driver gc.lull.TestCodeGrowth
 */

public class TestCodeGrowth {
    private static final int CODE_CACHE = 64;      // MB
    private static final int STEP = CODE_CACHE / 32;
    private static final int STEPS = 10;           // about a third of the code cache: twice SweeperThreshold, 15 %

    static class Work {
        static volatile Object published;

        private static void collect() {
            long before = GCBean.globalCollections();
            while (GCBean.globalCollections() == before) {
                published = new byte[1000];
            }
        }

        public static void main(String[] args) {
            WhiteBox whiteBox = WhiteBox.getWhiteBox();
            collect();
            collect();
            for (int i = 0; i < STEPS; i++) {
                Asserts.assertNE(whiteBox.allocateCodeBlob(STEP << 20, BlobType.All.id), 0L);
                collect();
                System.out.println("Step " + i);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava("-XX:+UseLullGC", "-XX:-LullYoungCollections", "-Xms24m", "-Xmx24m",
                "-Xbootclasspath/a:.", "-XX:+UnlockDiagnosticVMOptions", "-XX:+WhiteBoxAPI", "-XX:+UnlockExperimentalVMOptions",
                "-XX:LullUnloadClassesInterval=1000", "-XX:ReservedCodeCacheSize=" + CODE_CACHE + "m", "-XX:-SegmentedCodeCache", "-Xint",
                "-Xlog:gc,gc+ergo", Work.class.getName());
        output.shouldHaveExitValue(0);
        List<String> lines = output.asLines().stream().filter(line -> line.contains("Step ") || line.contains("code has grown")).toList();
        long grown = lines.stream().filter(line -> line.contains("code has grown")).count();
        System.out.println(lines);
        Asserts.assertGTE(grown, 1L, "collections that unload because code has grown");
        Asserts.assertLTE(grown, (long) STEPS / 3, "each counts from the last one");
        Asserts.assertTrue(lines.get(0).contains("Step ") && lines.get(1).contains("Step "), "the first steps are not enough");
    }
}
