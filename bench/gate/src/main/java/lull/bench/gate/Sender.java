// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.io.IOException;

/** Sends requests, for {@link OpenLoop}. Safe for use by many threads. */
interface Sender {
    /** Sends request {@code number}; returns when it is answered, and rightly. */
    void send(long number) throws IOException, InterruptedException;
}
