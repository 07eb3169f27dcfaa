// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.tomcat;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The requests of the shop: {@code GET /product?id=}, {@code POST /search} with a form, {@code POST /basket} with JSON. */
final class ShopServlet extends HttpServlet {
    private static final long serialVersionUID = 1;

    private final transient Pages pages;

    ShopServlet(Pages pages) {
        this.pages = pages;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(request, response, "/product");
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(request, response, "/search", "/basket");
    }

    private void answer(HttpServletRequest request, HttpServletResponse response, String... allowed) throws IOException {
        String path = request.getRequestURI();
        int status = 200;
        String text;
        try {
            if (!List.of(allowed).contains(path)) {
                throw new Pages.RefusedException(404, "there is no " + request.getMethod() + " " + path);
            }
            text = switch (path) {
                case "/product" -> pages.product(request.getParameter("id"));
                case "/search" -> pages.search(given(request, "words"), given(request, "page"));
                // The parameters of the query; the body is left to be read.
                default -> pages.basket(given(request, "currency"), given(request, "sort"),
                        new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
            };
        } catch (Pages.RefusedException e) {
            status = e.status();
            text = e.getMessage() + "\n";
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        response.setStatus(status);
        response.setContentType(status == 200 ? "text/html;charset=UTF-8" : "text/plain;charset=UTF-8");
        response.setContentLength(bytes.length);
        response.getOutputStream().write(bytes);
    }

    private static String given(HttpServletRequest request, String name) throws Pages.RefusedException {
        String value = request.getParameter(name);
        if (value == null) {
            throw new Pages.RefusedException(400, "the parameter '" + name + "' is missing");
        }
        return value;
    }
}
