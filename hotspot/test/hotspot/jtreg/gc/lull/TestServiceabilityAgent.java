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

import jdk.test.lib.JDKToolLauncher;
import jdk.test.lib.SA.SATestUtils;
import jdk.test.lib.apps.LingeredApp;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull & vm.hasSA
 * @summary jhsdb knows a Lull heap: its flags, its bounds and use, its threads; what it cannot list it says.
 * @library /test/lib
 * @modules java.base/jdk.internal.misc
 * @run driver gc.lull.TestServiceabilityAgent
 */

public class TestServiceabilityAgent {
    private static OutputAnalyzer jhsdb(LingeredApp app, String... arguments) throws Exception {
        JDKToolLauncher tool = JDKToolLauncher.createUsingTestJDK("jhsdb");
        for (String argument : arguments) {
            tool.addToolArg(argument);
        }
        tool.addToolArg("--pid").addToolArg(Long.toString(app.getPid()));
        OutputAnalyzer output = ProcessTools.executeProcess(SATestUtils.createProcessBuilder(tool));
        output.shouldNotContain("does not match with SA version");
        output.shouldNotContain("Exception in thread");
        return output;
    }

    public static void main(String[] args) throws Exception {
        SATestUtils.skipIfCannotAttach();
        LingeredApp app = LingeredApp.startApp("-XX:+UseLullGC", "-Xms64m", "-Xmx64m", "-XX:ParallelGCThreads=2");
        try {
            OutputAnalyzer heap = jhsdb(app, "jmap", "--heap");
            heap.shouldHaveExitValue(0);
            heap.shouldContain("Lull GC with 2 thread(s)");
            heap.shouldMatch("MaxHeapSize +=.*\\(64.0MB\\)");
            heap.shouldMatch("Lull heap\\R reserved: \\[0x[0-9a-f]+, 0x[0-9a-f]+\\]\\R capacity: +65536K\\R used: +[1-9][0-9]*K");

            OutputAnalyzer threads = jhsdb(app, "jstack");
            threads.shouldHaveExitValue(0);
            threads.shouldContain(LingeredApp.class.getName() + ".main");

            jhsdb(app, "jmap", "--histo").shouldContain("use jcmd <pid> GC.class_histogram");
        } finally {
            LingeredApp.stopApp(app);
        }
    }
}
