// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

/**
 * Old trees of which nobody looks at any, and a little garbage, so that there are pauses: what is fetched is fetched by the collector.
 *
 * <p>{@code java Still TREES SECONDS}. Prints a line when the trees are old.
 */
public class Still {
    static final int DEPTH = 9;

    static final class Node {
        final byte[] weight = new byte[40];
        Node left;
        Node right;

        Node(int depth) {
            if (depth > 0) {
                left = new Node(depth - 1);
                right = new Node(depth - 1);
            }
        }
    }

    static Object[] trees;
    static volatile byte[] garbage;

    public static void main(String[] args) throws InterruptedException {
        trees = new Object[Integer.parseInt(args[0])];
        for (int i = 0; i < trees.length; i++) {
            trees[i] = new Node(DEPTH);
        }
        System.gc();
        System.out.println("the trees are old");
        long end = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000_000L;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 100; i++) {
                garbage = new byte[1000];
            }
            Thread.sleep(1);
        }
    }
}
