// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.util.concurrent.locks.LockSupport;

/**
 * A thread that handles requests of one size, of which nothing survives, and waits after each: at a given depth of the stack
 * the thread makes garbage of so many kilobytes, returns to the depth at which it waits, and parks.
 *
 * <p>Arguments: depth of frames at which it waits, kilobytes of a request, requests, {@code platform} or {@code virtual}.
 */
public class LocalCost {
    static final class Small {
        final Small next;
        final long number;

        Small(Small next, long number) {
            this.next = next;
            this.number = number;
        }
    }

    static long sum;

    /** Chains of ten objects of 24 bytes, which hold on to each other and to nothing else. */
    static void request(int kilobytes) {
        Small last = null;
        for (int i = 0; i < kilobytes * 1024 / 24; i++) {
            last = new Small(i % 10 == 0 ? null : last, i);
        }
        sum += last.number;
    }

    private static void serve(int kilobytes, int requests) {
        for (int i = 0; i < requests; i++) {
            request(kilobytes);
            LockSupport.parkNanos(1);
        }
    }

    private static void atDepth(int depth, int kilobytes, int requests) {
        if (depth == 0) {
            serve(kilobytes, requests);
        } else {
            atDepth(depth - 1, kilobytes, requests);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int depth = Integer.parseInt(args[0]);
        int kilobytes = Integer.parseInt(args[1]);
        int requests = Integer.parseInt(args[2]);
        Runnable task = () -> atDepth(depth, kilobytes, requests);
        Thread thread = args[3].equals("virtual") ? Thread.ofVirtual().start(task) : Thread.ofPlatform().start(task);
        thread.join();
        if (sum == 0) {
            throw new AssertionError("nothing was allocated");
        }
    }
}
