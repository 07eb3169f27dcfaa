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

import java.lang.reflect.Field;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary Equal strings share their characters when they are old enough for -XX:+UseStringDeduplication, and not before.
 * @library /
 * @modules java.base/java.lang:open
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UseStringDeduplication -XX:StringDeduplicationAgeThreshold=3
 *                   --add-opens java.base/java.lang=ALL-UNNAMED gc.lull.TestStringDeduplication 3
 */

/*
 * @test id=evacuateALot
 * @requires vm.gc.Lull & vm.debug
 * @summary Equal strings share their characters although each collection moves them.
 * @library /
 * @modules java.base/java.lang:open
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UseStringDeduplication -XX:StringDeduplicationAgeThreshold=2
 *                   -XX:LullEvacuateALot=1
 *                   --add-opens java.base/java.lang=ALL-UNNAMED gc.lull.TestStringDeduplication 2
 */

/*
 * @test id=off
 * @requires vm.gc.Lull
 * @summary Without -XX:+UseStringDeduplication equal strings keep characters of their own.
 * @library /
 * @modules java.base/java.lang:open
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:-UseStringDeduplication
 *                   --add-opens java.base/java.lang=ALL-UNNAMED gc.lull.TestStringDeduplication 0
 */

public class TestStringDeduplication {
    private static final int DIFFERENT = 500;
    private static final int EQUAL = 4;

    private static final Field VALUE;

    static {
        try {
            VALUE = String.class.getDeclaredField("value");
            VALUE.setAccessible(true);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static Object value(String s) throws IllegalAccessException {
        return VALUE.get(s);
    }

    private static String text(int i) {
        return "This is text number " + i + " of those that are there more than once";
    }

    /** How many strings share their characters with the first one that is equal to them. */
    private static int sharing(String[][] strings) throws IllegalAccessException {
        int sharing = 0;
        for (String[] equal : strings) {
            for (int k = 1; k < EQUAL; k++) {
                sharing += value(equal[k]) == value(equal[0]) ? 1 : 0;
            }
        }
        return sharing;
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }

    public static void main(String[] args) throws Exception {
        int age = Integer.parseInt(args[0]);    // 0: never
        String[][] strings = new String[DIFFERENT][EQUAL];
        for (int i = 0; i < DIFFERENT; i++) {
            for (int k = 0; k < EQUAL; k++) {
                strings[i][k] = new StringBuilder(text(i)).toString();
            }
        }
        check(sharing(strings) == 0, "strings share their characters from the start");

        for (int i = 1; i < (age == 0 ? 5 : age); i++) {
            System.gc();
        }
        Thread.sleep(500);
        check(sharing(strings) == 0, "strings were deduplicated before their time");

        if (age > 0) {
            System.gc();
            int expected = DIFFERENT * (EQUAL - 1);
            for (int i = 0; i < 2000 && sharing(strings) < expected; i++) {
                Thread.sleep(10);
            }
            int sharing = sharing(strings);
            check(sharing == expected, sharing + " strings were deduplicated, of " + expected);
        }

        System.gc();
        System.gc();
        for (int i = 0; i < DIFFERENT; i++) {
            for (int k = 0; k < EQUAL; k++) {
                check(strings[i][k].equals(text(i)), "text " + i + " has become \"" + strings[i][k] + "\"");
            }
        }
    }
}
