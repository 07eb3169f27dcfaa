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
import java.lang.invoke.MethodType;
import java.lang.ref.WeakReference;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import gc.lull.GCBean;
import gc.lull.local.OwnThread.Value;

import static gc.lull.local.Checks.check;
import static gc.lull.local.Checks.isPublic;
import static gc.lull.local.OwnThread.endRequest;

/*
 * @test id=default
 * @requires vm.gc.Lull
 * @summary Thread-local values stay private to their thread, become so again after System.gc(), are forgotten with their
 *          variables, and die with their thread.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals stay forget end
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
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals stay forget end
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull & vm.debug & vm.compiler1.enabled
 * @summary The same in C1's code.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   -XX:TieredStopAtLevel=1 -XX:+LullLoadCheck
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals stay forget end
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull & vm.debug & vm.compiler2.enabled
 * @summary The same in C2's code, with collections at every third slow allocation.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   -XX:-TieredCompilation -XX:CompileThreshold=100 -XX:LullLocalCollectALot=3
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals stay forget end
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
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+UseCompactObjectHeaders -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals stay forget end
 */

/*
 * @test id=field
 * @requires vm.gc.Lull
 * @summary Whoever reads the map of another thread finds all of it public: by reflection on the field, ...
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.ref=ALL-UNNAMED
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals field
 */

/*
 * @test id=accessor
 * @requires vm.gc.Lull
 * @summary ... on its accessor, ...
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.ref=ALL-UNNAMED
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals accessor
 */

/*
 * @test id=getter
 * @requires vm.gc.Lull
 * @summary ... on the method of ThreadLocal that gets a map, ...
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.ref=ALL-UNNAMED
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals getter
 */

/*
 * @test id=handle
 * @requires vm.gc.Lull
 * @summary ... by a method handle, ...
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.ref=ALL-UNNAMED
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals handle
 */

/*
 * @test id=getterHandle
 * @requires vm.gc.Lull
 * @summary ... by a method handle of that, ...
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.ref=ALL-UNNAMED
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals getterHandle
 */

/*
 * @test id=jni
 * @requires vm.gc.Lull
 * @summary ... by JNI, ...
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm/native --enable-native-access=ALL-UNNAMED -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.ref=ALL-UNNAMED
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals jni
 */

/*
 * @test id=jniMethod
 * @requires vm.gc.Lull
 * @summary ... by JNI on the accessor, ...
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm/native --enable-native-access=ALL-UNNAMED -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.ref=ALL-UNNAMED
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals jniMethod
 */

/*
 * @test id=jvmtiFields
 * @requires vm.gc.Lull
 * @summary ... by the list of fields that JVMTI gives, ...
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm/native --enable-native-access=ALL-UNNAMED -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.ref=ALL-UNNAMED
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals jvmtiFields
 */

/*
 * @test id=jvmtiMethods
 * @requires vm.gc.Lull
 * @summary ... or by that of the methods, ...
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm/native --enable-native-access=ALL-UNNAMED -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.ref=ALL-UNNAMED
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals jvmtiMethods
 */

/*
 * @test id=poolField
 * @requires vm.gc.Lull
 * @summary ... or from the constant pool of a class that refers to the field, ...
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.ref=ALL-UNNAMED
 *                   --add-opens=java.base/jdk.internal.reflect=ALL-UNNAMED
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals poolField
 */

/*
 * @test id=poolMethod
 * @requires vm.gc.Lull
 * @summary ... or to the method of ThreadLocal, which the VM calls itself.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.ref=ALL-UNNAMED
 *                   --add-opens=java.base/jdk.internal.reflect=ALL-UNNAMED -Djdk.reflect.useNativeAccessorOnly=true
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate
 *                   gc.lull.local.TestThreadLocals poolMethod
 */

/*
 * @test id=off
 * @requires vm.gc.Lull & vm.debug
 * @summary With -XX:-LullPrivateThreadLocals they are public from the beginning.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xmx32m
 *                   -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking -XX:+LullAlwaysPrivate -XX:-LullPrivateThreadLocals
 *                   gc.lull.local.TestThreadLocals off end
 */
public class TestThreadLocals {
    static final int VARIABLES = 50;
    static final int REQUESTS = 20;
    static final String END = "the end of a thread";

    @SuppressWarnings("unchecked")
    static final ThreadLocal<Value>[] variables = new ThreadLocal[VARIABLES];

    static volatile Object sink;

    static void verify(Value[] values) {
        for (int i = 0; i < VARIABLES; i++) {
            Value value = variables[i].get();
            check(value.number == i && value.text.equals("value " + i), "a value");
            check(value == values[i], "a value is the one that was set");
        }
    }

