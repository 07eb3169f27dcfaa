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

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;
import jdk.test.lib.util.JarUtils;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.cds
 * @summary An AOT cache that is made with Lull is used with other collectors, and the other way round: all classes come from
 *          it, and the heap's objects where the collector takes them.
 * @library /test/lib /
 * @run driver gc.lull.TestAOTCache
 */

/*
 * @test id=compactHeaders
 * @requires vm.gc.Lull & vm.cds
 * @summary The same with compact object headers.
 * @library /test/lib /
 * @run driver gc.lull.TestAOTCache -XX:+UseCompactObjectHeaders
 */

public class TestAOTCache {
    private static final String JAR = "work.jar";

    static class Work {
        public static void main(String[] args) {
            System.out.println("sizes: " + IntStream.range(0, 1000).mapToObj(i -> "x" + i).collect(Collectors.groupingBy(String::length)).keySet());
        }
    }

    private static OutputAnalyzer run(String collector, String[] flags, String... more) throws Exception {
        List<String> command = new ArrayList<>(List.of("-XX:+Use" + collector + "GC", "-Xmx64m"));
        command.addAll(Arrays.asList(flags));
        command.addAll(Arrays.asList(more));
        command.addAll(List.of("-cp", JAR, Work.class.getName()));
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(command);
        output.shouldHaveExitValue(0);
        return output;
    }

    private static long count(OutputAnalyzer output, String words) {
        return output.stdoutAsLines().stream().filter(line -> line.contains(words)).count();
    }

    private static void use(String maker, String user, String cache, String[] flags) throws Exception {
        // The mode ends the VM if it cannot use the cache.
        OutputAnalyzer output = run(user, flags, "-XX:AOTCache=" + cache, "-XX:AOTMode=on", "-Xlog:class+load,aot");
        output.shouldContain("sizes: [2, 3, 4]");
        output.shouldMatch(user.equals("Lull") ? "Loaded heap +region" : user.equals("G1") ? "Heap data mapped" : "sizes");
        long all = count(output, " source: ");
        long shared = count(output, " source: shared objects file");
        System.out.println("made by " + maker + ", used by " + user + ": " + shared + " of " + all + " classes");
        Asserts.assertGT(shared, 400L, "classes of a cache that " + maker + " has made, with " + user);
        Asserts.assertGTE(shared * 100, all * 98, "of " + all + " classes, " + shared + " come from it");
    }

    public static void main(String[] flags) throws Exception {
        JarUtils.createJarFile(Path.of(JAR), Path.of(System.getProperty("test.classes")), "gc/lull/TestAOTCache$Work.class");
        for (String maker : List.of("Lull", "G1")) {
            String cache = maker + ".aot";
            run(maker, flags, "-XX:AOTCacheOutput=" + cache);
            for (String user : List.of("Lull", "G1", "Serial")) {
                use(maker, user, cache, flags);
            }
        }
    }
}
