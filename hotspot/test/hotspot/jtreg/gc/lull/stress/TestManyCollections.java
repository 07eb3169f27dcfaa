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

package gc.lull.stress;

/*
 * @test id=default
 * @key stress
 * @requires vm.gc.Lull
 * @summary Graphs of objects agree with a model through thousands of collections.
 * @library /
 * @build gc.lull.TestObjectGraphs
 * @run main/othervm/timeout=600 -Xmx16m -XX:+UseLullGC gc.lull.TestObjectGraphs 4 3000
 */

/*
 * @test id=compactHeaders
 * @key stress
 * @requires vm.gc.Lull & vm.bits == "64"
 * @summary Graphs of objects with headers of one word agree with a model through thousands of collections.
 * @library /
 * @build gc.lull.TestObjectGraphs
 * @run main/othervm/timeout=600 -Xmx16m -XX:+UseLullGC -XX:+UseCompactObjectHeaders gc.lull.TestObjectGraphs 4 3000
 */

/*
 * @test id=evacuationFailureALot
 * @key stress
 * @requires vm.gc.Lull & vm.debug
 * @summary Graphs of objects agree with a model through thousands of collections that move some of them.
 * @library /
 * @build gc.lull.TestObjectGraphs
 * @run main/othervm/timeout=600 -Xmx24m -XX:+UseLullGC -XX:LullEvacuateALot=1 -XX:LullEvacuationFailureALot=7
 *                               -XX:ParallelGCThreads=4 -XX:-UseDynamicNumberOfGCThreads gc.lull.TestObjectGraphs 4 2000
 */

// The programs are those of gc/lull, which run for some seconds.
class TestManyCollections {}
