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

import jdk.test.lib.Platform;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.cds.default.archive.available
 * @summary The objects of the CDS archive are loaded into the heap, and are the same after collections.
 * @library /test/lib /
 * @run driver gc.lull.TestArchivedObjects
 */

/*
 * @test id=noCompressedOops
 * @requires vm.gc.Lull & vm.cds.nocoops.archive.available & vm.bits == "64"
 * @summary The objects of the CDS archive, with references of 64 bits.
 * @library /test/lib /
 * @run driver gc.lull.TestArchivedObjects -XX:-UseCompressedOops
 */

public class TestArchivedObjects {
    static class Work {
        private static volatile Object sink;

        // Constants of the JDK's own classes, so that the archive has them.
        private static final String[] NAMES = { "java.home", "java.version", "line.separator", "user.dir", "UTF-8" };

        private static void check(boolean condition, String message) {
            if (!condition) {
                throw new AssertionError(message);
            }
        }

        public static void main(String[] args) {
            List<Class<?>> classes = List.of(Object.class, String.class, Class.class, Thread.class, int.class, byte[].class, Enum.class);
            int[] hashes = classes.stream().mapToInt(System::identityHashCode).toArray();
            Integer[] integers = new Integer[256];
            for (int i = 0; i < integers.length; i++) {
                integers[i] = i - 128;
            }
            String modules = ModuleLayer.boot().modules().stream().map(Module::getName).sorted().toList().toString();

            for (int round = 0; round < 5; round++) {
                for (int i = 0; i < 5000; i++) {
                    sink = new byte[1000];
                }
                System.gc();
                for (int i = 0; i < classes.size(); i++) {
                    check(System.identityHashCode(classes.get(i)) == hashes[i], "the hash code of a class has changed");
                }
                check(classes.get(1) == "".getClass() && classes.get(5) == new byte[0].getClass(), "a class has another mirror");
                for (int i = 0; i < integers.length; i++) {
                    check(integers[i] == Integer.valueOf(i - 128) && integers[i] == i - 128, "an archived Integer has changed");
                }
                for (String name : NAMES) {
                    check(new StringBuilder(name).toString().intern() == name, "a string was interned twice");
                }
                check(ModuleLayer.boot().modules().stream().map(Module::getName).sorted().toList().toString().equals(modules),
                      "the boot layer has changed");
            }
            System.out.println("All there");
        }
    }

    private static void test(String flag, String... more) throws Exception {
        List<String> command = new ArrayList<>(List.of("-XX:+UseLullGC", "-Xmx32m", "-Xshare:auto", "-Xlog:cds,aot"));
        if (flag != null) {
            command.add(flag);
        }
        command.addAll(List.of(more));
        command.add(Work.class.getName());
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(command);
        output.shouldHaveExitValue(0);
        output.shouldContain("All there");
        output.shouldMatch("Loaded heap +region #\\d+ at base 0x[0-9a-f]+ top 0x[0-9a-f]+ size +[1-9]\\d*");
    }

    public static void main(String[] args) throws Exception {
        String flag = args.length > 0 ? args[0] : null;
        test(flag);
        if (Platform.isDebugBuild()) {
            test(flag, "-XX:LullEvacuateALot=1");
            test(flag, "-XX:LullSlideALot=1");
        }
    }
}
