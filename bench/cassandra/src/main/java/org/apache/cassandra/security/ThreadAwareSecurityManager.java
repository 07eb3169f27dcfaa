// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package org.apache.cassandra.security;

/**
 * Stands before Cassandra's class of this name on the class path. That one guards functions which users define by a security manager, of
 * which JDK 24 and later have none, so that Cassandra would not start. There are no such functions here.
 */
public final class ThreadAwareSecurityManager {
    private ThreadAwareSecurityManager() { }

    /** Called when Cassandra starts. Does nothing. */
    public static void install() { }

    /** Returns whether this thread runs a function of a user: never. */
    public static boolean isSecuredThread() {
        return false;
    }
}
