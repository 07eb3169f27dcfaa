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

import java.nio.file.Path;
import jdk.test.lib.Utils;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull & vm.jvmti
 * @summary System.gc() that waits for a cycle does not wait for one that nobody ends: when an agent is told of the VM's
 *          death the threads of the collector have ended. Then it is a global collection.
 * @library / /test/lib
 * @run main/native gc.lull.concurrent.TestCollectAtExit
 */

public class TestCollectAtExit {
    public static class Program {
        public static void main(String[] args) {
            System.gc();
            System.out.println("main ends");
        }
    }

    public static void main(String[] args) throws Exception {
        Path agent = Path.of(Utils.TEST_NATIVE_PATH, System.mapLibraryName("LullCollectAtExit"));
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(
            "-agentpath:" + agent, "-Xmx64m", "-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions",
            "-XX:+LullConcurrentMarking", "-XX:+ExplicitGCInvokesConcurrent", "-Xlog:gc", Program.class.getName());
        output.shouldHaveExitValue(0);
        output.shouldMatch("(?s)Concurrent Mark Cycle.*main ends.*Pause Full \\(System.gc\\(\\)\\)");
    }
}
