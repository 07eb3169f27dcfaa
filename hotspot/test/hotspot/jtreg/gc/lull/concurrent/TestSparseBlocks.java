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

package gc.lull.concurrent;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import jdk.test.lib.Utils;
import jdk.test.whitebox.WhiteBox;

/*
 * @test id=default
 * @requires vm.gc.Lull & vm.debug
 * @summary Where little lives in old blocks, cycles of concurrent marking empty them. All that refers to what has moved finds it.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms48m -Xmx48m -XX:+UseLullGC
 *                   -XX:+UnlockExperimentalVMOptions -XX:+ExplicitGCInvokesConcurrent -XX:LullReferencePausePercent=0
 *                   -Xlog:gc,gc+marking=debug:file=sparse.log -XX:LullEvacuateALot=1
 *                   gc.lull.concurrent.TestSparseBlocks 2 5
 */

/*
 * @test id=wide
 * @requires vm.gc.Lull & vm.debug & vm.bits == 64
 * @summary The same without compressed references, in the interpreter.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms48m -Xmx48m -XX:+UseLullGC
 *                   -XX:+UnlockExperimentalVMOptions -XX:+ExplicitGCInvokesConcurrent -XX:LullReferencePausePercent=0
 *                   -Xlog:gc,gc+marking=debug:file=sparse.log -XX:-UseCompressedOops -Xint
 *                   -XX:LullEvacuateALot=1
 *                   gc.lull.concurrent.TestSparseBlocks 1 4
 */

/*
 * @test id=headers
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with compact headers, with C1, where nothing is private.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms48m -Xmx48m -XX:+UseLullGC
 *                   -XX:+UnlockExperimentalVMOptions -XX:+ExplicitGCInvokesConcurrent -XX:LullReferencePausePercent=0
 *                   -Xlog:gc,gc+marking=debug:file=sparse.log -XX:+UseCompactObjectHeaders -XX:TieredStopAtLevel=1
 *                   -XX:+LullAlwaysPublic -XX:LullEvacuateALot=1
 *                   gc.lull.concurrent.TestSparseBlocks 1 4
 */

/*
 * @test id=any
 * @requires vm.gc.Lull & vm.debug
 * @summary The same where each cycle empties half of all old blocks, whatever lives there, with several workers, and
 *          copies that fail.
 * @library / /test/lib
 * @build jdk.test.whitebox.WhiteBox
 * @run driver jdk.test.lib.helpers.ClassFileInstaller jdk.test.whitebox.WhiteBox
 * @run main/othervm -Xbootclasspath/a:. -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI -Xms48m -Xmx48m -XX:+UseLullGC
 *                   -XX:+UnlockExperimentalVMOptions -XX:+ExplicitGCInvokesConcurrent -XX:LullReferencePausePercent=0
 *                   -Xlog:gc,gc+marking=debug:file=sparse.log -XX:LullEvacuateALot=1 -XX:LullEvacuationFailureALot=5000
 *                   -XX:ParallelGCThreads=3 -XX:ConcGCThreads=2 -XX:-UseDynamicNumberOfGCThreads
 *                   gc.lull.concurrent.TestSparseBlocks 2 4
 */

/*
 * Tables of small entries, of which seven of eight are dropped at random, so that little lives in many old blocks, and no
 * block is empty. What is left hangs on tables, short and long, on other entries, on weak and soft references, on a
 * thread-local value, on the frames of threads, one of them a virtual thread that waits. Cycles follow. Prints the seed.
 */
public class TestSparseBlocks {
    private static final WhiteBox WB = WhiteBox.getWhiteBox();

    private static final int ENTRIES = 160_000;
    private static final int SHORT = 512;
    private static final int KEPT_OF = 8;

    private static final class Entry {
        final int number;
        final int check;
        Entry peer;
        String name;

        Entry(int number) {
            this.number = number;
            this.check = ~number;
        }

        boolean is(int expected) {
            return number == expected && check == ~expected && (peer == null || peer.check == ~peer.number) &&
                   (name == null || name.equals(nameOf(number)));
        }
    }

    /** Made anew before each cycle: an object that gets old while the cycle marks. */
    private static final class Holder {
        final Entry entry;

        Holder(Entry entry) {
            this.entry = entry;
        }
    }

    private static Entry[] largeTable = new Entry[ENTRIES / 2];
    private static Entry[][] smallTables = new Entry[ENTRIES / 2 / SHORT][SHORT];
    private static final WeakReference<?>[] WEAK = new WeakReference<?>[ENTRIES / 16];

    /** Its end has entries to which a marker comes late: after weak references to them. */
    private static final class Link {
        final Object next;

        Link(Object next) {
            this.next = next;
        }
    }

    private static final Link CHAIN = chain(20_000, new Entry[ENTRIES / 64]);
    private static SoftReference<?>[] soft = new SoftReference<?>[ENTRIES / 64];
    private static final List<Holder> HOLDERS = new ArrayList<>();
    private static final ThreadLocal<Entry[]> LOCAL = new ThreadLocal<>();

    private static String nameOf(int number) {
        return "entry " + number;
    }

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    private static Link chain(int length, Object end) {
        Link link = new Link(end);
        for (int i = 1; i < length; i++) {
            link = new Link(link);
        }
        return link;
    }

    private static Entry[] late() {
        Object end = CHAIN;
        while (end instanceof Link link) {
            end = link.next;
        }
        return (Entry[]) end;
    }

