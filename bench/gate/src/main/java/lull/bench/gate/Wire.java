// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.io.IOException;
import lull.bench.load.FixedRequest;

/** How a client sends requests to replicas, and hears of their answers. Safe for use by many threads. */
interface Wire extends AutoCloseable {
    /** What {@link #send} returns when the answer has come. */
    long ANSWERED = -1;
    /** Far beyond any pause. */
    int PATIENCE_MILLIS = 120_000;

    /** Opens connections until there are {@code count} to each replica, and sends {@code request} on each. */
    void connect(FixedRequest request, int count) throws IOException;

    /**
     * Sends a request; returns {@link #ANSWERED} when the right answer has come, or for how many milliseconds the replica says to be busy.
     *
     * @param deadlineMillis what the replica is told; 0 if the client waits however long
     * @throws Client.WrongAnswerException if another answer comes
     */
    long send(FixedRequest request, int replica, int deadlineMillis) throws IOException;

    @Override
    void close();

    /** @throws Client.WrongAnswerException if something differs */
    static void check(FixedRequest request, String difference) throws Client.WrongAnswerException {
        if (difference != null) {
            throw new Client.WrongAnswerException(request.target() + ": " + difference);
        }
    }
}
