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
import jdk.test.lib.hprof.model.JavaClass;
import jdk.test.lib.hprof.model.JavaObject;
import jdk.test.lib.hprof.model.Snapshot;
import jdk.test.lib.hprof.parser.Reader;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary -XX:+HeapDumpOnOutOfMemoryError writes a dump that holds each object that was in use.
 * @library /test/lib /
 * @run driver gc.lull.TestHeapDumpOnOutOfMemory
 */

public class TestHeapDumpOnOutOfMemory {
    private static final int MARKERS = 1000;

    static class Marker {
        int number;
    }

    static class Filler {
        private static final Marker[] markers = new Marker[MARKERS];
        private static Object list;

        public static void main(String[] args) {
            for (int i = 0; i < MARKERS; i++) {
                markers[i] = new Marker();
                markers[i].number = i;
                new Marker().number = -1;           // must not be in the dump
            }
            while (true) {
                list = new Object[] { list, new byte[2000] };
            }
        }
    }

    public static void main(String[] args) throws Exception {
        File dump = new File("full.hprof");
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(
            "-XX:+UseLullGC", "-Xmx16m", "-XX:-UseGCOverheadLimit", "-XX:+HeapDumpOnOutOfMemoryError", "-XX:HeapDumpPath=" + dump.getName(),
            Filler.class.getName());
        output.shouldHaveExitValue(1);
        output.shouldContain("java.lang.OutOfMemoryError: Java heap space");
        Asserts.assertTrue(dump.isFile(), "there is no dump");
        HprofParser.parseAndVerify(dump);

        try (Snapshot snapshot = Reader.readFile(dump.getPath(), false, 0)) {
            snapshot.resolve(false);
            JavaClass marker = snapshot.findClass(Marker.class.getName());
            boolean[] found = new boolean[MARKERS];
            for (var e = marker.getInstances(false); e.hasMoreElements(); ) {
                JavaObject object = (JavaObject) e.nextElement();
                int number = Integer.parseInt(object.getField("number").toString());
                Asserts.assertTrue(number >= 0, "the dump holds an object that was not in use");
                Asserts.assertFalse(found[number], "object " + number + " is in the dump twice");
                found[number] = true;
            }
            for (int i = 0; i < MARKERS; i++) {
                Asserts.assertTrue(found[i], "object " + i + " is not in the dump");
            }
        }
    }
}
