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

import gc.lull.GCBean;
import java.util.ArrayList;
import java.util.List;
import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;
import jdk.test.whitebox.WhiteBox;

/*
 * @test
 * @requires vm.gc.Lull & vm.debug
 * @summary A class loader that has no class of its own, and that a young collection has found dead, is unloaded by the next global collection.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run driver gc.lull.young.TestDeadLoaders
 */
public class TestDeadLoaders {
    private static final int ROUNDS = 12;
    private static final int LOADERS = 5;

    static class Delegating extends ClassLoader {
        Delegating() {
            super(TestDeadLoaders.class.getClassLoader());
        }
    }

    static class Work {
        private static final WhiteBox WB = WhiteBox.getWhiteBox();
        static volatile Object published;

        /** A global collection, for lack of memory. */
        private static void collect() {
            long enough = GCBean.globalCollections() + 1;
            while (GCBean.globalCollections() < enough) {
                published = new byte[1000];
            }
        }

        /** The VM then knows the loader. */
        private static void delegate() throws Exception {
            Class.forName(TestDeadLoaders.class.getName(), true, new Delegating());
        }

        public static void main(String[] args) throws Exception {
            List<byte[]> live = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < LOADERS; i++) {
                    delegate();
                }
                WB.youngGC();   // nothing has collected since: it finds them dead
                // What becomes old and dies makes the next global collection.
                live.clear();
                for (int i = 0; i < 1000; i++) {
                    live.add(new byte[5000]);
                }
                collect();
            }
            System.out.println("Rounds: " + ROUNDS);
        }
    }

    public static void main(String[] args) throws Exception {
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava("-Xbootclasspath/a:.", "-XX:+UnlockDiagnosticVMOptions", "-XX:+WhiteBoxAPI",
                "-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions", "-XX:-LullConcurrentMarking",    // or a cycle stands for the global one
                "-Xms32m", "-Xmx32m", "-XX:MetaspaceSize=256m", "-Xlog:gc,gc+ergo=debug", Work.class.getName());
        output.shouldHaveExitValue(0);
        output.shouldContain("Rounds: " + ROUNDS);
        output.shouldContain("Pause Young");
        // Each of them was cleared before, and is counted nevertheless.
        int dead = 0;
        for (String line : output.asLines()) {
            int at = line.indexOf("Dead class loaders: ");
            if (at >= 0) {
                dead += Integer.parseInt(line.substring(at + "Dead class loaders: ".length(), line.indexOf(',', at)));
            }
        }
        System.out.println(dead + " dead class loaders were found by global collections that nobody has asked for");
        // One collection may be such that it unloads whatever is dead, without a look first.
        Asserts.assertGTE(dead, (ROUNDS - 1) * LOADERS, "dead class loaders");
    }
}
