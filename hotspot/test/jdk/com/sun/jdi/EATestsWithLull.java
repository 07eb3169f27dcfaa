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

/*
 * @test id=private
 * @requires vm.gc.Lull & vm.debug & vm.compMode != "Xcomp" & vm.compiler2.enabled
 * @summary EATests with publication tracking: a debugger reads, and exchanges, locals and objects of compiled frames that C2
 *          has not made, while the threads of the program keep private objects.
 * @library /test/lib /test/hotspot/jtreg
 * @modules jdk.jdi
 * @build TestScaffold VMConnection TargetListener TargetAdapter jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @compile -g EATests.java
 * @run driver EATests -XX:+UnlockDiagnosticVMOptions -Xms256m -Xmx256m -Xbootclasspath/a:. -XX:+WhiteBoxAPI -Xbatch
 *                     -XX:CompileCommand=dontinline,*::dontinline_* -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions
 *                     -XX:-LullLocalCollections -XX:+LullAlwaysPrivate -XX:+LullLoadCheck
 */

/*
 * @test id=collectALot
 * @requires vm.gc.Lull & vm.debug & vm.compMode != "Xcomp" & vm.compiler2.enabled
 * @summary The same while objects move in local collections, wherever there may be one.
 * @library /test/lib /test/hotspot/jtreg
 * @modules jdk.jdi
 * @build TestScaffold VMConnection TargetListener TargetAdapter jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @compile -g EATests.java
 * @run driver EATests -XX:+UnlockDiagnosticVMOptions -Xms256m -Xmx256m -Xbootclasspath/a:. -XX:+WhiteBoxAPI -Xbatch
 *                     -XX:CompileCommand=dontinline,*::dontinline_* -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions
 *                     -XX:LullLocalCollectALot=2 -XX:+LullAlwaysPrivate
 */
