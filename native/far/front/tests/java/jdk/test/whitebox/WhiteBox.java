// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

package jdk.test.whitebox;

/**
 * What tests of a far heap need of HotSpot's test interface, which finds the class and its methods by name. The VM says of each method that is
 * not here that it is not. With {@code -XX:+WhiteBoxAPI}, and the class on the boot class path.
 */
public final class WhiteBox {
    private WhiteBox() {}

    private static native void registerNatives();

    static {
        registerNatives();
    }

    /** The one that natives are called on. */
    public static WhiteBox get() {
        return new WhiteBox();
    }

    public native void youngGC();

    public native void fullGC();

    private native long getObjectAddress0(Object object);

    /** Where it is now. */
    public long addressOf(Object object) {
        return getObjectAddress0(object);
    }

    private native void concurrentGCAcquireControl0();

    /** No cycle begins any more but by what follows. */
    public void takeControl() {
        concurrentGCAcquireControl0();
    }

    private native boolean concurrentGCRunTo0(String breakpoint);

    /** Begins a cycle, if none runs; returns whether it stops there, else it has ended. */
    public boolean runTo(String breakpoint) {
        return concurrentGCRunTo0(breakpoint);
    }

    private native void concurrentGCRunToIdle0();

    /** Until the cycle has ended. */
    public void runToEnd() {
        concurrentGCRunToIdle0();
    }
}
