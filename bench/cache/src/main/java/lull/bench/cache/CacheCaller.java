// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cache;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicIntegerArray;
import lull.bench.load.FixedCaller;
import lull.bench.load.HttpConnection;
import lull.bench.load.Order;
import lull.bench.service.Service;

/**
 * The load's side. A request fills a batch, replaces one, or gets a product of a key that the seed chooses; {@code share} of a thousand
 * requests replace. An answer must be the product of its version, and that version must be one that was asked for, and not older than
 * the last that was acknowledged before the request was sent.
 *
 * <p>Callers made by {@link #with} share what they know of versions, and the batch that is replaced next.
 */
final class CacheCaller implements Service.Caller {
    /** Of a thousand requests, in the service's usual load. */
    static final int USUAL_SHARE = 2;
    private static final int SHARES = 1000;

    private final Entries entries;
    private final long seed;
    private final Order order;
    private final Kind kind;
    private final int share;
    private final Versions versions;

    enum Kind { FILL, SERVE }

    /** What is known of each batch: the version that has been asked for, the one that has been acknowledged. */
    private static final class Versions {
        private final AtomicIntegerArray asked;
        private final AtomicIntegerArray acknowledged;
        private int next;

        Versions(int batches) {
            asked = new AtomicIntegerArray(batches);
            acknowledged = new AtomicIntegerArray(batches);
        }

        /** Takes the next batch that nobody replaces now, and whose last replacement did not fail. */
        synchronized int take() {
            for (int tried = 0; tried < asked.length(); tried++) {
                next = (next + 1) % asked.length();
                if (asked.get(next) == acknowledged.get(next)) {
                    asked.incrementAndGet(next);
                    return next;
                }
            }
            throw new IllegalStateException("each of the " + asked.length() + " batches is being replaced, or its replacement has failed");
        }
    }

    private CacheCaller(Entries entries, long seed, Kind kind, int share, Versions versions) {
        this.entries = entries;
        this.seed = seed;
        this.order = new Order(kind == Kind.FILL ? entries.batches() : SHARES, seed);
        this.kind = kind;
        this.share = share;
        this.versions = versions;
    }

    CacheCaller(Entries entries, long seed) {
        this(entries, seed, Kind.SERVE, USUAL_SHARE, new Versions(entries.batches()));
    }

    /** Returns a caller for other requests of the same load. */
    CacheCaller with(Kind other, int otherShare) {
        return new CacheCaller(entries, seed, other, otherShare, versions);
    }

    @Override
    public int variety() {
        return kind == Kind.FILL ? entries.batches() : SHARES;
    }

    /** Returns whether request {@code number} replaces a batch. */
    boolean replaces(long number) {
        return kind == Kind.SERVE && order.input(number) < share;
    }

    @Override
    public Service.Connection connect(int port) {
        HttpConnection http = new HttpConnection(port, FixedCaller.TIMEOUT_MILLIS);
        return new Service.Connection() {
            @Override
            public void request(long number) throws IOException, Service.WrongAnswerException {
                if (kind == Kind.FILL) {
                    ask(http, "POST", "/fill?" + order.input(number));
                } else if (replaces(number)) {
                    replace(http);
                } else {
                    get(http, (int) (mix(seed * 31 + number) % entries.count()));
                }
            }

            @Override
            public void close() {
                http.close();
            }
        };
    }

    private void replace(HttpConnection http) throws IOException, Service.WrongAnswerException {
        int batch = versions.take();
        // Where no answer comes the batch is not replaced any more: nobody knows its version.
        String answer = ask(http, "POST", "/replace?" + batch);
        int wanted = versions.asked.get(batch);
        if (!answer.equals(Integer.toString(wanted))) {
            throw new Service.WrongAnswerException("/replace?" + batch + ": version '" + answer + "', expected " + wanted);
        }
        versions.acknowledged.set(batch, wanted);
    }

    private void get(HttpConnection http, int key) throws IOException, Service.WrongAnswerException {
        int batch = key / Entries.BATCH;
        int oldest = versions.acknowledged.get(batch);
        String answer = ask(http, "GET", "/product?" + key);
        int newest = versions.asked.get(batch);
        for (int version = oldest; version <= newest; version++) {
            if (answer.equals(Product.of(key, version).json())) {
                return;
            }
        }
        throw new Service.WrongAnswerException("/product?" + key + ": '" + answer + "' is no version from " + oldest + " to " + newest);
    }

    private static String ask(HttpConnection http, String method, String target) throws IOException, Service.WrongAnswerException {
        HttpConnection.Answer answer = method.equals("GET") ? http.get(target) : http.send(method, target, "text/plain", new byte[0]);
        String text = new String(answer.body(), StandardCharsets.UTF_8);
        if (answer.status() != 200) {
            throw new Service.WrongAnswerException(target + ": status " + answer.status() + ", " + text);
        }
        return text;
    }

    private static long mix(long number) {
        long mixed = number * 0x9e3779b97f4a7c15L;
        mixed = (mixed ^ mixed >>> 31) * 0xbf58476d1ce4e5b9L;
        return (mixed ^ mixed >>> 29) & Long.MAX_VALUE;
    }
}
