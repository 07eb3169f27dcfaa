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

import java.util.ArrayList;
import java.util.List;
import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull & os.maxMemory > 2g
 * @summary A program that starts and wants large arrays gets them without a collection of the whole heap, as long as the heap
 *          is far below its maximum. Where it is not, what is dead is collected first.
 * @library / /test/lib
 * @run driver gc.lull.TestGrowsFirst
 */

public class TestGrowsFirst {
    private static final int MB = 1024 * 1024;

    static class Program {
        private static final List<byte[]> KEPT = new ArrayList<>();
        private static volatile Object published;

        /** MB that live, MB of each array, how many of them are kept, how many are dropped. */
        public static void main(String[] args) {
            int alive = Integer.parseInt(args[0]);
            int large = Integer.parseInt(args[1]);
            for (int i = 0; i < alive * 16; i++) {
                KEPT.add(new byte[MB / 16]);
            }
            for (int i = Integer.parseInt(args[2]); i > 0; i--) {
                KEPT.add(new byte[large * MB]);
            }
            for (int i = Integer.parseInt(args[3]); i > 0; i--) {
                published = new byte[large * MB];
            }
            System.out.println("Allocated");
        }
    }

    private static long pauses(String kind, int start, int most, String... args) throws Exception {
        List<String> command = new ArrayList<>(List.of("-XX:+UseLullGC", "-Xms" + start + "m", "-Xmx" + most + "m", "-Xlog:gc",
                                                       "-XX:+UnlockExperimentalVMOptions", "-XX:LullReferencePausePercent=0",
                                                       Program.class.getName()));
        command.addAll(List.of(args));
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(command);
        output.shouldHaveExitValue(0);
        output.shouldContain("Allocated");
        return output.asLines().stream().filter(line -> line.matches(".* Pause " + kind + " .*ms")).count();
    }

    public static void main(String[] args) throws Exception {
        Asserts.assertEquals(pauses("Full", 64, 1024, "30", "128", "2", "0"), 0L, "collections of the whole heap while there is room");
        Asserts.assertGTE(pauses("(Young|Full|Remark)", 64, 256, "30", "60", "0", "20"), 1L, "collections where there is none");
    }
}
