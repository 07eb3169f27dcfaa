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

import java.lang.invoke.MethodHandles;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import gc.lull.local.OwnThread.Value;

import static gc.lull.local.Checks.check;
import static gc.lull.local.Checks.isPublic;
import static gc.lull.local.OwnThread.endRequest;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary Values bound to ScopedValues stay private to their thread, are so again after System.gc(), survive errors, die with their
 *          thread, and are what was bound, however bindings nest.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestScopedValues stay errors end nest carriers
 */

/*
 * @test id=interpreter
 * @requires vm.gc.Lull & vm.debug
 * @summary The same in the interpreter, where each load is checked.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   -Xint -XX:+LullLoadCheck
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestScopedValues stay errors end nest carriers
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull & vm.debug & vm.compiler1.enabled
 * @summary The same in C1's code.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   -Xcomp -XX:CompileCommand=compileonly,gc.lull.*::* -XX:CompileCommand=compileonly,java.lang.ScopedValue*::*
 *                   -XX:CompileCommand=compileonly,java.lang.Thread::* -XX:CompileCommand=quiet
 *                   -XX:TieredStopAtLevel=1 -XX:+LullLoadCheck
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestScopedValues stay errors end nest carriers
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull & vm.debug & vm.compiler2.enabled
 * @summary The same in C2's code, with collections at every third slow allocation.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   -Xcomp -XX:CompileCommand=compileonly,gc.lull.*::* -XX:CompileCommand=compileonly,java.lang.ScopedValue*::*
 *                   -XX:CompileCommand=compileonly,java.lang.Thread::* -XX:CompileCommand=quiet
 *                   -XX:-TieredCompilation -XX:LullLocalCollectALot=3
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestScopedValues stay errors end nest carriers
 */

/*
 * @test id=stress
 * @requires vm.gc.Lull & vm.debug & vm.compiler2.enabled
 * @summary The same in all tiers, with evacuations that fail, changes of the mode and C2's stress flags.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   -XX:LullLocalCollectALot=7 -XX:LullEvacuationFailureALot=50 -XX:LullFlipModeALot=20
 *                   -XX:+StressLCM -XX:+StressGCM -XX:+StressIGVN -XX:+StressCCP
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestScopedValues nest errors end carriers
 */

/*
 * @test id=headers
 * @requires vm.gc.Lull & vm.bits == 64
 * @summary The same with compact headers and references of 64 bits.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   -XX:-UseCompressedOops
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+UseCompactObjectHeaders -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestScopedValues stay errors end nest carriers
 */

/*
 * @test id=field
 * @requires vm.gc.Lull
 * @summary Whoever reads the bindings of another thread finds all of them public: by reflection, ...
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   --add-opens=java.base/java.lang=ALL-UNNAMED
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestScopedValues field
 */

/*
 * @test id=handle
 * @requires vm.gc.Lull
 * @summary ... or by a method handle.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   --add-opens=java.base/java.lang=ALL-UNNAMED
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestScopedValues handle
 */

/*
 * @test id=off
 * @requires vm.gc.Lull & vm.debug
 * @summary With -XX:-LullPrivateThreadLocals they are public from the beginning.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate -XX:-LullPrivateThreadLocals
 *                   gc.lull.local.TestScopedValues off errors end nest
 */
public class TestScopedValues {
    static final int KEYS = 40;         // more than the VM's cache of bindings has places for
    static final int REQUESTS = 20;
    static final int NESTS = 200;

    static final ScopedValue<Value> CONTEXT = ScopedValue.newInstance();
    static final ScopedValue<Value> USER = ScopedValue.newInstance();
    static final List<ScopedValue<Value>> keys = new ArrayList<>();

