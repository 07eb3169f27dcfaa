// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.tomcat;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The {@link Shop} as a servlet. */
final class ShopServlet extends HttpServlet {
    private static final long serialVersionUID = 1;

    private final transient Shop shop;

    ShopServlet(Shop shop) {
        this.shop = shop;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(request, response);
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(request, response);
    }

    private void answer(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Shop.Page page = shop.answer(request.getMethod(), request.getRequestURI(), request::getParameter,
                () -> new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        byte[] bytes = page.text().getBytes(StandardCharsets.UTF_8);
        response.setStatus(page.status());
        response.setContentType(page.status() == 200 ? "text/html;charset=UTF-8" : "text/plain;charset=UTF-8");
        response.setContentLength(bytes.length);
        response.getOutputStream().write(bytes);
    }
}
