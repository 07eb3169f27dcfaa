// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.tomcat;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * The requests of the shop: {@code GET /product?id=}, {@code POST /search} with a form, {@code POST /basket} with JSON. For servers of any kind; safe
 * for use by many threads.
 */
public final class Shop {
    static final int PRODUCTS = 1000;

    private final Pages pages = new Pages(new Catalogue(PRODUCTS));

    /**
     * An answer.
     *
     * @param status of HTTP
     * @param text a page if the status is 200, else what was wrong
     */
    public record Page(int status, String text) { }

    /** A request's body, read if it is needed. */
    interface Body {
        String text() throws IOException;
    }

    Pages pages() {
        return pages;
    }

    /**
     * Answers a request.
     *
     * @param target path and query, encoded as they were sent
     * @param body a form or JSON; empty if there is none
     */
    public Page answer(String method, String target, String body) {
        int mark = target.indexOf('?');
        String path = mark < 0 ? target : target.substring(0, mark);
        Map<String, String> parameters = new HashMap<>();
        decode(mark < 0 ? "" : target.substring(mark + 1), parameters);
        if (path.equals("/search")) {
            decode(body, parameters);
        }
        try {
            return answer(method, path, parameters::get, () -> body);
        } catch (IOException e) {
            throw new IllegalStateException("a text cannot be read", e);
        }
    }

    private static void decode(String form, Map<String, String> parameters) {
        for (String field : form.split("&")) {
            int equals = field.indexOf('=');
            if (equals > 0) {
                parameters.putIfAbsent(URLDecoder.decode(field.substring(0, equals), StandardCharsets.UTF_8),
                        URLDecoder.decode(field.substring(equals + 1), StandardCharsets.UTF_8));
            }
        }
    }

    Page answer(String method, String path, UnaryOperator<String> parameter, Body body) throws IOException {
        try {
            if (!(method.equals("POST") ? List.of("/search", "/basket") : List.of("/product")).contains(path)) {
                throw new Pages.RefusedException(404, "there is no " + method + " " + path);
            }
            return new Page(200, switch (path) {
                case "/product" -> pages.product(parameter.apply("id"));
                case "/search" -> pages.search(given(parameter, "words"), given(parameter, "page"));
                // The parameters of the query; the body is left to be read.
                default -> pages.basket(given(parameter, "currency"), given(parameter, "sort"), body.text());
            });
        } catch (Pages.RefusedException e) {
            return new Page(e.status(), e.getMessage() + "\n");
        }
    }

    private static String given(UnaryOperator<String> parameter, String name) throws Pages.RefusedException {
        String value = parameter.apply(name);
        if (value == null) {
            throw new Pages.RefusedException(400, "the parameter '" + name + "' is missing");
        }
        return value;
    }
}