    private static Entry get(int i) {
        return i < ENTRIES / 2 ? largeTable[i] : smallTables[(i - ENTRIES / 2) / SHORT][(i - ENTRIES / 2) % SHORT];
    }

    private static void set(int i, Entry entry) {
        if (i < ENTRIES / 2) {
            largeTable[i] = entry;
        } else {
            smallTables[(i - ENTRIES / 2) / SHORT][(i - ENTRIES / 2) % SHORT] = entry;
        }
    }

    private static void fill(Random random) {
        for (int i = 0; i < ENTRIES / 2 / SHORT * SHORT + ENTRIES / 2; i++) {
            if (get(i) == null) {
                Entry entry = new Entry(i);
                entry.peer = i % 64 == 0 && i > 0 ? get(random.nextInt(i)) : null;
                entry.name = i % 100 == 0 ? nameOf(i).intern() : null;
                set(i, entry);
            }
            if (i % 16 == 0) {
                WEAK[i / 16] = new WeakReference<>(get(i));
            }
            if (i % 64 == 0) {
                soft[i / 64] = new SoftReference<>(get(i));
            }
        }
    }

    private static void drop(Random random) {
        Entry[] late = late();
        for (int i = 0; i < ENTRIES / 2 / SHORT * SHORT + ENTRIES / 2; i++) {
            if (random.nextInt(KEPT_OF) != 0) {
                if (i % 64 == 32) {
                    late[i / 64] = get(i);
                }
                set(i, null);
            }
        }
    }

    private static void verify() {
        int found = 0;
        for (int i = 0; i < ENTRIES / 2 / SHORT * SHORT + ENTRIES / 2; i++) {
            Entry entry = get(i);
            found += entry == null ? 0 : 1;
            check(entry == null || entry.is(i), "entry " + i);
            check(i % 16 != 0 || entry == null || WEAK[i / 16].get() == entry, "weak reference to entry " + i);
            check(i % 64 != 0 || entry == null || soft[i / 64].get() == entry, "soft reference to entry " + i);
            check(i % 100 != 0 || entry == null || entry.name == nameOf(i).intern(), "name of entry " + i);
        }
        Entry[] late = late();
        for (int i = 0; i < late.length; i++) {
            check(late[i] == null || late[i].is(i * 64 + 32), "late entry " + i);
        }
        check(found > ENTRIES / KEPT_OF / 2, "only " + found + " entries are there");
        for (Holder holder : HOLDERS) {
            check(holder.entry.is(holder.entry.number), "entry of a holder");
        }
    }

    private static Entry[] some(Random random) {
        Entry[] entries = new Entry[200];
        for (int i = 0; i < entries.length; i++) {
            for (int n = random.nextInt(ENTRIES / 2); entries[i] == null; n = (n + 1) % (ENTRIES / 2)) {
                entries[i] = get(n);
            }
        }
        return entries;
    }

    private static void verify(Entry[] entries) {
        for (Entry entry : entries) {
            check(entry.is(entry.number), "entry " + entry.number + " of a frame");
        }
    }

    /** They lie on its frames alone, and in its chunk while it waits. */
    private static Thread startVirtual(Random random, Throwable[] failure) {
        Entry[] entries = some(random);
        return Thread.startVirtualThread(() -> {
            try {
                Entry first = entries[0];
                int[] hashes = new int[entries.length];
                for (int i = 0; i < entries.length; i++) {
                    hashes[i] = System.identityHashCode(entries[i]);
                }
                LockSupport.park();
                verify(entries);
                check(first == entries[0], "the first entry is another one");
                for (int i = 0; i < entries.length; i++) {
                    check(hashes[i] == System.identityHashCode(entries[i]), "the hash of an entry has changed");
                }
            } catch (Throwable t) {
                failure[0] = t;
            }
        });
    }

    private static long globalCollections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
            .filter(bean -> bean.getName().equals("Lull Global")).mapToLong(bean -> bean.getCollectionCount()).sum();
    }

    private static long emptied() throws IOException {
        Pattern pattern = Pattern.compile("Sparse: \\d+ blocks were chosen, (\\d+) of them are empty");
        try (Stream<String> lines = Files.lines(Path.of("sparse.log"))) {
            return lines.map(pattern::matcher).filter(Matcher::find).mapToLong(m -> Long.parseLong(m.group(1))).sum();
        }
    }

    private static void round(Random random, int cycles) throws Exception {
        fill(random);
        WB.youngGC();
        WB.youngGC();    // now it is old
        drop(random);
        Throwable[] failure = new Throwable[1];
        Thread virtual = startVirtual(random, failure);
        Entry[] own = some(random);
        LOCAL.set(some(random));
        for (int i = 0; i < cycles; i++) {
            HOLDERS.clear();
            for (Entry entry : some(random)) {
                HOLDERS.add(new Holder(entry));
            }
            System.gc();
            verify();
            WB.youngGC();
            verify();
            verify(own);
            verify(LOCAL.get());
        }
        LockSupport.unpark(virtual);
        virtual.join();
        if (failure[0] != null) {
            throw new AssertionError("in the virtual thread", failure[0]);
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        int cycles = Integer.parseInt(args[1]);
        Random random = Utils.getRandomInstance();
        long globalBefore = globalCollections();
        for (int round = 0; round < rounds; round++) {
            round(random, cycles);
        }
        long emptied = emptied();
        System.out.println("Emptied: " + emptied + " blocks");
        check(emptied >= 20L * rounds * (cycles - 2), "only " + emptied + " blocks were emptied");
        check(globalCollections() == globalBefore, (globalCollections() - globalBefore) + " global collections");
    }
}
