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


package gc.budget;

/*
 * @test id=phases-g1
 * @requires vm.gc.Lull & vm.hasJFR & os.family == "linux"
 * @summary The heap shrinks while stalls on I/O cost more than collections, and grows when collections do; each step is in the log, and an event.
 * @library /test/lib /
 * @modules jdk.jfr java.management jdk.management
 * @build gc.budget.Service gc.budget.TestHeapBudget
 * @run driver/timeout=300 gc.budget.TestHeapBudgetPhases G1GC
 */

/*
 * @test id=phases-lull
 * @requires vm.gc.Lull & vm.hasJFR & os.family == "linux"
 * @summary The same with Lull.
 * @library /test/lib /
 * @modules jdk.jfr java.management jdk.management
 * @build gc.budget.Service gc.budget.TestHeapBudget
 * @run driver/timeout=300 gc.budget.TestHeapBudgetPhases LullGC
 */

public class TestHeapBudgetPhases {
    public static void main(String[] args) throws Exception {
        TestHeapBudget.phases(args[0]);
    }
}
