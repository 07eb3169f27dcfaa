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

import java.io.File;
import jdk.test.lib.Asserts;
import jdk.test.lib.hprof.HprofParser;
import jdk.test.lib.hprof.model.JavaObject;
import jdk.test.lib.hprof.model.Snapshot;
import jdk.test.lib.hprof.parser.Reader;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary -XX:+HeapDumpBeforeFullGC writes a dump that holds each object that is in use, private ones too.
 * @library /test/lib /
 * @run driver gc.lull.TestHeapDumpBeforeFullGC
 */

public class TestHeapDumpBeforeFullGC {
    private static final int ITEMS = 1000;

    static class Item {
        int number;
    }

    static class Work {
        public static void main(String[] args) {
            Item[] items = new Item[ITEMS];
            for (int i = 0; i < ITEMS; i++) {
                items[i] = new Item();
                items[i].number = i;
            }
            System.gc();
            for (int i = 0; i < ITEMS; i++) {
                Asserts.assertEQ(items[i].number, i);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        File dump = new File("before.hprof");
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(
            "-XX:+UseLullGC", "-Xms64m", "-Xmx64m", "-XX:+UnlockExperimentalVMOptions", "-XX:+LullAlwaysPrivate", "-XX:+HeapDumpBeforeFullGC",
            "-XX:HeapDumpPath=" + dump.getName(), "-Xlog:gc", Work.class.getName());
        output.shouldHaveExitValue(0);
        output.shouldMatch("GC\\(0\\) Heap Dump \\(before full gc\\) .*ms");
        Asserts.assertTrue(dump.isFile(), "there is no dump");
        HprofParser.parseAndVerify(dump);

        try (Snapshot snapshot = Reader.readFile(dump.getPath(), false, 0)) {
            snapshot.resolve(false);
            boolean[] found = new boolean[ITEMS];
            for (var e = snapshot.findClass(Item.class.getName()).getInstances(false); e.hasMoreElements(); ) {
                int number = Integer.parseInt(((JavaObject) e.nextElement()).getField("number").toString());
                Asserts.assertFalse(found[number], "object " + number + " is in the dump twice");
                found[number] = true;
            }
            for (int i = 0; i < ITEMS; i++) {
                Asserts.assertTrue(found[i], "object " + i + " is not in the dump");
            }
        }
    }
}
