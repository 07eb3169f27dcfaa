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

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary A heap of 8 MB is enough to say hello, again and again.
 * @run main/othervm -Xmx8m -XX:+UseLullGC gc.lull.TestHelloTinyHeap
 */

/*
 * @test id=noTLAB
 * @requires vm.gc.Lull
 * @summary A heap of 8 MB is enough to say hello without TLABs.
 * @run main/othervm -Xmx8m -XX:+UseLullGC -XX:-UseTLAB gc.lull.TestHelloTinyHeap
 */

/*
 * @test id=interpreter
 * @requires vm.gc.Lull
 * @summary A heap of 8 MB is enough for the interpreter to say hello.
 * @run main/othervm -Xmx8m -XX:+UseLullGC -Xint gc.lull.TestHelloTinyHeap
 */

public class TestHelloTinyHeap {
    private static final int TIMES = 100_000;   // more than 8 MB of strings

    static volatile Object sink;

    public static void main(String[] args) {
        long max = Runtime.getRuntime().maxMemory();
        if (max != 8L << 20) {
            throw new AssertionError("-Xmx8m is a heap of " + max + " bytes");
        }
        long length = 0;
        for (int i = 0; i < TIMES; i++) {
            String hello = "Hello " + (i % 10) + ", here is a heap of 8 MB, and this string is a bit longer than a word";
            length += hello.length();
            sink = hello;
        }
        long expected = (long) TIMES * ((String) sink).length();
        if (length != expected) {
            throw new AssertionError("lost some characters: " + length + " instead of " + expected);
        }
        System.out.println(sink);
    }
}
