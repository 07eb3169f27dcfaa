// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
/** A request that a stopped JVM has turned away goes to another replica. */
module lull.failover {
    requires transitive java.net.http;

    exports lull.failover;
}
