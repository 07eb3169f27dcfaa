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

package gc.lull.young;

import gc.lull.GCBean;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import jdk.test.lib.Asserts;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test id=c1
 * @requires vm.gc.Lull & vm.debug
 * @summary A young object that C1's code has as a constant, and stores into an old object, is found there after a young collection has moved it.
 * @library / /test/lib
 * @run driver gc.lull.young.TestStoredConstants -XX:TieredStopAtLevel=1
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull & vm.debug
 * @summary A young object that C2's code has as a constant, and stores into an old object, is found there after a young collection has moved it.
 * @library / /test/lib
 * @run driver gc.lull.young.TestStoredConstants -XX:-TieredCompilation
 */

/*
 * @test id=c2NoCompressedOops
 * @requires vm.gc.Lull & vm.debug
 * @summary A young object that C2's code, with references of 64 bits has as a constant, and stores into an old object, is found there after a young collection has moved it.
 * @library / /test/lib
 * @run driver gc.lull.young.TestStoredConstants -XX:-TieredCompilation -XX:-UseCompressedOops
 */

/*
 * @test id=c1NoCompressedOops
 * @requires vm.gc.Lull & vm.debug
 * @summary A young object that C1's code, with references of 64 bits has as a constant, and stores into an old object, is found there after a young collection has moved it.
 * @library / /test/lib
 * @run driver gc.lull.young.TestStoredConstants -XX:TieredStopAtLevel=1 -XX:-UseCompressedOops
 */

/*
 * @test id=c2CompactHeaders
 * @requires vm.gc.Lull & vm.debug
 * @summary A young object that C2's code, with compact headers has as a constant, and stores into an old object, is found there after a young collection has moved it.
 * @library / /test/lib
 * @run driver gc.lull.young.TestStoredConstants -XX:-TieredCompilation -XX:+UseCompactObjectHeaders
 */

public class TestStoredConstants {
    private static final int ROUNDS = 30;
    private static final int CALLS = 20_000;     // more than any threshold
    private static final int LENGTH = 64;

    /** Its hidden copies have a constant each. */
    public interface Stores {
        void store(Object[] array, int i);

        void store(Box box);

        int[] constant();
    }

    public static class Box {
        Object value;
        Object other;
    }

    public static class Constant implements Stores {
        private static final int[] CONSTANT = {42, 43};

        @Override
        public void store(Object[] array, int i) {
            array[i] = CONSTANT;
        }

        @Override
        public void store(Box box) {
            box.value = CONSTANT;
            box.other = "a literal";
        }

        @Override
        public int[] constant() {
            return CONSTANT;
        }
    }

    static class Work {
        static final Object[][] arrays = new Object[ROUNDS][LENGTH];
        static final Box[] boxes = new Box[ROUNDS];
        static final List<Stores> all = new ArrayList<>();
        static volatile Object published;

        private static void collect() {
            long enough = GCBean.collections() + 2;
            while (GCBean.collections() < enough) {
                published = new byte[1000];
            }
        }

        private static void check() {
            for (int round = 0; round < all.size(); round++) {
                int[] constant = all.get(round).constant();
                Asserts.assertTrue(arrays[round][round % LENGTH] == constant, "element, round " + round);
                Asserts.assertTrue(boxes[round].value == constant, "field, round " + round);
                Asserts.assertEQ(constant[0] + constant[1], 85);
                Asserts.assertEQ(boxes[round].other, "a literal");
            }
        }

        public static void main(String[] args) throws Exception {
            byte[] bytes;
            try (InputStream in = Constant.class.getResourceAsStream("/" + Constant.class.getName().replace('.', '/') + ".class")) {
                bytes = in.readAllBytes();
            }
            for (int round = 0; round < ROUNDS; round++) {
                boxes[round] = new Box();
            }
            System.gc();
            int young = 0;
            for (int round = 0; round < ROUNDS; round++) {
                collect();
                long before = GCBean.collections();
                Stores stores = (Stores) MethodHandles.lookup().defineHiddenClass(bytes, true).lookupClass().getDeclaredConstructor().newInstance();
                Object[] array = new Object[LENGTH];
                Box box = new Box();
                for (int i = 0; i < CALLS; i++) {
                    stores.store(array, i % LENGTH);
                    stores.store(box);
                }
                // Old ones, whose cards are clean.
                stores.store(arrays[round], round % LENGTH);
                stores.store(boxes[round]);
                young += GCBean.collections() == before ? 1 : 0;
                all.add(stores);
                collect();
                check();
            }
            System.out.println("Young when stored: " + young);
            Asserts.assertGTE(young, ROUNDS / 2, "constants that no collection had made old");
        }
    }

    public static void main(String[] args) throws Exception {
        // All is public, so that no block has an owner, and all young ones may be evacuated.
        List<String> command = new ArrayList<>(List.of("-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions", "-XX:+LullAlwaysPublic", "-Xms48m",
                "-Xmx48m", "-Xbatch", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,*::store"));
        command.addAll(List.of(args));
        command.add(Work.class.getName());
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(command);
        output.shouldHaveExitValue(0);
        System.out.println(output.firstMatch("Young when stored: .*"));
    }
}