    static void request(int number, boolean waits) {
        Value context = new Value(number);
        Value user = new Value(-number);
        ScopedValue.where(CONTEXT, context).where(USER, user).run(() -> {
            for (int i = 0; i < 3; i++) {
                check(CONTEXT.get() == context && USER.get() == user && context.isWhole() && user.isWhole(), "what was bound is found");
                check(!isPublic(context) && !isPublic(context.text) && !isPublic(user), "a scoped value is private");
                Value other = new Value(number + 1);
                ScopedValue.where(USER, other).run(() -> {
                    check(CONTEXT.get() == context && USER.get() == other, "what was bound last is found");
                    if (waits) {
                        endRequest();
                    }
                    check(CONTEXT.get() == context && USER.get() == other && other.isWhole(), "and so it is after a local collection");
                    check(!isPublic(context) && !isPublic(other), "and private");
                });
            }
        });
        check(!CONTEXT.isBound() && !USER.isBound(), "nothing is bound outside");
    }

    static void stay() throws Exception {
        for (int i = 0; i < REQUESTS; i++) {
            request(i, true);
        }
        Value early = new Value(1);
        ScopedValue.where(CONTEXT, early).run(() -> {
            check(CONTEXT.get() == early && !isPublic(early), "private before System.gc()");
            System.gc();
            check(CONTEXT.get() == early && isPublic(early) && early.isWhole(), "what survives System.gc() is public");
            Value late = new Value(2);
            ScopedValue.where(USER, late).run(() -> {
                check(!isPublic(late), "new bindings are private");
                check(USER.get() == late && CONTEXT.get() == early, "beside public ones");
            });
        });
        endRequest();
        for (int i = 0; i < REQUESTS; i++) {
            request(i, i % 2 == 0);
        }
    }

    static int recurse(int depth) {
        return CONTEXT.get().number + recurse(depth + 1);
    }

    // After a StackOverflowError HotSpot does not trust what a thread knows of its bindings, and looks into its frames.
    static void errors() throws Exception {
        OwnThread.run(() -> {
            for (int i = 0; i < 10; i++) {
                Value value = new Value(i);
                ScopedValue.where(CONTEXT, value).run(() -> {
                    try {
                        recurse(0);
                        throw new AssertionError("there is no end");
                    } catch (StackOverflowError expected) {
                        check(CONTEXT.get() == value && value.isWhole(), "found after a StackOverflowError");
                    }
                    endRequest();
                    check(CONTEXT.get() == value && value.isWhole(), "and after a local collection");
                    try {
                        ScopedValue.where(USER, new Value(1)).run(() -> {
                            throw new IllegalStateException(USER.get().text);
                        });
                    } catch (IllegalStateException expected) {
                        check("value 1".equals(expected.getMessage()) && !USER.isBound(), "bindings end with an exception");
                    }
                });
                check(!CONTEXT.isBound(), "and with their end");
            }
            try {
                CONTEXT.get();
                throw new AssertionError("bound to what?");
            } catch (NoSuchElementException expected) {
                // as it should be
            }
        });
    }

    // By an exception that nobody catches. What the VM has cached of the bindings is there at the end.
    static void end() throws Exception {
        List<WeakReference<Value>> values = Collections.synchronizedList(new ArrayList<>());
        List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
        for (int i = 0; i < 50; i++) {
            int number = i;
            Thread thread = new Thread(() -> {
                Value value = new Value(number);
                ScopedValue.where(CONTEXT, value).run(() -> {
                    if (number % 3 == 0) {
                        System.gc();
                    }
                    check(CONTEXT.get() == value, "the bindings of a thread that is to end");
                    values.add(new WeakReference<>(value));
                    throw new IllegalStateException("the end");
                });
            });
            thread.setUncaughtExceptionHandler((t, e) -> thrown.add(e));
            thread.start();
            thread.join();
        }
        check(thrown.size() == 50 && thrown.stream().allMatch(e -> "the end".equals(e.getMessage())), "each thread has ended with its exception");
        System.gc();
        check(values.size() == 50 && values.stream().allMatch(value -> value.get() == null), "the values have died with their threads");
    }

