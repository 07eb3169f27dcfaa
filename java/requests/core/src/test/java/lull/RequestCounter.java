// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Hears of requests in the place of the VM, until it is closed, and counts them as the VM does. */
public final class RequestCounter implements Requests.Boundary, AutoCloseable {
    private final Requests.Boundary vm;
    private final Map<Thread, Integer> depths = new ConcurrentHashMap<>();
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private final AtomicInteger collections = new AtomicInteger();
    private final AtomicInteger spurious = new AtomicInteger();
    private final Runnable collection;

    public RequestCounter() {
        this(() -> {});
    }

    /** With something that takes the place of the collection at a request's end. */
    public RequestCounter(Runnable collection) {
        this.collection = collection;
        vm = Requests.replace(this);
    }

    @Override
    public void begin() {
        begun.incrementAndGet();
        depths.merge(Thread.currentThread(), 1, Integer::sum);
    }

    @Override
    public void end() {
        ended.incrementAndGet();
        int depth = depth();
        if (depth == 0) {
            spurious.incrementAndGet();
        } else if (depth > 1) {
            depths.put(Thread.currentThread(), depth - 1);
        } else {
            depths.remove(Thread.currentThread());
            collections.incrementAndGet();
            collection.run();
        }
    }

    /** How many requests the current thread is in, one in the other. */
    public int depth() {
        return depths.getOrDefault(Thread.currentThread(), 0);
    }

    /** Calls of begin. */
    public int begun() {
        return begun.get();
    }

    /** Calls of end. */
    public int ended() {
        return ended.get();
    }

    /** Ends that count: of the outermost request of a thread. */
    public int collections() {
        return collections.get();
    }

    /** "begun ended counted", and what is wrong, if anything is: threads that are still in a request, ends without a begin. */
    public String counts() {
        return begun + " " + ended + " " + collections + (depths.isEmpty() ? "" : ", open " + depths) + (spurious.get() == 0 ? "" : ", spurious " + spurious);
    }

    /** As {@link #counts}, but waits up to ten seconds for so many ends: an answer may be there before the request's end. */
    public String countsAfter(int ends) throws InterruptedException {
        for (int i = 0; i < 1000 && (ended.get() < ends || !depths.isEmpty()); i++) {
            Thread.sleep(10);
        }
        return counts();
    }

    @Override
    public void close() {
        Requests.replace(vm);
    }
}
