// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.util.List;
import java.util.regex.Pattern;

/** What to change at a place that publishes. Told by the methods on the stack, so it is a guess: the page says so. */
final class StoreAdvice {
    private StoreAdvice() {}

    /** {@code methods} is looked for in each frame, as class and method. */
    private record Rule(Pattern methods, String words) {
        Rule(String methods, String words) {
            this(Pattern.compile(methods), words);
        }
    }

    /** The first rule that fits counts: the more special ones come first. */
    private static final List<Rule> RULES = List.of(
            new Rule("^(org\\.h2|org\\.hsqldb|org\\.apache\\.derby)\\.", "A database in the same JVM: its rows and transactions are "
            + "there for all connections. "
                    + "That is its nature, and nothing to change; whether private mode pays all the same is said above."),
            new Rule("^(org\\.apache\\.(logging|log4j)|ch\\.qos\\.logback|java\\.util\\.logging|org\\.slf4j)\\.",
                    "Logging hands its events to another thread or keeps them. Log less in the request, or let the appender write in the "
                    + "thread itself."),
            new Rule("^java\\.lang\\.(invoke|reflect|ClassLoader|Class|Module)\\b|^jdk\\.internal\\.(reflect|loader|classfile)\\.|^java\\.util\\.ServiceLoader",
                    "Loading and linking classes and call sites: it happens once for each, and ends when the service is warm. "
                    + "If it goes on, the program makes classes or method handles per request; keep them."),
            new Rule("^java\\.lang\\.StringTable|^java\\.lang\\.String\\.intern", "Interned strings are for all threads. Intern names "
                    + "that repeat, not values of a request."),
            new Rule("^java\\.lang\\.ThreadLocal", "A value of a `ThreadLocal` whose map is public: in a virtual thread, or after another "
                    + "thread has looked up how to read it."),
            new Rule("^java\\.lang\\.(ref\\.(Finalizer|Cleaner)|VirtualThread)|^jdk\\.internal\\.ref\\.|^jdk\\.internal\\.vm\\.Continuation",
                    "What has a finalizer or a cleaner, or is in the frames of a virtual thread that waits, is known to other threads. "
                    + "Close resources in the "
                    + "request that has opened them, and prefer objects without finalizers."),
            new Rule("^java\\.util\\.concurrent\\.(.*Queue|.*Deque|ThreadPoolExecutor|ScheduledThreadPoolExecutor|ForkJoinPool|ForkJoinTask|CompletableFuture|FutureTask"
                    + "|Exchanger|SubmissionPublisher|AbstractExecutorService|ExecutorCompletionService)\\b|^io\\.netty\\.util\\.concurrent\\.|^reactor\\.core\\.scheduler",
                    "Work goes to another thread, with all that it refers to. Finish the request in the thread that has begun it; where "
                            + "that cannot be, "
                    + "hand over the few values that are needed, not the object that leads to the rest."),
            new Rule("^com\\.github\\.benmanes\\.caffeine|^com\\.google\\.common\\.cache|^org\\.ehcache|[Cc]ache(\\$|\\.)",
                    "A cache keeps the object, and all that it leads to. That pays if it is asked for again. Keep a compact copy of what "
                    + "is asked for, and "
                    + "look at the cache's hits: one that seldom hits only makes garbage public."),
            new Rule("^java\\.util\\.concurrent\\.Concurrent|^java\\.util\\.(WeakHashMap|Collections\\$Synchronized)",
                    "A map or set that all threads share. Put a compact value there, made for it, rather than an object of the request "
                    + "that leads to the rest of it; and "
                    + "remove nothing that is put again for the next request."),
            new Rule("^java\\.util\\.concurrent\\.locks\\.|^java\\.util\\.concurrent\\.(Semaphore|CountDownLatch)",
                    "A thread that waits for a lock queues a node for it. Small; if it is much, the lock is contended."),
            new Rule("^(org\\.apache\\.(catalina|coyote|tomcat)|org\\.eclipse\\.jetty|io\\.undertow|io\\.netty)\\.",
                    "The server's own objects outlive the request and are used again, so what is stored in them becomes public: "
                    + "attributes, sessions, buffers. "
                    + "Keep what is only for this request in local variables, or in a `ThreadLocal`."),
            new Rule("^(org\\.hibernate|com\\.zaxxer\\.hikari|org\\.springframework\\.(jdbc|orm|transaction))\\.",
                    "The persistence layer stores something of the request in an object that it shares: a connection, a statement cache, "
                    + "a second-level cache. "
                    + "See whether the cache named in the stack is needed."));

    /** A sentence or two for a place. */
    static String of(Place place) {
        for (Rule rule : RULES) {
            for (Place.Frame frame : place.frames) {
                if (rule.methods.matcher(frame.type() + "." + frame.method()).find()) {
                    return rule.words;
                }
            }
        }
        return "`" + place.application() + "` stores a `" + place.mainClass() + "` in an object that more than one thread knows. If "
                + "nobody else needs it there, "
                + "keep it in a local variable, or make that object anew for each request.";
    }
}
