// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import jdk.test.whitebox.WhiteBox;

/**
 * The last reference to an old tree moves while pages are sent to the servers that are to mark: from where pages are still to be sent to where
 * they have been. So the servers have neither the one nor the other, and a pause that comes then has to look at where it is now.
 *
 * <p>{@code java Between ROUNDS}. Prints one line: {@code moved= wrong=}.
 */
public class Between {
    static final int DEPTH = 5;
    static final int HOLDERS = 60_000;
    /** Pages of so many bytes of the heap are sent between two breakpoints. */
    static final long PART = 32L << 20;

    static final class Node {
        final long number;
        Node left;
        Node right;

        Node(long number, int depth) {
            this.number = number;
            if (depth > 0) {
                left = new Node(number, depth - 1);
                right = new Node(number, depth - 1);
            }
        }

        long wrong(long number, int depth) {
            if (this.number != number || (left == null) != (depth == 0)) {
                return 1;
            }
            return depth == 0 ? 0 : left.wrong(number, depth - 1) + right.wrong(number, depth - 1);
        }
    }

    static final class Holder {
        Node node;
        final byte[] weight = new byte[1000];
    }

    static final Holder[] holders = new Holder[HOLDERS];
    static final WhiteBox WB = WhiteBox.get();
    static int first;
    static int last;

    /** Those with the lowest and the highest address. */
    static void find() {
        long[] at = new long[HOLDERS];
        for (int i = 0; i < HOLDERS; i++) {
            at[i] = WB.addressOf(holders[i]);
            first = at[i] < at[first] ? i : first;
            last = at[i] > at[last] ? i : last;
        }
        if (at[last] - at[first] < PART) {
            throw new AssertionError("all is in one part: " + (at[last] - at[first]) + " bytes");
        }
    }

    static void plant(long number) {
        holders[last].node = new Node(number, DEPTH);
    }

    /** No stack refers to anything of it when this returns. */
    static void move() {
        holders[first].node = holders[last].node;
        holders[last].node = null;
    }

    static long look(long number) {
        long wrong = holders[first].node.wrong(number, DEPTH);
        holders[first].node = null;
        return wrong;
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        for (int i = 0; i < HOLDERS; i++) {
            holders[i] = new Holder();
        }
        WB.takeControl();
        System.out.println("in control");
        long wrong = 0;
        for (int round = 0; round < rounds; round++) {
            find();
            plant(round);
            WB.fullGC();
            find();
            if (holders[last].node == null) {
                throw new AssertionError("the last holder is another one since a collection");
            }
            if (!WB.runTo("AFTER PART CLEANED")) {
                throw new AssertionError("no page was sent");
            }
            move();
            WB.youngGC();
            WB.runToEnd();
            wrong += look(round);
        }
        System.out.println("moved=" + rounds + " wrong=" + wrong);
        System.exit(wrong == 0 ? 0 : 1);
    }
}
