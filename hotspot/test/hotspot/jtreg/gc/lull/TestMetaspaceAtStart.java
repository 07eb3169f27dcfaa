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

import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull & os.maxMemory > 2g
 * @summary A program that loads as many classes as a large service is not stopped for it, unless it is told to be.
 * @library / /test/lib
 * @run driver gc.lull.TestMetaspaceAtStart
 */

public class TestMetaspaceAtStart {
    private static final String PAUSE = "(Metadata GC Threshold)";
    private static final int CLASSES = 5000;

    /** Loads classes of the JDK's own base, which no archive has. */
    static class Program {
        public static void main(String[] args) throws Exception {
            Path base = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules", "java.base");
            List<String> names;
            try (Stream<Path> files = Files.walk(base)) {
                names = files.map(file -> base.relativize(file).toString())
                             .filter(name -> name.endsWith(".class") && !name.endsWith("-info.class"))
                             .map(name -> name.substring(0, name.length() - ".class".length()).replace('/', '.'))
                             .limit(CLASSES).toList();
            }
            for (String name : names) {
                Class.forName(name, false, null);
            }
            System.out.println("Loaded " + names.size());
        }
    }

    private static OutputAnalyzer run(String... flags) throws Exception {
        List<String> command = Stream.concat(
            Stream.of("-XX:+UseLullGC", "-Xmx256m", "-Xshare:off", "-Xlog:gc,gc+metaspace"),
            Stream.concat(Stream.of(flags), Stream.of(Program.class.getName()))).toList();
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(command);
        output.shouldHaveExitValue(0);
        output.shouldContain("Loaded " + CLASSES);
        return output;
    }

    private static long pauses(OutputAnalyzer output) {
        return output.asLines().stream().filter(line -> line.contains(PAUSE)).count();
    }

    public static void main(String[] args) throws Exception {
        Asserts.assertEquals(pauses(run()), 0L, "pauses for classes that all live");
        // HotSpot's own first threshold: so many classes need more. And what is asked for is done.
        Asserts.assertGTE(pauses(run("-XX:MetaspaceSize=21807104")), 1L, "pauses at a threshold that was asked for");
    }
}
