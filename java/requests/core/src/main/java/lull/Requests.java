// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.Callable;

/**
 * Tells the JVM where a request starts and where it has ended.
 *
 * <p>A request is a piece of work of one platform thread after which nearly all that it has allocated is garbage, and after which
 * nobody waits for this thread: the answer is on its way. At its end a JVM with Lull may collect what only this thread can reach, in
 * the thread itself, while all others run. That takes about a tenth of a millisecond when nothing survives, and more the more survives.
 *
 * <pre>{@code
 * Requests.begin();
 * try {
 *     answer(socket);
 * } finally {
 *     Requests.end();
 * }
 * }</pre>
 *
 * <p>Calls are about the <em>current thread</em>, not about the request as the application knows it. A request that goes on in
 * another thread is bracketed there once more. Brackets nest: only the outermost {@code end} of a thread counts, also if this class has
 * been loaded several times. On a virtual thread both calls do nothing. On a JVM without Lull they do nothing but test a field, once the first one has
 * found that out.
 *
 * <p>Nothing depends on these calls but when the JVM collects: none is ever needed, none can do harm but by the time that it takes.
 */
public final class Requests {
    /** What hears of boundaries. */
    interface Boundary {
        void begin();

        void end();
    }

    private static final MethodHandle IS_VIRTUAL = findIsVirtual();

    private static final Boundary VM = new Boundary() {
        @Override
        public void begin() {
            begin0();
        }

        @Override
        public void end() {
            end0();
        }
    };

    /** Until it is known whether the VM hears. A class that is being initialised cannot find out, for another thread must call it. */
    private static final Boundary UNKNOWN = new Boundary() {
        @Override
        public void begin() {
            Boundary b = found();
            if (b != null) {
                b.begin();
            }
        }

        @Override
        public void end() {
            Boundary b = found();
            if (b != null) {
                b.end();
            }
        }
    };

    /** Null if nobody hears. Not final: it is found late, and tests count on any JVM. */
    private static Boundary boundary = UNKNOWN;

    private Requests() {}

    /**
     * Says that a request starts on this thread. Within a request of this thread it opens an inner one, whose end does not count.
     */
    public static void begin() {
        Boundary b = boundary;
        if (b != null && !isVirtual()) {
            b.begin();
        }
    }

    /**
     * Says that the request that {@link #begin} opened has ended on this thread: the answer has been handed over, and what the thread has
     * allocated for it is garbage. To be called when nobody waits for the thread, for it may collect now. Never throws. Without a
     * {@code begin} it does nothing.
     */
    public static void end() {
        Boundary b = boundary;
        if (b != null && !isVirtual()) {
            b.end();
        }
    }

    /**
     * Runs a request on this thread: {@code begin}, the task, {@code end}, also if the task throws.
     *
     * @param request the task
     */
    public static void run(Runnable request) {
        begin();
        try {
            request.run();
        } finally {
            end();
        }
    }

    /**
     * Runs a request on this thread as {@link #run} does, and returns what it returns. If the caller is whom the result is for, it
     * gets it after {@code end}.
     *
     * @param <T> the type of the result
     * @param request the task
     * @return its result
     * @throws Exception what it throws
     */
    public static <T> T call(Callable<T> request) throws Exception {
        begin();
        try {
            return request.call();
        } finally {
            end();
        }
    }

    /**
     * Whether anybody hears what the current thread says: false on a virtual thread, and on a JVM without Lull. Of a thread it stays so. For
     * adapters whose brackets need more than these calls.
     *
     * @return whether these calls do anything on this thread
     */
    public static boolean heard() {
        return found() != null && !isVirtual();
    }

    /** Puts another one in the place of the VM, and returns what was there. Only for tests, before the threads start that call. */
    static Boundary replace(Boundary other) {
        Boundary before = boundary;
        boundary = other;
        return before;
    }

    /** No library has these: a JVM with Lull links both itself, any other one throws at the first call. */
    private static native void begin0();

    private static native void end0();

    private static Boundary found() {
        if (boundary == UNKNOWN) {
            findVm();
        }
        return boundary == UNKNOWN ? null : boundary;
    }

    /** Finds out by an end without a begin, which does nothing: on a thread of its own, for the current one may be in a request. */
    private static void findVm() {
        Thread thread = new Thread(() -> {
            Boundary found = VM;
            try {
                end0();
            } catch (UnsatisfiedLinkError e) {
                found = null;
            }
            if (boundary == UNKNOWN) {
                boundary = found;
            }
        }, "lull.Requests");
        thread.setDaemon(true);
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            return;   // there can be no more threads now; the next call tries again
        }
        boolean interrupted = false;
        while (true) {
            try {
                thread.join();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Thread.isVirtual, which JDK 17 has not. */
    private static MethodHandle findIsVirtual() {
        try {
            return MethodHandles.publicLookup().findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (NoSuchMethodException | IllegalAccessException e) {
            return null;
        }
    }

    private static boolean isVirtual() {
        if (IS_VIRTUAL == null) {
            return false;
        }
        try {
            return (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
        } catch (Throwable e) {
            throw new AssertionError(e);   // it throws nothing
        }
    }
}
