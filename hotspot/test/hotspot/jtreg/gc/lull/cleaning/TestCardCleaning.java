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

package gc.lull.cleaning;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.lang.reflect.Array;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.test.lib.Utils;

/*
 * @test id=interpreter
 * @requires vm.gc.Lull & vm.debug
 * @summary What is stored to old objects is alive, and the next pause finds it, while dirty cards are cleaned all the time: in the interpreter.
 * @library / /test/lib
 * @run main/othervm -Xms96m -Xmx96m -XX:+UseLullGC -XX:+LullCleanALot -Xlog:gc,gc+marking=debug:file=cards.log
 *                   -Xint
 *                   gc.lull.cleaning.TestCardCleaning 4
 */

/*
 * @test id=c1
 * @requires vm.gc.Lull & vm.debug & vm.compiler1.enabled
 * @summary The same in code of C1.
 * @library / /test/lib
 * @run main/othervm -Xms96m -Xmx96m -XX:+UseLullGC -XX:+LullCleanALot -Xlog:gc,gc+marking=debug:file=cards.log
 *                   -XX:TieredStopAtLevel=1
 *                   gc.lull.cleaning.TestCardCleaning 8
 */

/*
 * @test id=c2
 * @requires vm.gc.Lull & vm.debug & vm.compiler2.enabled
 * @summary The same in code of C2.
 * @library / /test/lib
 * @run main/othervm -Xms96m -Xmx96m -XX:+UseLullGC -XX:+LullCleanALot -Xlog:gc,gc+marking=debug:file=cards.log
 *                   -XX:-TieredCompilation
 *                   gc.lull.cleaning.TestCardCleaning 8
 */

/*
 * @test id=cycles
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with cycles without a break, local collections, and threads that change their mode.
 * @library / /test/lib
 * @run main/othervm -Xms96m -Xmx96m -XX:+UseLullGC -XX:+LullCleanALot -Xlog:gc,gc+marking=debug:file=cards.log
 *                   -XX:+LullCycleALot -XX:LullFlipModeALot=50 -XX:LullLocalCollectALot=20
 *                   gc.lull.cleaning.TestCardCleaning 6
 */

/*
 * @test id=sparse
 * @requires vm.gc.Lull & vm.debug
 * @summary The same where each cycle empties half of all old blocks; with room, so that cycles end well.
 * @library / /test/lib
 * @run main/othervm -Xms400m -Xmx400m -XX:+UseLullGC -XX:+LullCleanALot -Xlog:gc,gc+marking=debug:file=cards.log
 *                   -XX:+LullCycleALot -XX:LullEvacuateALot=1 -XX:ParallelGCThreads=3 -XX:ConcGCThreads=2
 *                   -XX:+ExplicitGCInvokesConcurrent -XX:MaxGCPauseMillis=100000
 *                   gc.lull.cleaning.TestCardCleaning 6
 */

/*
 * @test id=moved
 * @requires vm.gc.Lull & vm.debug
 * @summary The same where global collections move all that they may, and slide it.
 * @library / /test/lib
 * @run main/othervm -Xms96m -Xmx96m -XX:+UseLullGC -XX:+LullCleanALot -Xlog:gc,gc+marking=debug:file=cards.log
 *                   -XX:LullEvacuateALot=3 -XX:LullSlideALot=7
 *                   gc.lull.cleaning.TestCardCleaning 6
 */

/*
 * @test id=wide
 * @requires vm.gc.Lull & vm.debug
 * @summary The same without compressed references, and where what survives is old at once.
 * @library / /test/lib
 * @run main/othervm -Xms96m -Xmx96m -XX:+UseLullGC -XX:+LullCleanALot -Xlog:gc,gc+marking=debug:file=cards.log
 *                   -XX:-UseCompressedOops -XX:-LullAgeSurvivors
 *                   gc.lull.cleaning.TestCardCleaning 6
 */

/*
 * @test id=headers
 * @requires vm.gc.Lull & vm.debug
 * @summary The same with compact headers, and threads that have nothing private.
 * @library / /test/lib
 * @run main/othervm -Xms96m -Xmx96m -XX:+UseLullGC -XX:+LullCleanALot -Xlog:gc,gc+marking=debug:file=cards.log
 *                   -XX:+UseCompactObjectHeaders -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPublic
 *                   gc.lull.cleaning.TestCardCleaning 6
 */

