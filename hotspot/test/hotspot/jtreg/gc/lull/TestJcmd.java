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
import java.io.FileInputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import jdk.test.lib.Asserts;
import jdk.test.lib.dcmd.PidJcmdExecutor;
import jdk.test.lib.hprof.HprofParser;
import jdk.test.lib.hprof.model.Snapshot;
import jdk.test.lib.hprof.parser.Reader;
import jdk.test.lib.process.OutputAnalyzer;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary jcmd shows the heap, counts its objects, dumps and exports them.
 * @library /test/lib /
 * @modules java.management
 * @run main/othervm -Xms32m -Xmx64m -XX:+UseLullGC -XX:ParallelGCThreads=2 -XX:-UseDynamicNumberOfGCThreads
 *                   -Xlog:heapdump:file=heapdump.log gc.lull.TestJcmd
 */

public class TestJcmd {
    private static final int ITEMS = 12_345;

    static final class Item {
        int number;
    }

    private static final Item[] items = new Item[ITEMS];

    private static OutputAnalyzer jcmd(String command) {
        OutputAnalyzer output = new PidJcmdExecutor().execute(command, true /* silent */);
        output.shouldHaveExitValue(0);
        return output;
    }

    private static void heapInfo() {
        OutputAnalyzer output = jcmd("GC.heap_info");
        Pattern pattern = Pattern.compile("Lull heap: total (\\d+)K, used (\\d+)K, maximum (\\d+)K, \\[0x[0-9a-f]+, 0x[0-9a-f]+\\)");
        Matcher matcher = pattern.matcher(output.getStdout());
        Asserts.assertTrue(matcher.find(), "not the expected form: " + output.getStdout());
        long total = Long.parseLong(matcher.group(1));
        long used = Long.parseLong(matcher.group(2));
        Asserts.assertEQ(total, Runtime.getRuntime().totalMemory() / 1024);
        Asserts.assertEQ(Long.parseLong(matcher.group(3)), 64L * 1024);
        Asserts.assertTrue(used > 0 && used <= total, used + "K of " + total + "K are in use");

        Pattern blocks = Pattern.compile("blocks of 32K: (\\d+) free, (\\d+) owned, (\\d+) recyclable, (\\d+) full, " +
                                         "(\\d+) large head, (\\d+) large tail, (\\d+) archive");
        matcher = blocks.matcher(output.getStdout());
        Asserts.assertTrue(matcher.find(), "not the expected form: " + output.getStdout());
        long sum = 0;
        for (int i = 1; i <= matcher.groupCount(); i++) {
            sum += Long.parseLong(matcher.group(i));
        }
        Asserts.assertEQ(sum * 32, total, "the blocks are the heap");
    }

    private static void classHistogram() {
        OutputAnalyzer output = jcmd("GC.class_histogram");
        output.shouldMatch("(?m)^\\s*\\d+:\\s+" + ITEMS + "\\s+\\d+\\s+" + Pattern.quote(Item.class.getName()) + "\\s*$");
        output.shouldMatch("(?m)^\\s*\\d+:\\s+1\\s+\\d+\\s+" + Pattern.quote(Item[].class.getName()) + "\\s*$");
        output = jcmd("GC.class_histogram -all -parallel=2");
        output.shouldContain(Item.class.getName());
    }

    private static void heapDump(String options, boolean verify, int expected) throws Exception {
        File dump = new File("jcmd.hprof");
        jcmd("GC.heap_dump " + options + " " + dump.getAbsolutePath());
        if (verify) {
            HprofParser.parseAndVerify(dump);
        }
        try (Snapshot snapshot = Reader.readFile(dump.getPath(), false, 0)) {
            snapshot.resolve(false);
            int found = snapshot.findClass(Item.class.getName()).getInstancesCount(false);
            Asserts.assertEQ(found, expected, "the objects in use are in the dump, and no others");
        }
        dump.delete();
    }

    private static long parallelDumps() throws Exception {
        try (Stream<String> lines = Files.lines(Path.of("heapdump.log"))) {
            return lines.filter(line -> line.contains("actual dump threads 2,")).count();
        }
    }

    // Each worker has a file of its own. One that cannot make it, as that of a dump which was killed is there, does not keep the others waiting.
    private static void heapDumpOfSomeWorkers() throws Exception {
        File dump = new File("some.hprof");
        File segment = new File("some.hprof.p1");
        Asserts.assertTrue(segment.createNewFile());
        jcmd("GC.heap_dump -parallel=2 " + dump.getAbsolutePath());
        jcmd("GC.class_histogram").shouldContain(Item.class.getName());
        segment.delete();
        dump.delete();
    }

    // That other programs trace such a file and mark the same: native/far/heap/tests/jvm.rs.
    private static void heapExport() throws Exception {
        File file = new File("jcmd.heap");
        jcmd("GC.export_heap " + file.getAbsolutePath()).shouldMatch("jcmd.heap: exported \\d+M, \\d+ classes, \\d+ roots, \\d+ objects");
        long length = file.length();
        ByteBuffer head = ByteBuffer.allocate(72).order(ByteOrder.LITTLE_ENDIAN);
        try (InputStream in = new FileInputStream(file)) {
            Asserts.assertEQ(in.readNBytes(head.array(), 0, head.capacity()), head.capacity());
        }
        jcmd("GC.export_heap " + file.getAbsolutePath()).shouldContain("cannot be written: File exists");
        Asserts.assertEQ(file.length(), length, "it is somebody's");
        file.delete();
        Asserts.assertEQ(new String(head.array(), 0, 8, StandardCharsets.US_ASCII), "LulHeap1");
        Asserts.assertEQ(head.getLong(64) + head.getLong(16), length, "the heap is the rest of the file");
        Asserts.assertTrue(head.getLong(56) >= ITEMS / 2, "only " + head.getLong(56) + " objects are marked");

        File nowhere = new File("nowhere", "heap");
        jcmd("GC.export_heap " + nowhere.getAbsolutePath()).shouldContain("cannot be written: No such file or directory");
        Asserts.assertFalse(nowhere.exists());
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < ITEMS; i++) {
            items[i] = new Item();
            items[i].number = i;
            new Item().number = -1;     // garbage
        }
        heapInfo();
        classHistogram();
        heapDump("", true, ITEMS);
        for (int i = 0; i < ITEMS; i += 2) {
            items[i] = null;
        }
        long parallel = parallelDumps();
        heapDump("-parallel=2", false, ITEMS / 2);
        heapDumpOfSomeWorkers();
        Asserts.assertEQ(parallelDumps() - parallel, 2L, "dumps by two workers");
        heapExport();
        for (int i = 1; i < ITEMS; i += 2) {
            Asserts.assertEQ(items[i].number, i);
        }
    }
}
