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

import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary A global collection that nobody has asked for unloads classes and code if a class loader has died. A few hidden classes that have
 *          died, and objects that only code refers to, are kept by some collections, and then unloaded; many are unloaded at once.
 * @library / /test/lib
 * @run driver gc.lull.TestRoutineUnloading
 */

/*
 * @test id=interpreter
 * @requires vm.gc.Lull
 * @summary A global collection that nobody has asked for unloads classes and code if a class loader has died. A few hidden classes that have
 *          died, and objects that only code refers to, are kept by some collections, and then unloaded; many are unloaded at once.
 * @library / /test/lib
 * @run driver gc.lull.TestRoutineUnloading -Xint
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull
 * @summary A global collection that nobody has asked for unloads classes and code if a class loader has died. A few hidden classes that have
 *          died, and objects that only code refers to, are kept by some collections, and then unloaded; many are unloaded at once.
 * @library / /test/lib
 * @run driver gc.lull.TestRoutineUnloading -XX:TieredStopAtLevel=1
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull
 * @summary A global collection that nobody has asked for unloads classes and code if a class loader has died. A few hidden classes that have
 *          died, and objects that only code refers to, are kept by some collections, and then unloaded; many are unloaded at once.
 * @library / /test/lib
 * @run driver gc.lull.TestRoutineUnloading -XX:-TieredCompilation
 */

/*
 * @test id=evacuateALot
 * @requires vm.gc.Lull & vm.debug
 * @summary A global collection that nobody has asked for unloads classes and code if a class loader has died. A few hidden classes that have
 *          died, and objects that only code refers to, are kept by some collections, and then unloaded; many are unloaded at once.
 * @library / /test/lib
 * @run driver gc.lull.TestRoutineUnloading -XX:LullEvacuateALot=1
 */

/*
 * @test id=each
 * @requires vm.gc.Lull & vm.debug
 * @summary With -XX:LullUnloadClassesInterval=1 each global collection unloads what is dead.
 * @library / /test/lib
 * @run driver gc.lull.TestRoutineUnloading -XX:+UnlockExperimentalVMOptions -XX:LullUnloadClassesInterval=1
 */

public class TestRoutineUnloading {
    private static final int LOADERS = 5;
    private static final int COLLECTIONS = 24;
    private static final int FEW = 20;
    private static final int MANY = 600;      // more than twice what a collection keeps, lullUnloadingPolicy.hpp
    private static final int INTERVAL = 8;    // default of LullUnloadClassesInterval
    private static final long PATIENCE_NANOS = 60_000_000_000L;

    /** What each loader defines anew, and a compiler compiles, with the array as a constant. */
    public static class Loaded implements IntUnaryOperator {
        private static final int[] TABLE = {1, 2, 3, 4};

        @Override
        public int applyAsInt(int i) {
            return TABLE[i & 3] + i;
        }
    }

    static class Loader extends ClassLoader {
        Class<?> define() throws Exception {
            String name = Loaded.class.getName();
            try (InputStream in = Loaded.class.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            }
        }
    }

    static class Hidden {
        static final int[] table = {6, 7};
    }

    static class Work {
        static volatile Object published;
        static final List<Class<?>> hidden = new ArrayList<>();

        private static long unloaded() {
            return ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount();
        }

        private static void collect(int collections) {
            long enough = GCBean.globalCollections() + collections;
            while (GCBean.globalCollections() < enough) {
                published = new byte[1000];
            }
        }

        private static void defineHidden(int count) throws Exception {
            byte[] bytes;
            try (InputStream in = Hidden.class.getResourceAsStream("/" + Hidden.class.getName().replace('.', '/') + ".class")) {
                bytes = in.readAllBytes();
            }
            for (int i = 0; i < count; i++) {
                hidden.add(MethodHandles.lookup().defineHiddenClass(bytes, true).lookupClass());
            }
        }

        private static void checkHidden() throws Exception {
            for (int i = 0; i < hidden.size(); i++) {
                Asserts.assertEQ(((int[]) hidden.get(i).getDeclaredField("table").get(null))[1], 7);
            }
        }

        private static void dropHidden(String what, int count) throws Exception {
            defineHidden(2 * count);
            System.gc();
            long before = unloaded();
            hidden.subList(0, count).clear();
            System.out.println("Dropped " + what);
            int collections = 0;
            while (unloaded() < before + count - 2) {     // a frame or a compiler may hold one
                Asserts.assertLTE(++collections, 4 * INTERVAL, what + " unloaded " + (unloaded() - before));
                collect(1);
                checkHidden();
            }
            System.out.println("Unloaded " + what);
            hidden.clear();
            System.gc();
        }