    static Value valueOf(int k) {
        ScopedValue<Value> key = keys.get(k);
        return key.isBound() ? key.get() : null;
    }

    // Bindings against a model.
    static void nest(Random random, Value[] model, int depth) {
        for (int i = 0; i < 4; i++) {
            int k = random.nextInt(KEYS);
            Value value = valueOf(k);
            check(value == model[k], "the value of a key");
            check(value == null || value.isWhole(), "a whole one");
        }
        if (depth == 0) {
            endRequest();
            return;
        }
        byte[] garbage = new byte[random.nextInt(2000)];
        Value[] inner = model.clone();
        int k = random.nextInt(KEYS);
        inner[k] = new Value(random.nextInt());
        ScopedValue.Carrier carrier = ScopedValue.where(keys.get(k), inner[k]);
        for (int i = random.nextInt(3); i > 0; i--) {
            int more = random.nextInt(KEYS);
            inner[more] = new Value(garbage.length);
            carrier = carrier.where(keys.get(more), inner[more]);
        }
        carrier.run(() -> nest(random, inner, depth - 1));
        for (int i = 0; i < KEYS; i++) {
            check(valueOf(i) == model[i], "a value of before is there again");
        }
    }

    static void nest(Thread.Builder builder) throws Exception {
        long seed = Long.getLong("seed", new Random().nextLong());
        System.out.println("-Dseed=" + seed);
        OwnThread.run(builder, () -> {
            Random random = new Random(seed);
            for (int i = 0; i < NESTS; i++) {
                nest(random, new Value[KEYS], random.nextInt(12));
                if (i % 100 == 50) {
                    System.gc();
                }
            }
        });
    }

    static void off() {
        Value value = new Value(1);
        check(!isPublic(value), "a new object is private");
        ScopedValue.where(CONTEXT, value).run(() -> check(CONTEXT.get() == value && isPublic(value), "a scoped value is public"));
    }

    static Object bindingsOf(Thread thread, String how) throws Throwable {
        switch (how) {
            case "field":
                Field field = Thread.class.getDeclaredField("scopedValueBindings");
                field.setAccessible(true);
                return field.get(thread);
            case "handle":
                return MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup())
                        .findGetter(Thread.class, "scopedValueBindings", Object.class).invoke(thread);
            default:
                throw new AssertionError(how);
        }
    }

    static void foreign(String how) throws Throwable {
        OwnThread.runWithReader(othersRead -> {
            Value value = new Value(7);
            ScopedValue.where(CONTEXT, value).call(() -> {
                check(CONTEXT.get() == value && !isPublic(value), "a scoped value is private");
                othersRead.run();
                check(CONTEXT.get() == value && isPublic(value) && isPublic(value.text), "it is public when another thread has read it");
                Value late = new Value(8);
                ScopedValue.where(USER, late).run(() -> check(USER.get() == late && isPublic(late), "and values are public from there on"));
                return null;
            });
        }, thread -> {
            Object snapshot = bindingsOf(thread, how);
            Field bindings = snapshot.getClass().getDeclaredField("bindings");
            bindings.setAccessible(true);
            ScopedValue.Carrier carrier = (ScopedValue.Carrier) bindings.get(snapshot);
            Value value = carrier.get(CONTEXT);
            check(value.number == 7 && value.isWhole() && isPublic(value), "the value in the other thread's bindings");
        });
    }

    public static void main(String[] args) throws Throwable {
        for (int i = 0; i < KEYS; i++) {
            keys.add(ScopedValue.newInstance());
        }
        for (String what : args) {
            System.out.println(what);
            switch (what) {
                case "stay" -> OwnThread.run(TestScopedValues::stay);
                case "errors" -> errors();
                case "end" -> end();
                case "nest" -> nest(Thread.ofPlatform());
                case "carriers" -> nest(Thread.ofVirtual());
                case "off" -> OwnThread.run(TestScopedValues::off);
                default -> foreign(what);
            }
        }
    }
}
