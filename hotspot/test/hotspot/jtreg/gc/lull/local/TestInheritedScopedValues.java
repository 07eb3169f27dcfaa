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


package gc.lull.local;

import java.util.concurrent.StructuredTaskScope;

import static gc.lull.local.Checks.check;
import static gc.lull.local.Checks.isPublic;

/*
 * @test
 * @requires vm.gc.Lull
 * @summary What the tasks of a scope inherit is public, and what is bound to ScopedValues is private before and after.
 * @library / /test/lib
 * @enablePreview
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestInheritedScopedValues
 */
public class TestInheritedScopedValues {
    static final int REQUESTS = 50;
    static final int TASKS = 10;

    static final ScopedValue<String> CONTEXT = ScopedValue.newInstance();
    static final ScopedValue<String> USER = ScopedValue.newInstance();

    static void request(int number) {
        String context = "context " + number;
        ScopedValue.where(CONTEXT, context).run(() -> {
            check(CONTEXT.get() == context && !isPublic(context), "private until it is inherited");
            try (var scope = StructuredTaskScope.open()) {
                for (int i = 0; i < TASKS; i++) {
                    scope.fork(() -> {
                        check(CONTEXT.get() == context && context.equals("context " + number) && isPublic(context), "what a task inherits");
                        ScopedValue.where(USER, "user " + number).run(() ->
                            check(USER.get().equals("user " + number) && CONTEXT.get() == context, "what a task adds to it"));
                    });
                }
                scope.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            check(CONTEXT.get() == context, "it is bound still");
        });
        check(!CONTEXT.isBound(), "and not any more");
    }

    public static void main(String[] args) throws Exception {
        OwnThread.run(() -> {
            for (int i = 0; i < REQUESTS; i++) {
                request(i);
            }
        });
    }
}
