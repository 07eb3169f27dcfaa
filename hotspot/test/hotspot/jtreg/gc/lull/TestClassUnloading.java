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

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.opt.final.ClassUnloading
 * @summary Classes are unloaded with their loader, when it is dropped and not before.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC gc.lull.TestClassUnloading loaders
 */

/*
 * @test id=metaspace
 * @requires vm.gc.Lull & vm.opt.final.ClassUnloading
 * @summary Metaspace that gets full starts collections, and they empty it.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:MetaspaceSize=8m -XX:MaxMetaspaceSize=14m gc.lull.TestClassUnloading metaspace
 */

/*
 * @test id=evacuateALot
 * @requires vm.gc.Lull & vm.debug & vm.opt.final.ClassUnloading
 * @summary Classes are unloaded, and those that stay are moved.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:LullEvacuateALot=1 -XX:LullEvacuationFailureALot=5 gc.lull.TestClassUnloading loaders
 */

public class TestClassUnloading {
    private static final int LOADERS = 300;
    private static final int LOADERS_FOR_METASPACE = 2500;

    /** Loaded again and again. */
    public static class Tenant implements IntSupplier {
        private static final int[] state = new int[10];

        @Override
        public int getAsInt() {
            return ++state[3];
        }
    }

    static final class Loader extends ClassLoader {
        private static final byte[] TENANT = bytesOf(Tenant.class);

        Loader() {
            super(TestClassUnloading.class.getClassLoader());
        }

        private static byte[] bytesOf(Class<?> c) {
            try (InputStream in = c.getResourceAsStream(c.getName().substring(c.getPackageName().length() + 1) + ".class")) {
                return in.readAllBytes();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        IntSupplier newTenant() {
            try {
                Class<?> c = defineClass(Tenant.class.getName(), TENANT, 0, TENANT.length);
                return (IntSupplier) c.getConstructor().newInstance();
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }

    private static void load(List<WeakReference<ClassLoader>> loaders, List<IntSupplier> kept, int keepOneOf) {
        for (int i = 0; i < LOADERS; i++) {
            Loader loader = new Loader();
            IntSupplier tenant = loader.newTenant();
            check(tenant.getClass().getClassLoader() == loader, "the class was loaded by another loader");
            check(tenant.getAsInt() == 1, "the class is not new");
            loaders.add(new WeakReference<>(loader));
            if (i % keepOneOf == 0) {
                kept.add(tenant);
            }
        }
    }

    private static void loaders() {
        ClassLoadingMXBean bean = ManagementFactory.getClassLoadingMXBean();
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        List<IntSupplier> kept = new ArrayList<>();
        long before = bean.getUnloadedClassCount();
        load(loaders, kept, 10);
        System.gc();
        long cleared = loaders.stream().filter(w -> w.refersTo(null)).count();
        check(cleared == LOADERS - kept.size(), cleared + " loaders are gone, of " + LOADERS + " of which " + kept.size() + " are in use");
        long unloaded = bean.getUnloadedClassCount() - before;
        check(unloaded >= cleared, unloaded + " classes were unloaded, of " + cleared + " loaders");

        // An object keeps its class, and that its statics and its loader.
        for (int i = 0; i < kept.size(); i++) {
            check(kept.get(i).getAsInt() == 2, "a static field has changed");
            check(loaders.get(i * 10).refersTo(kept.get(i).getClass().getClassLoader()), "the loader of a class in use is gone");
        }
        kept.clear();
        System.gc();
        check(loaders.stream().allMatch(w -> w.refersTo(null)), "loaders that are not in use are still there");
    }

    private static void metaspace() {
        ClassLoadingMXBean bean = ManagementFactory.getClassLoadingMXBean();
        List<IntSupplier> recent = new ArrayList<>();
        for (int i = 0; i < LOADERS_FOR_METASPACE; i++) {
            if (recent.size() == 50) {
                recent.clear();
            }
            recent.add(new Loader().newTenant());
        }
        System.out.println(bean.getUnloadedClassCount() + " classes were unloaded");
        check(bean.getUnloadedClassCount() > 0, "no class was unloaded: Metaspace was not filled");
    }

    public static void main(String[] args) {
        switch (args[0]) {
            case "loaders"   -> loaders();
            case "metaspace" -> metaspace();
            default          -> throw new IllegalArgumentException(args[0]);
        }
    }
}
