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

package lull;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.IntSupplier;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Races in which one actor publishes what it has just made and the other one reads it. -1: has not seen it yet; 42: has
 * seen all of it.
 */
public class PublicationTests {
    private static final int ALL = 42;
    private static final int NOT_YET = -1;

    /** Its constructor freezes it: all of it is there for whoever gets it, by a race too. */
    static final class Frozen {
        private final int[] leaf;
        private final Integer box;
        private final Frozen[] next;

        Frozen(int depth) {
            leaf = new int[] {20};
            box = Integer.valueOf(1000);
            next = depth == 0 ? new Frozen[0] : new Frozen[] {new Frozen(depth - 1)};
        }

        int sum() {
            return leaf[0] + box - 999 + (next.length == 0 ? 0 : next[0].sum());
        }

        static int sum(Frozen frozen) {
            return frozen == null ? NOT_YET : frozen.sum();
        }
    }

    /** Its fields are plain: whoever gets it in order sees them. */
    static class Plain implements Cloneable {
        int[] leaf;
        Plain next;

        static Plain of(int length) {
            Plain first = null;
            for (int i = 0; i < length; i++) {
                Plain plain = new Plain();
                plain.leaf = new int[] {ALL / length};
                plain.next = first;
                first = plain;
            }
            return first;
        }

        int sum() {
            int sum = 0;
            for (Plain plain = this; plain != null; plain = plain.next) {
                sum += plain.leaf[0];
            }
            return sum;
        }

        static int sum(Plain plain) {
            return plain == null ? NOT_YET : plain.sum();
        }

