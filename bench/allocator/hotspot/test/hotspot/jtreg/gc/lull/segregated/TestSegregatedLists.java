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

package gc.lull.segregated;

import java.util.ArrayList;
import java.util.List;

import gc.lull.ProgramWithFlags;
import jdk.test.lib.process.OutputAnalyzer;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary Graphs of objects that threads change at random agree with a model, on segregated lists with the Next Hit Table and immediate coalescing.
 * @library /
 * @run main/othervm -Xms16m -Xmx16m -XX:+UseLullGC -XX:-LullTracking -XX:-UseTLAB
 *                   -XX:+UnlockDiagnosticVMOptions -XX:LullAllocation=segregated -XX:+LullVerifyHeap
 *                   gc.lull.TestObjectGraphs 4 50
 */

/*
 * @test id=bitmapDeferred
 * @requires vm.gc.Lull
 * @summary Graphs of objects, on lists found by a bitmap, whose chunks are joined when that is needed.
 * @library /
 * @run main/othervm -Xms16m -Xmx16m -XX:+UseLullGC -XX:-LullTracking -XX:-UseTLAB
 *                   -XX:+UnlockDiagnosticVMOptions -XX:LullAllocation=segregated -XX:+LullVerifyHeap
 *                   -XX:LullSegregatedSearch=bitmap -XX:LullSegregatedCoalescing=deferred -XX:LullSegregatedLists=512
 *                   gc.lull.TestObjectGraphs 4 30
 */

/*
 * @test id=traverseNever
 * @requires vm.gc.Lull
 * @summary Graphs of objects, on lists that are searched one after the other, whose chunks are never joined: in half the heap there
 *          is soon no chunk for the larger arrays.
 * @library /
 * @run main/othervm -Xms128m -Xmx128m -XX:+UseLullGC -XX:-LullTracking -XX:-UseTLAB
 *                   -XX:+UnlockDiagnosticVMOptions -XX:LullAllocation=segregated -XX:+LullVerifyHeap
 *                   -XX:LullSegregatedSearch=traverse -XX:LullSegregatedCoalescing=never -XX:LullSegregatedLists=32
 *                   gc.lull.TestObjectGraphs 3 8
 */

/*
 * @test id=firstFit
 * @requires vm.gc.Lull
 * @summary Graphs of objects, on one list.
 * @library /
 * @run main/othervm -Xms24m -Xmx24m -XX:+UseLullGC -XX:-LullTracking -XX:-UseTLAB
 *                   -XX:+UnlockDiagnosticVMOptions -XX:LullAllocation=segregated -XX:+LullVerifyHeap
 *                   -XX:LullSegregatedSearch=first-fit -XX:LullSegregatedCoalescing=deferred
 *                   gc.lull.TestObjectGraphs 3 10
 */

/*
 * @test id=C2
 * @requires vm.gc.Lull & vm.compiler2.enabled
 * @summary Graphs of objects, changed by code of C2, with references of 64 bits.
 * @library /
 * @run main/othervm -Xms24m -Xmx24m -XX:+UseLullGC -XX:-LullTracking -XX:-UseTLAB
 *                   -XX:+UnlockDiagnosticVMOptions -XX:LullAllocation=segregated -XX:+LullVerifyHeap
 *                   -XX:-TieredCompilation -XX:-UseCompressedOops
 *                   gc.lull.TestObjectGraphs 3 30
 */

/*
 * @test id=compactHeaders
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary Graphs of objects with headers of one word: there are objects shorter than the shortest chunk.
 * @library /
 * @run main/othervm -Xms16m -Xmx16m -XX:+UseLullGC -XX:-LullTracking -XX:-UseTLAB
 *                   -XX:+UnlockDiagnosticVMOptions -XX:LullAllocation=segregated -XX:+LullVerifyHeap
 *                   -XX:+UseCompactObjectHeaders
 *                   gc.lull.TestObjectGraphs 3 30
 */

/*
 * @test id=alignment
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary Graphs of objects whose lengths are multiples of 32 bytes.
 * @library /
 * @run main/othervm -Xms24m -Xmx24m -XX:+UseLullGC -XX:-LullTracking -XX:-UseTLAB
 *                   -XX:+UnlockDiagnosticVMOptions -XX:LullAllocation=segregated -XX:+LullVerifyHeap
 *                   -XX:ObjectAlignmentInBytes=32
 *                   gc.lull.TestObjectGraphs 3 20
 */

/*
 * @test id=outOfMemory
 * @requires vm.gc.Lull
 * @summary OutOfMemoryError is thrown when no chunk is long enough, and the heap can be used afterwards.
 * @library /
 * @run main/othervm -Xms24m -Xmx24m -XX:+UseLullGC -XX:-LullTracking -XX:-UseTLAB
 *                   -XX:+UnlockDiagnosticVMOptions -XX:LullAllocation=segregated -XX:+LullVerifyHeap
 *                   gc.lull.TestOutOfMemory
 */

/*
 * @test id=outOfMemoryDeferred
 * @requires vm.gc.Lull
 * @summary The same when chunks are joined only where that is needed.
 * @library /
 * @run main/othervm -Xms24m -Xmx24m -XX:+UseLullGC -XX:-LullTracking -XX:-UseTLAB
 *                   -XX:+UnlockDiagnosticVMOptions -XX:LullAllocation=segregated -XX:+LullVerifyHeap
 *                   -XX:LullSegregatedCoalescing=deferred
 *                   gc.lull.TestOutOfMemory
 */