    static void stay() throws Exception {
        Value[] values = new Value[VARIABLES];
        for (int i = 0; i < VARIABLES; i++) {
            values[i] = new Value(i);
            variables[i].set(values[i]);
        }
        for (int i = 0; i < REQUESTS; i++) {
            verify(values);
            for (Value value : values) {
                check(!isPublic(value) && !isPublic(value.text), "a thread-local value is private");
            }
            endRequest();
        }

        System.gc();
        verify(values);
        check(isPublic(values[0]) && isPublic(values[0].text), "what survives System.gc() is public");
        Value late = new Value(-1);
        ThreadLocal<Value> other = new ThreadLocal<>();
        other.set(late);        // into a public map, as a rule
        values = values.clone();
        endRequest();
        verify(values);
        check(other.get() == late, "a value that was set before the map was private again");
        for (int i = 0; i < REQUESTS; i++) {
            for (int k = 0; k < VARIABLES; k += 3) {
                values[k] = new Value(k);
                variables[k].set(values[k]);
                check(!isPublic(values[k]), "the map is private again, and so are new values");
            }
            verify(values);
            endRequest();
            variables[i].remove();
            values[i] = new Value(i);
            variables[i].set(values[i]);
            check(!isPublic(values[i]), "a new entry is private, too");
        }
    }

    // 100 MB of values of variables that nobody knows any more, and then one that a global collection has to find.
    static void forget() throws Exception {
        long global = GCBean.globalCollections();
        for (int i = 0; i < 1000; i++) {
            new ThreadLocal<byte[]>().set(new byte[100_000]);
            if (i % 20 == 19) {
                endRequest();
            }
        }
        long later = GCBean.globalCollections();
        System.out.println((later - global) + " global collections");
        check(later - global <= 5, (later - global) + " global collections: forgotten values have been kept");

        ThreadLocal<Value> forgotten = new ThreadLocal<>();
        Value value = new Value(1);
        forgotten.set(value);
        check(!isPublic(value), "the entry is private");
        WeakReference<Object> weak = new WeakReference<>(forgotten);
        sink = weak;
        check(isPublic(forgotten) && !isPublic(value), "the variable alone is public");
        forgotten = null;
        long enough = GCBean.globalCollections() + 3;
        while (GCBean.globalCollections() < enough) {
            for (int i = 0; i < 1000; i++) {
                byte[] privateGarbage = new byte[3000];
                privateGarbage[0] = 1;
                Object[] publicGarbage = {weak, new byte[1000]};
                sink = publicGarbage;
            }
        }
        check(!isPublic(value), "no global collection was one that publishes all");
        check(weak.get() == null, "a private entry does not keep its variable");
    }

    // With values that nobody has removed: one that is public, as a weak reference to it is, and one that is not.
    static void end() throws Exception {
        List<Thread> threads = new ArrayList<>();
        List<WeakReference<Value>> values = Collections.synchronizedList(new ArrayList<>());
        Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < 100; i++) {
            int number = i;
            Thread thread = new Thread(() -> {
                Value value = new Value(number);
                variables[0].set(value);
                values.add(new WeakReference<>(value));
                variables[1].set(new Value(-number));
                if (number % 3 == 0) {
                    System.gc();
                }
                check(variables[0].get() == value && variables[1].get().number == -number, "the values of a thread that is to end");
                if (number % 5 == 0) {
                    throw new IllegalStateException(END);
                }
            });
            thread.setUncaughtExceptionHandler((t, e) -> thrown.add(e));
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (Throwable t : thrown) {
            if (!(t instanceof IllegalStateException && END.equals(t.getMessage()))) {
                throw new AssertionError("in a thread", t);
            }
        }
        check(thrown.size() == 20, "each fifth thread has ended with an exception, " + thrown.size() + " have");
        System.gc();
        check(values.size() == 100 && values.stream().allMatch(value -> value.get() == null), "the values have died with their threads");
        check(threads.stream().noneMatch(Thread::isAlive), "the threads have ended, and are there as objects");
    }

    static void off() {
        Value value = new Value(1);
        check(!isPublic(value), "a new object is private");
        variables[0].set(value);
        check(isPublic(value), "a thread-local value is public");
        endRequest();
        Value late = new Value(2);
        variables[0].set(late);
        check(isPublic(late), "and the map does not become private");
    }

    static native Object mapByJni(Thread thread);

    static native Object mapByJniMethod(Thread thread);

    static native Object mapByJvmtiFields(Thread thread);

    static native Object mapByJvmtiMethods(Thread thread);

