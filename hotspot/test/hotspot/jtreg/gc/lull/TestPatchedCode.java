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

import java.util.function.IntFunction;
import jdk.test.lib.Asserts;
import jdk.test.whitebox.WhiteBox;

/*
 * @test
 * @requires vm.gc.Lull & vm.debug & vm.compiler1.enabled
 * @summary Instructions into which C1 has patched a reference when they were first reached, long after their method was made, follow
 *          the object when it moves.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx64m -Xcomp -XX:TieredStopAtLevel=1
 *                   -XX:CompileCommand=quiet -XX:CompileCommand=compileonly,gc.lull.TestPatchedCode*::*
 *                   -XX:+UseLullGC -XX:LullEvacuateALot=1 gc.lull.TestPatchedCode
 */

public class TestPatchedCode {
    private static final int ROUNDS = 3;

    // Nothing refers to these classes before the code below does.
    static class First { static String text = new String("first"); }
    static class Second { static String text = new String("second"); }
    static class Third { static String text = new String("third"); }
    static class Fourth { static String text = new String("fourth"); }

    /** One instruction more that has been reached in each round but the first: mirrors, and what a call site is linked to. */
    private static String read(int which) {
        return switch (which) {
            case 0 -> First.text;
            case 1 -> Second.text + Second.class.getSimpleName();
            case 2 -> {
                IntFunction<String> text = i -> Third.text + i;
                yield text.apply(which);
            }
            default -> Fourth.text + Fourth.class.getSimpleName() + which;
        };
    }

    private static void check(int last) {
        String[] expected = {"first", "secondSecond", "third2", "fourthFourth3"};
        for (int i = 0; i <= last; i++) {
            Asserts.assertEquals(read(i), expected[i]);
        }
    }

    public static void main(String[] args) throws Exception {
        WhiteBox whiteBox = WhiteBox.getWhiteBox();
        var method = TestPatchedCode.class.getDeclaredMethod("read", int.class);
        for (int last = 0; last < 4; last++) {
            check(last);
            Asserts.assertEquals(whiteBox.getMethodCompilationLevel(method), 1, "read() is code of C1, patched " + last + " times");
            for (int round = 0; round < ROUNDS; round++) {
                System.gc();
                check(last);
            }
        }
    }
}
