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

package gc.lull.publication;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary Samples name the class that is stored and the method that stores it, of the interpreter, C1 and C2, and who
 *          publishes more comes before who publishes less.
 * @library / /test/lib
 * @run driver gc.lull.publication.TestPublicationSampling
 */

public class TestPublicationSampling {
    static class Small { long a, b; }
    static class Large { long a, b, c, d, e, f, g, h; Small small = new Small(); }
    static class InField { long a, b; }
    static class InArray { long a, b; }
    static class Copied { long a, b; }
    static class Exchanged { long a, b; }

    static class Work {
        static volatile Object small;
        static volatile Object large;
        static final AtomicReference<Object> reference = new AtomicReference<>();
        static final Object[] array = new Object[4];
        static final Object[] copy = new Object[4];
        static final Work holder = new Work();
        Object field;

        static void storeSmall(Object value)                   { small = value; }
        static void storeLarge(Object value)                   { large = value; }
        static void storeInField(Work holder, Object value)    { holder.field = value; }
        static void storeInArray(Object[] array, Object value) { array[1] = value; }
        static void storeCopies(Object[] from)                 { System.arraycopy(from, 0, copy, 0, from.length); }
        static void storeAtomically(Object value)              { reference.getAndSet(value); }

        public static void main(String[] args) {
            for (int i = 0; i < 20_000; i++) {
                storeSmall(new Small());
                storeLarge(new Large());
                storeInField(holder, new InField());
                storeInArray(array, new InArray());
                storeCopies(new Object[] { new Copied(), new Copied() });
                storeAtomically(new Exchanged());
            }
        }
    }

    private static final Pattern SITE = Pattern.compile("(\\d+\\.\\d)% +(\\d+)K in (\\d+) samples, (\\d+) objects: (\\S+), stored by (.*)$");

    record Site(long kilobytes, long samples, String stored, String by) {}

    private static List<Site> run(String... flags) throws Exception {
        String work = Work.class.getName();
        List<String> command = new ArrayList<>(List.of("-Xmx64m", "-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions", "-XX:-LullLocalCollections",
            "-XX:+LullAlwaysPrivate", "-XX:LullPublicationSampling=1k", "-Xlog:gc+publish",
            "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly," + work + "::store*", "-XX:CompileCommand=dontinline," + work + "::store*"));
        command.addAll(List.of(flags));
        command.add(work);
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(command);
        output.shouldHaveExitValue(0);
        List<Site> sites = new ArrayList<>();
        for (String line : output.stdoutAsLines()) {
            Matcher matcher = SITE.matcher(line);
            if (matcher.find()) {
                System.out.println(line);
                sites.add(new Site(Long.parseLong(matcher.group(2)), Long.parseLong(matcher.group(3)), matcher.group(5), matcher.group(6)));
            }
        }
        return sites;
    }

    private static Site check(List<Site> sites, Class<?> stored, String... methods) {
        List<Site> found = sites.stream().filter(site -> site.stored.equals(stored.getName())).toList();
        Asserts.assertFalse(found.isEmpty(), "nobody has stored a " + stored + " in " + sites);
        long samples = 0;
        for (Site site : found) {
            boolean known = false;
            for (String method : methods) {
                known |= site.by.matches(Pattern.quote(method) + "(:\\d+)?");
            }
            Asserts.assertTrue(known, "somebody else has stored it: " + site);
            samples += site.samples;
        }
        Asserts.assertGT(samples, 50L, "few samples of " + found);
        return found.getFirst();
    }

    private static void check(String what, String... flags) throws Exception {
        System.out.println(what);
        List<Site> sites = run(flags);
        String work = Work.class.getName() + ".";
        Site small = check(sites, Small.class, work + "storeSmall");
        Site large = check(sites, Large.class, work + "storeLarge");
        check(sites, InField.class, work + "storeInField");
        check(sites, InArray.class, work + "storeInArray");
        check(sites, Copied.class, work + "storeCopies", "java.lang.System.arraycopy");
        check(sites, Exchanged.class, work + "storeAtomically", "java.util.concurrent.atomic.AtomicReference.getAndSet",
              "jdk.internal.misc.Unsafe.getAndSetReference", "jdk.internal.misc.Unsafe.compareAndSetReference",
              "jdk.internal.misc.Unsafe.weakCompareAndSetReference", "java.lang.invoke.VarHandleReferences$FieldInstanceReadWrite.getAndSet");
        Asserts.assertLT(small.kilobytes, large.kilobytes, "a Large is larger, and refers to a Small");
        Asserts.assertLT(sites.indexOf(large), sites.indexOf(small), "the largest comes first");
    }

    public static void main(String[] args) throws Exception {
        check("Interpreter", "-Xint");
        check("C1", "-Xcomp", "-XX:TieredStopAtLevel=1");
        check("C2", "-Xcomp", "-XX:-TieredCompilation");
        for (String flag : List.of("-XX:-LullTracking", "-XX:LullPublicationSampling=0")) {
            Asserts.assertTrue(run("-Xint", flag).isEmpty(), "samples with " + flag);
        }
    }
}
