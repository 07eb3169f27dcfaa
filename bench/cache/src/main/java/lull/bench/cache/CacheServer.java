// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cache;

import java.io.IOException;
import lull.bench.service.HttpFront;
import lull.bench.service.HttpFront.Answer;
import lull.bench.service.Service;

/**
 * A cache behind HTTP. {@code GET /product?N} is a product; {@code POST /fill?N} and {@code POST /replace?N} put a batch into the cache,
 * the latter of a new version, which is the answer; {@code POST /drop} drops each second entry; {@code GET /size} counts them.
 */
final class CacheServer implements Service.Running {
    private final Products products;
    private final HttpFront front;

    CacheServer(Products products, int port, int threads) throws IOException {
        this.products = products;
        front = new HttpFront(port, threads, this::answer);
    }

    private Answer answer(HttpFront.Request request) {
        try {
            return switch (request.method() + " " + request.path()) {
                case "GET /product" -> Answer.ok(products.get(number(request, products.entries().count())).json());
                case "POST /fill" -> {
                    products.fill(number(request, products.entries().batches()));
                    yield Answer.ok("0");
                }
                case "POST /replace" -> Answer.ok(Integer.toString(products.replace(number(request, products.entries().batches()))));
                case "POST /drop" -> {
                    products.dropHalf();
                    yield Answer.ok("0");
                }
                case "GET /size" -> Answer.ok(Long.toString(products.size()));
                default -> new Answer(404, "there are GET /product?N, POST /fill?N, POST /replace?N, POST /drop and GET /size\n");
            };
        } catch (NumberFormatException e) {
            return new Answer(400, e.getMessage() + "\n");
        }
    }

    private static int number(HttpFront.Request request, int end) {
        String query = request.query() == null ? "" : request.query();
        if (query.matches("[0-9]{1,9}") && Integer.parseInt(query) < end) {
            return Integer.parseInt(query);
        }
        throw new NumberFormatException("the number is '" + query + "': one from 0 to " + (end - 1) + " is needed");
    }

    @Override
    public int port() {
        return front.port();
    }

    @Override
    public void close() {
        front.close();
    }
}