    /** What the constant pool of a class says of a field or method of this name, to which its code refers. */
    static AccessibleObject fromPool(Class<?> referrer, String tag, String name) throws Exception {
        Method getPool = Class.class.getDeclaredMethod("getConstantPool");
        getPool.setAccessible(true);
        Object pool = getPool.invoke(referrer);
        Class<?> poolClass = pool.getClass();
        int size = (int) poolClass.getMethod("getSize").invoke(pool);
        for (int i = 1; i < size; i++) {
            if (poolClass.getMethod("getTagAt", int.class).invoke(pool, i).toString().equals(tag) &&
                ((String[]) poolClass.getMethod("getMemberRefInfoAt", int.class).invoke(pool, i))[1].equals(name)) {
                Method getter = poolClass.getMethod(tag.equals("FIELDREF") ? "getFieldAt" : "getMethodAt", int.class);
                AccessibleObject member = (AccessibleObject) getter.invoke(pool, i);
                member.setAccessible(true);
                return member;
            }
        }
        throw new AssertionError("no " + name + " in the constant pool of " + referrer);
    }

    static Object mapOf(Thread thread, String how) throws Throwable {
        Class<?> mapClass = Class.forName("java.lang.ThreadLocal$ThreadLocalMap");
        switch (how) {
            case "field":
                Field field = Thread.class.getDeclaredField("threadLocals");
                field.setAccessible(true);
                return field.get(thread);
            case "accessor":
                Method method = Thread.class.getDeclaredMethod("threadLocals");
                method.setAccessible(true);
                return method.invoke(thread);
            case "getter":
                Method getter = ThreadLocal.class.getDeclaredMethod("getMap", Thread.class);
                getter.setAccessible(true);
                return getter.invoke(variables[0], thread);
            case "getterHandle":
                return MethodHandles.privateLookupIn(ThreadLocal.class, MethodHandles.lookup())
                        .findVirtual(ThreadLocal.class, "getMap", MethodType.methodType(mapClass, Thread.class)).invoke(variables[0], thread);
            case "handle":
                return MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup())
                        .findGetter(Thread.class, "threadLocals", mapClass).invoke(thread);
            case "poolField":
                return ((Field) fromPool(Thread.class, "FIELDREF", "threadLocals")).get(thread);
            case "poolMethod":
                return ((Method) fromPool(ThreadLocal.class, "METHODREF", "getMap")).invoke(variables[0], thread);
            case "jni", "jniMethod", "jvmtiFields", "jvmtiMethods":
                System.loadLibrary("LullThreadLocals");
                return switch (how) {
                    case "jni" -> mapByJni(thread);
                    case "jniMethod" -> mapByJniMethod(thread);
                    case "jvmtiFields" -> mapByJvmtiFields(thread);
                    default -> mapByJvmtiMethods(thread);
                };
            default:
                throw new AssertionError(how);
        }
    }

    static Object valueIn(Object map, ThreadLocal<?> variable) throws Exception {
        Field tableField = map.getClass().getDeclaredField("table");
        tableField.setAccessible(true);
        Object table = tableField.get(map);
        for (int i = 0; i < Array.getLength(table); i++) {
            Object entry = Array.get(table, i);
            if (entry != null && ((WeakReference<?>) entry).get() == variable) {
                Field valueField = entry.getClass().getDeclaredField("value");
                valueField.setAccessible(true);
                return valueField.get(entry);
            }
        }
        throw new AssertionError("no value of this variable in the map");
    }

    /** Of value 7, in another thread. */
    static void readSeven(Thread thread, String how, ThreadLocal<Value> variable) throws Throwable {
        Value value = (Value) valueIn(mapOf(thread, how), variable);
        check(value.number == 7 && value.isWhole() && isPublic(value), "the value in the other thread's map");
    }

    static void foreign(String how) throws Throwable {
        OwnThread.runWithReader(othersRead -> {
            Value value = new Value(7);
            variables[7].set(value);
            check(!isPublic(value) && !isPublic(value.text), "a thread-local value is private");
            othersRead.run();
            check(isPublic(value) && isPublic(value.text), "it is public when another thread has read it");
            endRequest();
            Value late = new Value(8);
            variables[8].set(late);
            check(isPublic(late), "and values are public from there on");
        }, thread -> readSeven(thread, how, variables[7]));
    }

    public static void main(String[] args) throws Throwable {
        for (int i = 0; i < VARIABLES; i++) {
            variables[i] = new ThreadLocal<>();
        }
        for (String what : args) {
            System.out.println(what);
            switch (what) {
                case "stay" -> OwnThread.run(TestThreadLocals::stay);
                case "forget" -> OwnThread.run(TestThreadLocals::forget);
                case "end" -> end();
                case "off" -> OwnThread.run(TestThreadLocals::off);
                default -> foreign(what);
            }
        }
    }
}
