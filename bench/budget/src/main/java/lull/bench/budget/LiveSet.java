// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.budget;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** Long-lived data of a service, which change all the time: so many megabytes in pieces of a kilobyte. Safe for use by many threads. */
final class LiveSet {
    private static final int PIECE = 1024 - 16;

    private final AtomicReferenceArray<byte[]> pieces;

    LiveSet(int megabytes) {
        pieces = new AtomicReferenceArray<>(megabytes * 1024);
        for (int i = 0; i < pieces.length(); i++) {
            pieces.set(i, new byte[PIECE]);
        }
    }

    /** Makes {@code count} new pieces, of which one in {@code kept} takes the place of an old one, and the others are garbage. */
    void churn(int count, int kept) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (int i = 0; i < count; i++) {
            byte[] piece = new byte[PIECE];
            piece[i % PIECE] = 1;
            if (i % kept == 0 && pieces.length() > 0) {
                pieces.set(random.nextInt(pieces.length()), piece);
            }
        }
    }
}
