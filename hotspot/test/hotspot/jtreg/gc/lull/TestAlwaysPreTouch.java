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

import java.nio.file.Files;
import java.nio.file.Path;

/*
 * @test id=on
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary With -XX:+AlwaysPreTouch the whole of the committed heap is in memory from the start.
 * @run main/othervm -Xms512m -Xmx512m -XX:+UseLullGC -XX:+AlwaysPreTouch gc.lull.TestAlwaysPreTouch true
 */

/*
 * @test id=off
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary Without -XX:+AlwaysPreTouch memory is not touched before it is used.
 * @run main/othervm -Xms512m -Xmx512m -XX:+UseLullGC -XX:-AlwaysPreTouch gc.lull.TestAlwaysPreTouch false
 */

public class TestAlwaysPreTouch {
    private static final long HEAP_KB = 512 << 10;

    private static long residentKilobytes() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        throw new AssertionError("/proc/self/status has no VmRSS");
    }

    public static void main(String[] args) throws Exception {
        boolean touched = Boolean.parseBoolean(args[0]);
        long resident = residentKilobytes();
        System.out.println(resident + "K in memory");
        if (touched != resident >= HEAP_KB) {
            throw new AssertionError(resident + "K in memory, with a heap of " + HEAP_KB + "K");
        }
    }
}