        Plain copy() {
            try {
                return (Plain) clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @JCStressTest
    @Outcome(id = {"-1", "42"}, expect = ACCEPTABLE, desc = "Nothing yet, or all.")
    @Outcome(expect = FORBIDDEN, desc = "Some of it.")
    @State
    public static class FinalFields {
        Frozen shared;

        @Actor
        public void write() {
            shared = new Frozen(1);
        }

        @Actor
        public void read(I_Result r) {
            r.r1 = Frozen.sum(shared);
        }
    }

    @JCStressTest
    @Outcome(id = {"-1", "42"}, expect = ACCEPTABLE, desc = "Nothing yet, or all.")
    @Outcome(expect = FORBIDDEN, desc = "Some of it.")
    @State
    public static class FinalFieldOfLambda {
        IntSupplier shared;

        @Actor
        public void write() {
            Frozen frozen = new Frozen(1);
            shared = () -> frozen.sum();
        }

        @Actor
        public void read(I_Result r) {
            IntSupplier supplier = shared;
            r.r1 = supplier == null ? NOT_YET : supplier.getAsInt();
        }
    }

    @JCStressTest
    @Outcome(id = {"-1", "42"}, expect = ACCEPTABLE, desc = "Nothing yet, or all.")
    @Outcome(expect = FORBIDDEN, desc = "Some of it.")
    @State
    public static class FinalFieldOfString {
        String shared;
        private int length = ALL;

        @Actor
        public void write() {
            shared = "x".repeat(length);
        }

        @Actor
        public void read(I_Result r) {
            String string = shared;
            r.r1 = string == null ? NOT_YET : string.equals("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") ? string.length() : 0;
        }
    }

    @JCStressTest
    @Outcome(id = {"-1", "-2", "42"}, expect = ACCEPTABLE, desc = "Nothing yet, the outer object only, or all.")
    @Outcome(expect = FORBIDDEN, desc = "Some of it.")
    @State
    public static class StoreBehindThePublication {
        static class Slot {
            Frozen frozen;
        }

        Slot shared;

        @Actor
        public void write() {
            Slot slot = new Slot();
            shared = slot;
            slot.frozen = new Frozen(1);
        }

        @Actor
        public void read(I_Result r) {
            Slot slot = shared;
            if (slot == null) {
                r.r1 = NOT_YET;
            } else {
                Frozen frozen = slot.frozen;
                r.r1 = frozen == null ? -2 : frozen.sum();
            }
        }
    }

    @JCStressTest
    @Outcome(id = {"-1", "42"}, expect = ACCEPTABLE, desc = "Nothing yet, or all.")
    @Outcome(expect = FORBIDDEN, desc = "Some of it.")
    @State
    public static class Volatile {
        volatile Plain shared;

        @Actor
        public void write() {
            shared = Plain.of(3);
        }

        @Actor
        public void read(I_Result r) {
            r.r1 = Plain.sum(shared);
        }
    }

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Plain[].class);

    @JCStressTest
    @Outcome(id = {"-1", "42"}, expect = ACCEPTABLE, desc = "Nothing yet, or all.")
    @Outcome(expect = FORBIDDEN, desc = "Some of it.")
    @State
    public static class AcquireRelease {
        final Plain[] shared = new Plain[2];

        @Actor
        public void write() {
            ELEMENT.setRelease(shared, 1, Plain.of(3));
        }

        @Actor
        public void read(I_Result r) {
            r.r1 = Plain.sum((Plain) ELEMENT.getAcquire(shared, 1));
        }
    }

    @JCStressTest
    @Outcome(id = {"42, -1", "-1, 42"}, expect = ACCEPTABLE, desc = "One of them wins, the other sees all that the first has made.")
    @Outcome(expect = FORBIDDEN, desc = "Both, none, or some of it.")
    @State
    public static class CompareAndExchange {
        final Plain[] shared = new Plain[2];

        private int exchange() {
            return Plain.sum((Plain) ELEMENT.compareAndExchange(shared, 1, (Plain) null, Plain.of(3)));
        }

        @Actor
        public void first(II_Result r) {
            r.r1 = exchange();
        }

        @Actor
        public void second(II_Result r) {
            r.r2 = exchange();
        }
    }

    @JCStressTest
    @Outcome(id = {"42, -1", "-1, 42"}, expect = ACCEPTABLE, desc = "The second gets what the first has stored.")
    @Outcome(expect = FORBIDDEN, desc = "Both, none, or some of it.")
    @State
    public static class GetAndSet {
        final Plain[] shared = new Plain[2];

        private int exchange() {
            return Plain.sum((Plain) ELEMENT.getAndSet(shared, 1, Plain.of(3)));
        }

        @Actor
        public void first(II_Result r) {
            r.r1 = exchange();
        }

        @Actor
        public void second(II_Result r) {
            r.r2 = exchange();
        }
    }

    @JCStressTest
    @Outcome(id = {"-1", "42"}, expect = ACCEPTABLE, desc = "Nothing yet, or all.")
    @Outcome(expect = FORBIDDEN, desc = "Some of it.")
    @State
    public static class ArrayCopy {
        final Plain[] shared = new Plain[3];
        volatile boolean ready;

        @Actor
        public void write() {
            Plain[] mine = {Plain.of(1), Plain.of(2), Plain.of(3)};
            System.arraycopy(mine, 0, shared, 0, 3);
            ready = true;
        }

        @Actor
        public void read(I_Result r) {
            r.r1 = !ready ? NOT_YET : shared[0].sum() == ALL && shared[1].sum() == ALL ? shared[2].sum() : 0;
        }
    }

    @JCStressTest
    @Outcome(id = {"-1", "42"}, expect = ACCEPTABLE, desc = "Nothing yet, or all.")
    @Outcome(expect = FORBIDDEN, desc = "Some of it.")
    @State
    public static class RacyArrayCopy {
        final Frozen[] shared = new Frozen[3];

        @Actor
        public void write() {
            Frozen[] mine = {new Frozen(1), new Frozen(1), new Frozen(1)};
            System.arraycopy(mine, 0, shared, 0, 3);
        }

        @Actor
        public void read(I_Result r) {
            r.r1 = Frozen.sum(shared[2]);
        }
    }

    @JCStressTest
    @Outcome(id = {"-1", "42"}, expect = ACCEPTABLE, desc = "Nothing yet, or all.")
    @Outcome(expect = FORBIDDEN, desc = "Some of it.")
    @State
    public static class Clone {
        volatile Plain shared;

        @Actor
        public void write() {
            shared = Plain.of(3).copy();
        }

        @Actor
        public void read(I_Result r) {
            r.r1 = Plain.sum(shared);
        }
    }

    @JCStressTest
    @Outcome(id = {"-1", "42"}, expect = ACCEPTABLE, desc = "Nothing yet, or all.")
    @Outcome(expect = FORBIDDEN, desc = "Some of it.")
    @State
    public static class Lock {
        private Plain shared;

        @Actor
        public void write() {
            synchronized (this) {
                shared = Plain.of(3);
            }
        }

        @Actor
        public void read(I_Result r) {
            synchronized (this) {
                r.r1 = Plain.sum(shared);
            }
        }
    }

    @JCStressTest
    @Outcome(id = {"-1, 42", "42, -1", "42, 42"}, expect = ACCEPTABLE, desc = "One of them is later.")
    @Outcome(id = "-1, -1", expect = FORBIDDEN, desc = "A publication is still behind a read of volatile.")
    @Outcome(expect = FORBIDDEN, desc = "Some of it.")
    @State
    public static class Dekker {
        volatile Plain first;
        volatile Plain second;

        @Actor
        public void first(II_Result r) {
            first = Plain.of(3);
            r.r1 = Plain.sum(second);
        }

        @Actor
        public void second(II_Result r) {
            second = Plain.of(3);
            r.r2 = Plain.sum(first);
        }
    }
}
