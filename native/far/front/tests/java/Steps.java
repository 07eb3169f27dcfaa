// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.util.SplittableRandom;
import jdk.test.whitebox.WhiteBox;

/**
 * Stops a cycle of marking at a step, moves and drops old trees, says so, and goes on when a line comes: whoever reads it may have done
 * something to a memory server. Each tree is compared when the cycle has ended, and after one more.
 *
 * <p>{@code java Steps BREAKPOINT}. Prints {@code at BREAKPOINT}, and last {@code compared= wrong=}.
 */
public class Steps {
    static final int DEPTH = 5;
    static final int TREES = 4_000;

    static final class Node {
        final long number;
        Node left;
        Node right;
        final byte[] weight;

        Node(long number, int depth) {
            this.number = number;
            weight = new byte[(int) (number % 100)];
            if (depth > 0) {
                left = new Node(number, depth - 1);
                right = new Node(number, depth - 1);
            }
        }

        long wrong(long number, int depth) {
            if (this.number != number || weight.length != number % 100 || (left == null) != (depth == 0)) {
                return 1;
            }
            return depth == 0 ? 0 : left.wrong(number, depth - 1) + right.wrong(number, depth - 1);
        }
    }

    static final class Holder {
        Node node;
    }

    static final Holder[] holders = new Holder[TREES];
    static final WhiteBox WB = WhiteBox.get();

    /** Some trees change places, some make way for others, some lose a half to a new one. */
    static void change(SplittableRandom random) {
        for (int i = 0; i < TREES / 10; i++) {
            Holder one = holders[random.nextInt(TREES)];
            Holder other = holders[random.nextInt(TREES)];
            Node node = one.node;
            one.node = other.node;
            other.node = node;
            if (i % 10 == 0) {
                one.node = new Node(random.nextInt(1 << 30), DEPTH);
            } else if (i % 10 == 1) {
                one.node.left = new Node(one.node.number, DEPTH - 1);
            }
        }
    }

    static long wrong() {
        long wrong = 0;
        for (Holder holder : holders) {
            wrong += holder.node.wrong(holder.node.number, DEPTH);
        }
        return wrong;
    }

    public static void main(String[] args) throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < TREES; i++) {
            holders[i] = new Holder();
            holders[i].node = new Node(random.nextInt(1 << 30), DEPTH);
        }
        WB.takeControl();
        System.out.println("in control");
        WB.fullGC();
        if (!WB.runTo(args[0])) {
            throw new AssertionError("the cycle has not come to " + args[0]);
        }
        change(random);
        System.out.println("at " + args[0]);
        System.out.flush();
        if (System.in.read() < 0) {
            throw new AssertionError("nobody says that it may go on");
        }
        WB.youngGC();
        change(random);
        WB.runToEnd();
        long wrong = wrong();
        WB.runTo("BEFORE MARKING COMPLETED");
        change(random);
        WB.runToEnd();
        wrong += wrong();
        System.out.println("compared=" + 2 * TREES + " wrong=" + wrong);
        System.exit(wrong == 0 ? 0 : 1);
    }
}