        private static void useAndDrop() throws Exception {
            IntUnaryOperator loaded = (IntUnaryOperator) new Loader().define().getDeclaredConstructor().newInstance();
            int sum = 0;
            for (int i = 0; i < 50_000; i++) {
                sum += loaded.applyAsInt(i);
            }
            published = sum;
        }

        public static void main(String[] args) throws Exception {
            for (int i = 0; i < LOADERS; i++) {
                long before = unloaded();
                useAndDrop();
                // A frame may hold the last one, or a compiler that is behind.
                long end = System.nanoTime() + PATIENCE_NANOS;
                while (unloaded() == before && System.nanoTime() < end) {
                    collect(1);
                }
                Asserts.assertGT(unloaded(), before, "unloaded in a collection that nobody has asked for");
            }
            dropHidden("few", FEW);
            dropHidden("many", MANY);
            collect(COLLECTIONS);
            System.out.println("Unloaded " + unloaded());
        }
    }

    private static final Pattern DEAD =
        Pattern.compile("GC\\((\\d+)\\) Dead class loaders: (\\d+), dead hidden classes: (\\d+); all classes and code are kept: (true|false)");
    private static final Pattern DECISION =
        Pattern.compile("GC\\((\\d+)\\) Class loaders: (all are alive|some are dead); code: (none|some) refers to dead objects");
    private static final Pattern UNLOADED = Pattern.compile("GC\\((\\d+)\\) Unload Classes .*ms$");

    public static void main(String[] args) throws Exception {
        List<String> command = new ArrayList<>(List.of("-XX:+UseLullGC", "-XX:-LullYoungCollections", "-Xms24m", "-Xmx24m",
                "-XX:MetaspaceSize=256m", "-Xlog:gc,gc+phases,gc+ergo=debug"));
        command.addAll(List.of(args));
        command.add(Work.class.getName());
        int mostInARow = (command.contains("-XX:LullUnloadClassesInterval=1") ? 1 : INTERVAL) - 1;
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(command);
        output.shouldHaveExitValue(0);
        output.shouldContain("Unloaded ");
        Map<String, Boolean> decisions = new HashMap<>();
        Set<String> unloaded = new HashSet<>();
        Set<String> kept = new HashSet<>();
        int loaders = 0;
        int keptInARow = 0;
        int keptFew = 0;
        int manyAtOnce = 0;
        for (String line : output.asLines()) {
            Matcher matcher = DEAD.matcher(line);
            if (matcher.find()) {
                int deadLoaders = Integer.parseInt(matcher.group(2));
                int deadHidden = Integer.parseInt(matcher.group(3));
                boolean keeps = Boolean.parseBoolean(matcher.group(4));
                keptInARow = keeps ? keptInARow + 1 : 0;
                Asserts.assertLTE(keptInARow, mostInARow, "nothing is kept for good");
                if (keeps) {
                    kept.add(matcher.group(1));
                    Asserts.assertEQ(deadLoaders, 0, "a dead class loader is never kept");
                    Asserts.assertLT(deadHidden, MANY / 2, "nor are many hidden classes");
                    keptFew += deadHidden >= FEW / 2 ? 1 : 0;
                } else {
                    manyAtOnce += deadHidden >= MANY / 2 ? 1 : 0;
                }
            }
            matcher = DECISION.matcher(line);
            if (matcher.find()) {
                boolean loader = matcher.group(2).equals("some are dead");
                loaders += loader ? 1 : 0;
                decisions.put(matcher.group(1), loader || matcher.group(3).equals("some"));
            }
            matcher = UNLOADED.matcher(line);
            if (matcher.find()) {
                unloaded.add(matcher.group(1));
            }
        }
        System.out.println(kept.size() + " collections kept all, " + keptFew + " of them some dead hidden classes; " + decisions.size() + " looked, "
                           + loaders + " found dead loaders, " + unloaded.size() + " unloaded");
        Asserts.assertGTE(loaders, LOADERS, "collections that have found a dead loader");
        if (mostInARow > 0) {
            Asserts.assertGTE(keptFew, 1, "collections that have kept a few dead classes");
            Asserts.assertGTE(kept.size(), COLLECTIONS / 2, "collections that have kept all");
        }
        Asserts.assertGTE(manyAtOnce, 1, "collections that have found many dead classes");
        decisions.forEach((id, dead) -> Asserts.assertEQ(unloaded.contains(id), dead, "unloads exactly if something has died: " + id));
        kept.forEach(id -> Asserts.assertFalse(unloaded.contains(id) || decisions.containsKey(id), "kept, and unloaded: " + id));
    }
}
