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

package gc.stress.gcbasher;

import java.io.IOException;

/*
 * @test TestGCBasherWithLull
 * @key stress
 * @library /
 * @requires vm.gc.Lull
 * @requires vm.flavor == "server" & !vm.emulatedClient
 * @summary Lull collects while a program builds and drops the graph of all classes of the JDK.
 * @run main/othervm/timeout=200 -Xlog:gc*=info -Xmx256m -server -XX:+UseLullGC gc.stress.gcbasher.TestGCBasherWithLull 120000
 */

/*
 * @test TestGCBasherEvacuateWithLull
 * @key stress
 * @library /
 * @requires vm.gc.Lull & vm.debug
 * @requires vm.flavor == "server" & !vm.emulatedClient
 * @summary The same, with every block evacuated at every second collection and copies that fail.
 * @run main/othervm/timeout=200 -Xlog:gc*=info -Xmx384m -server -XX:+UseLullGC -XX:LullEvacuateALot=2 -XX:LullEvacuationFailureALot=100
 *   gc.stress.gcbasher.TestGCBasherWithLull 60000
 */

public class TestGCBasherWithLull {
    public static void main(String[] args) throws IOException {
        TestGCBasher.main(args);
    }
}