/*
 * @test id=references
 * @requires vm.gc.Lull
 * @summary Soft, weak and phantom references, finalizers.
 * @library /
 * @run main/othervm -Xms32m -Xmx32m -XX:+UseLullGC -XX:-LullTracking -XX:-UseTLAB
 *                   -XX:+UnlockDiagnosticVMOptions -XX:LullAllocation=segregated -XX:+LullVerifyHeap
 *                   gc.lull.TestReferences
 */

/*
 * @test id=classUnloading
 * @requires vm.gc.Lull
 * @summary Dead objects have a length even if their class is unloaded by the collection that frees them.
 * @library /
 * @run main/othervm -Xms32m -Xmx32m -XX:+UseLullGC -XX:-LullTracking -XX:-UseTLAB
 *                   -XX:+UnlockDiagnosticVMOptions -XX:LullAllocation=segregated -XX:+LullVerifyHeap
 *                   gc.lull.TestClassUnloading loaders
 */

/*
 * @test id=flags
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary What segregated lists cannot work with ends the VM at once, with a sentence that says why; and what was counted is told at the end.
 * @library /test/lib /
 * @run driver gc.lull.segregated.TestSegregatedLists
 */

public class TestSegregatedLists {
    static class Work {
        public static void main(String[] args) {
            Object[] kept = new Object[1000];
            for (int i = 0; i < 200_000; i++) {
                kept[i % 997] = new byte[i % 331];
            }
            System.out.println("Worked with " + kept.length);
        }
    }

    private static final ProgramWithFlags WORK =
        new ProgramWithFlags(Work.class, "Worked", "-XX:+UseLullGC", "-XX:+UnlockDiagnosticVMOptions", "-Xlog:gc+lull=info");

    private static void refused(String sentence, String... flags) throws Exception {
        WORK.refused(sentence, flags);
    }

    private static OutputAnalyzer accepted(String... flags) throws Exception {
        List<String> all = new ArrayList<>(List.of("-XX:LullAllocation=segregated", "-XX:-LullTracking", "-XX:-UseTLAB", "-Xms16m", "-Xmx16m"));
        all.addAll(List.of(flags));
        OutputAnalyzer output = WORK.accepted(all.toArray(new String[0]));
        output.shouldContain("Worked with 1000");
        return output;
    }

    private static long counter(OutputAnalyzer output, String name) {
        return Long.parseLong(output.firstMatch(" " + name + "=(\\d+)", 1));
    }

    private static void check(boolean holds, String what, OutputAnalyzer output) {
        if (!holds) {
            throw new AssertionError(what + ": " + output.getOutput());
        }
    }

    public static void main(String[] args) throws Exception {
        String segregated = "-XX:LullAllocation=segregated";
        refused("it needs -XX:-LullTracking", segregated, "-XX:-UseTLAB", "-Xms16m", "-Xmx16m");
        refused("it needs -XX:-UseTLAB", segregated, "-XX:-LullTracking", "-Xms16m", "-Xmx16m");
        refused("needs a heap of one size, it is to grow from 8M to 16M", segregated, "-XX:-LullTracking", "-XX:-UseTLAB", "-Xms8m", "-Xmx16m");
        refused("there are regions and segregated", "-XX:LullAllocation=blocks");
        refused("there are traverse, next-hit, bitmap and first-fit", segregated, "-XX:-LullTracking", "-XX:-UseTLAB", "-Xms16m", "-Xmx16m",
                "-XX:LullSegregatedSearch=best-fit");
        refused("there are never, deferred and immediate", segregated, "-XX:-LullTracking", "-XX:-UseTLAB", "-Xms16m", "-Xmx16m",
                "-XX:LullSegregatedCoalescing=late");
        refused("there may be 32, 64, 128, 256 or 512", segregated, "-XX:-LullTracking", "-XX:-UseTLAB", "-Xms16m", "-Xmx16m", "-XX:LullSegregatedLists=100");
        refused("must be at least 1024 and not more than the heap size", segregated, "-XX:-LullTracking", "-XX:-UseTLAB", "-Xms16m", "-Xmx16m",
                "-XX:LullSegregatedBytes=17000000");

        OutputAnalyzer nextHit = accepted();
        check(counter(nextHit, "allocations") > 200_000, "each object is allocated by itself", nextHit);
        check(counter(nextHit, "collections") > 0, "there are collections", nextHit);
        check(counter(nextHit, "lists_passed") == 0, "the table finds the list at once", nextHit);
        check(counter(nextHit, "look_ups") >= counter(nextHit, "allocations"), "one look-up for each allocation", nextHit);
        OutputAnalyzer traverse = accepted("-XX:LullSegregatedSearch=traverse");
        check(counter(traverse, "lists_passed") > counter(traverse, "allocations"), "without a table lists are passed", traverse);
        check(counter(traverse, "entries_written") == 0, "there is no table to write", traverse);
        OutputAnalyzer deferred = accepted("-XX:LullSegregatedSearch=bitmap", "-XX:LullSegregatedCoalescing=deferred");
        check(counter(deferred, "lists_passed") == 0, "the bitmap finds the list at once", deferred);
        OutputAnalyzer small = accepted("-XX:LullSegregatedBytes=9m");
        check(counter(small, "heap_bytes") == 9 << 20, "the space has as many bytes as it was told", small);
        check(counter(small, "collections") > counter(nextHit, "collections"), "and is collected more often", small);
    }
}
