// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.service;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** On what threads a service answers requests: so many platform threads or, with {@code -Dlull.bench.virtual=true}, each on a virtual thread of its own. */
public final class RequestThreads {
    private RequestThreads() { }

    public static boolean areVirtual() {
        return Boolean.getBoolean("lull.bench.virtual");
    }

    /** Returns an executor with {@code threads} platform threads, or one that makes as many virtual ones as there are requests. */
    static ExecutorService executor(int threads) {
        return areVirtual() ? Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("request-", 0).factory())
                : Executors.newFixedThreadPool(threads, Thread.ofPlatform().name("request-", 0).factory());
    }
}