/*
 * @test id=policy
 * @requires vm.gc.Lull & vm.debug
 * @summary Where all old objects are written to at once, cards are cleaned before the next pause, which finds few.
 * @library / /test/lib
 * @run main/othervm -Xms192m -Xmx192m -XX:MaxGCPauseMillis=100000 -XX:+UseLullGC -XX:+LullCleanCards
 *                   -Xlog:gc,gc+marking=debug,gc+heap=debug:file=cards.log
 *                   gc.lull.cleaning.TestCardCleaning policy
 */

/*
 * @test id=references
 * @requires vm.gc.Lull & vm.debug
 * @summary The same before a pause for references, though nearly nothing is allocated until it comes.
 * @library / /test/lib
 * @run main/othervm -Xms192m -Xmx192m -XX:MaxGCPauseMillis=100000 -XX:LullReferencePausePercent=50 -XX:+UseLullGC
 *                   -XX:+LullCleanCards -Xlog:gc,gc+marking=debug,gc+heap=debug:file=cards.log
 *                   gc.lull.cleaning.TestCardCleaning references
 */

/*
 * Threads write to old objects of all kinds: values that are new, values that have become old meanwhile, and null, into
 * fields, elements of short and of long arrays, by plain stores, by CAS, by reflection, copies and clones. Pauses come
 * for garbage. Each value is known by a number that is not an object. It goes on until the log tells of so many pauses
 * and passes, and of cards of both kinds. Prints the seed.
 */
public class TestCardCleaning {
    static final int THREADS = 3;
    static final int SLOTS = 30_000;
    static final int WIDTH = 12;

    static final class Value {
        final long number;
        final byte[] padding;

        Value(long number, int padding) {
            this.number = number;
            this.padding = new byte[padding];
        }
    }

    static final class Node implements Cloneable {
        Value value;
        Value other;
        Object[] array;         // of one line or two
        Node next;

