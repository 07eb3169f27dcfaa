// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
/** Where a request starts and ends, said to the JVM. */
module lull.requests {
    exports lull;
}