        @Override
        public Node clone() {
            try {
                return (Node) super.clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    // Its field is one of any object, but the object is of a kind that keeps its card dirty.
    static final class Reference extends WeakReference<Object> {
        Value value;

        Reference(Object referent) {
            super(referent);
        }
    }

    static final VarHandle VALUE;
    static final VarHandle ELEMENTS = MethodHandles.arrayElementVarHandle(Value[].class);

    static {
        try {
            VALUE = MethodHandles.lookup().findVarHandle(Node.class, "value", Value.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static final Node[] NODES = new Node[SLOTS];
    static final Value[] LONG_ARRAY = new Value[SLOTS];             // a large object
    static final Reference[] REFERENCES = new Reference[10_000];
    static final long[] FIELD = new long[SLOTS];                    // what Node.value has to be; 0: null
    static final long[] OTHER = new long[SLOTS];
    static final long[] ELEMENT = new long[SLOTS];                  // what array[number % WIDTH] has to be
    static final long[] IN_LONG_ARRAY = new long[SLOTS];
    static final Object[] LOCKS = new Object[1 << 10];
    static final AtomicReference<Throwable> FAILURE = new AtomicReference<>();
    static volatile Value last;                                     // of the mirror, which keeps its card dirty
    static volatile boolean stop;

    static Object lock(int slot) { return LOCKS[slot % LOCKS.length]; }

    static Value newValue(Random random) { return new Value(random.nextLong(1, Long.MAX_VALUE), random.nextInt(200)); }

    static long number(Value value) { return value == null ? 0 : value.number; }

    static void storeField(Random random, int slot) {
        Node node = NODES[slot];
        switch (random.nextInt(6)) {
            case 0 -> node.value = newValue(random);
            case 1 -> node.value = null;
            case 2 -> node.value = node.other;
            case 3 -> VALUE.compareAndSet(node, node.value, newValue(random));
            case 4 -> VALUE.getAndSet(node, newValue(random));
            default -> {
                Node copy = node.clone();       // young, what it refers to is old or not
                copy.other = newValue(random);
                OTHER[slot] = number(copy.other);
                NODES[slot] = copy;
            }
        }
        FIELD[slot] = number(NODES[slot].value);
        if (random.nextInt(4) == 0) {
            NODES[slot].other = NODES[slot].value;
            OTHER[slot] = number(NODES[slot].other);
        }
    }

    static void storeElement(Random random, int slot) {
        Object[] array = NODES[slot].array;
        Value value = newValue(random);
        int index = (int) (value.number % WIDTH);
        switch (random.nextInt(3)) {
            case 0 -> array[index] = value;
            case 1 -> Array.set(array, index, value);
            default -> System.arraycopy(new Object[] {value}, 0, array, index, 1);
        }
        ELEMENT[slot] = value.number;
    }

    static void storeInLongArray(Random random, int slot) {
        switch (random.nextInt(5)) {
            case 0 -> LONG_ARRAY[slot] = newValue(random);
            case 1 -> Array.set(LONG_ARRAY, slot, newValue(random));
            case 2 -> ELEMENTS.setVolatile(LONG_ARRAY, slot, newValue(random));
            case 3 -> LONG_ARRAY[slot] = NODES[slot].value;
            default -> LONG_ARRAY[slot] = null;
        }
        IN_LONG_ARRAY[slot] = number(LONG_ARRAY[slot]);
    }

    static void mutate(long seed) {
        Random random = new Random(seed);
        Object[] garbage = new Object[16];
        try {
            while (!stop) {
                int slot = random.nextInt(SLOTS);
                synchronized (lock(slot)) {
                    switch (random.nextInt(4)) {
                        case 0 -> storeField(random, slot);
                        case 1 -> storeElement(random, slot);
                        case 2 -> storeInLongArray(random, slot);
                        default -> NODES[slot].next = NODES[random.nextInt(SLOTS)];    // old to old
                    }
                }
                if (random.nextInt(32) == 0) {
                    last = newValue(random);
                    REFERENCES[random.nextInt(REFERENCES.length)].value = newValue(random);
                    REFERENCES[random.nextInt(REFERENCES.length)] = new Reference(NODES[slot].value);
                }
                garbage[random.nextInt(garbage.length)] = new byte[random.nextInt(2_000)];
            }
        } catch (Throwable t) {
            FAILURE.compareAndSet(null, t);
            stop = true;
        }
    }

    static void check(String what, int slot, Object found, long expected) {
        if (number((Value) found) != expected) {
            throw new AssertionError(what + " of slot " + slot + " is " + number((Value) found) + ", not " + expected);
        }
    }

    static void verify() {
        for (int slot = 0; slot < SLOTS; slot++) {
            synchronized (lock(slot)) {
                check("field", slot, NODES[slot].value, FIELD[slot]);
                check("other field", slot, NODES[slot].other, OTHER[slot]);
                check("place in the long array", slot, LONG_ARRAY[slot], IN_LONG_ARRAY[slot]);
                if (ELEMENT[slot] != 0) {
                    check("element", slot, NODES[slot].array[(int) (ELEMENT[slot] % WIDTH)], ELEMENT[slot]);
                }
            }
        }
    }

    static void fill() {
        for (int i = 0; i < LOCKS.length; i++) {
            LOCKS[i] = new Object();
        }
        for (int slot = 0; slot < SLOTS; slot++) {
            NODES[slot] = new Node();
            NODES[slot].array = new Object[WIDTH * (1 + slot % 5)];
        }
        for (int i = 0; i < REFERENCES.length; i++) {
            REFERENCES[i] = new Reference(NODES[i]);
        }
        System.gc();    // they are old
    }

    /** Pauses, and sums of all passes, so far. */
    record Cleaned(long pauses, long passes, long cleaned, long kept) {
        private static final Pattern LINE =
            Pattern.compile("Dirty cards: (\\d+) of (\\d+) have been cleaned, in (\\d+) stretches, (\\d+) are kept");

        static Cleaned now() throws Exception {
            long pauses = 0;
            long passes = 0;
            long cleaned = 0;
            long kept = 0;
            for (String line : Files.readAllLines(Path.of("cards.log"))) {
                Matcher matcher = LINE.matcher(line);
                pauses += line.contains(" Pause ") ? 1 : 0;
                if (matcher.find()) {
                    passes++;
                    cleaned += Long.parseLong(matcher.group(1));
                    kept += Long.parseLong(matcher.group(4));
                }
            }
            return new Cleaned(pauses, passes, cleaned, kept);
        }

        boolean isEnough(int rounds) {
            return pauses >= 2 * rounds && passes >= rounds && cleaned >= 1_000 && kept >= 1_000;
        }
    }

    static void stress(int rounds) throws Exception {
        Random random = Utils.getRandomInstance();
        fill();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            long seed = random.nextLong();
            threads.add(new Thread(() -> mutate(seed)));
        }
        threads.forEach(Thread::start);
        for (int round = 0; !stop && !Cleaned.now().isEnough(rounds); round++) {
            Thread.sleep(200);
            verify();
            if (round % 8 == 7) {
                System.gc();
            }
        }
        stop = true;
        for (Thread thread : threads) {
            thread.join();
        }
        if (FAILURE.get() != null) {
            throw new AssertionError("a thread has failed", FAILURE.get());
        }
        verify();
        System.out.println(Cleaned.now());
    }

    /** The cards that the last young pause has found dirty. */
    static long foundByLastPause() throws Exception {
        Pattern pattern = Pattern.compile("Dirty cards: (\\d+), remembered objects: ");
        long found = -1;
        for (String line : Files.readAllLines(Path.of("cards.log"))) {
            Matcher matcher = pattern.matcher(line);
            if (matcher.find()) {
                found = Long.parseLong(matcher.group(1));
            }
        }
        return found;
    }

    static long youngPauses() throws Exception {
        return Files.readAllLines(Path.of("cards.log")).stream().filter(line -> line.contains("remembered objects: ")).count();
    }

    static volatile Object sink;

    /** All is written to at once: each old block has dirty cards, and nothing young hangs on them. */
    static void drop(Node[][] old) {
        for (Node[] nodes : old) {
            for (Node node : nodes) {
                node.next = nodes[0];    // old: C2 dirties no card for null
                node.array = nodes[0].array;
            }
        }
    }

    static void makeGarbage() throws InterruptedException {
        for (int kb = 0; kb < 1024; kb += 4) {
            sink = new byte[4096];
        }
        Thread.sleep(10);
    }

    /** Whether a pass came before the next pause, and that has found few cards. Else all is as before. */
    static boolean isCleaned(Node[][] old) throws Exception {
        long pauses = youngPauses();
        Cleaned before = Cleaned.now();
        drop(old);
        while (youngPauses() == pauses && Cleaned.now().cleaned() < before.cleaned() + 10_000) {
            makeGarbage();
        }
        if (youngPauses() != pauses) {
            return false;   // it was too fast
        }
        long cleaned = Cleaned.now().cleaned() - before.cleaned();
        while (youngPauses() == pauses) {
            makeGarbage();
        }
        long found = foundByLastPause();
        System.out.println(cleaned + " cards were cleaned, and the pause has found " + found);
        return found < cleaned / 10;
    }

    static long pausesForReferences() throws Exception {
        return Files.readAllLines(Path.of("cards.log")).stream()
            .filter(line -> line.contains("(References)")).count();
    }

    /** Whether a pause for references came next, and has found few cards. */
    static boolean isCleanedForReferences(Node[][] old) throws Exception {
        long pauses = youngPauses();
        long forReferences = pausesForReferences();
        Cleaned before = Cleaned.now();
        drop(old);
        List<WeakReference<Object>> published = new ArrayList<>();
        while (youngPauses() == pauses) {
            for (int i = 0; i < 200; i++) {
                published.add(new WeakReference<>(new Object()));
            }
            sink = published;
            Thread.sleep(20);
        }
        long cleaned = Cleaned.now().cleaned() - before.cleaned();
        long found = foundByLastPause();
        System.out.println(cleaned + " cards were cleaned, and the pause has found " + found);
        return pausesForReferences() > forReferences && cleaned >= 10_000 && found < cleaned / 10;
    }

    static Node[][] makeOld() {
        final int parts = 60;
        Node[][] old = new Node[parts][10_000];
        for (Node[] nodes : old) {
            for (int i = 0; i < nodes.length; i++) {
                nodes[i] = new Node();
                nodes[i].next = nodes[Math.max(0, i - 1)];
                nodes[i].array = new Object[20];
            }
        }
        System.gc();
        return old;
    }

    interface Round {
        boolean isCleaned(Node[][] old) throws Exception;
    }

    static void repeat(Round round, int most) throws Exception {
        Node[][] old = makeOld();
        for (int i = 1; !round.isCleaned(old); i++) {
            if (i == most) {
                throw new AssertionError("what was dirty is not cleaned before a pause finds it");
            }
        }
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "policy" -> repeat(TestCardCleaning::isCleaned, 20);
            case "references" -> repeat(TestCardCleaning::isCleanedForReferences, 2);
            default -> stress(Integer.parseInt(args[0]));
        }
    }
}
