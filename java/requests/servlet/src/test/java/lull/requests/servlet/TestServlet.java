// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.requests.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import lull.RequestCounter;

/** Answers in the way that the path names. */
final class TestServlet extends HttpServlet {
    static final int LARGE = 300_000;

    private final RequestCounter counter;
    /** How deep in requests its thread was, of each call and of each callback. */
    final List<Integer> depths = new CopyOnWriteArrayList<>();

    TestServlet(RequestCounter counter) {
        this.counter = counter;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException, ServletException {
        if (counter != null) {
            depths.add(counter.depth());
        }
        Object included = request.getAttribute(RequestDispatcher.INCLUDE_SERVLET_PATH);
        switch (included == null ? request.getServletPath() : (String) included) {
            case "/stream" -> response.getOutputStream().print("hello");
            case "/writer" -> response.getWriter().print("hello");
            case "/length" -> {
                response.setContentLength(5);
                response.getOutputStream().print("hello");
            }
            case "/empty" -> { }
            case "/session" -> {
                request.getSession().setAttribute("name", "value");
                response.getOutputStream().print("hello");
            }
            case "/no-content" -> response.setStatus(204);
            case "/large" -> response.getOutputStream().write(new byte[LARGE]);
            case "/huge" -> {
                for (int i = 0; i < 1000; i++) {
                    response.getOutputStream().write(new byte[LARGE]);
                }
            }
            case "/redirect" -> response.sendRedirect("/stream");
            case "/throw" -> throw new ServletException("expected");
            case "/send-error" -> response.sendError(418);
            case "/status" -> {
                response.setStatus(404);
                response.getWriter().print("hello");
            }
            case "/error-page" -> response.getWriter().print("page for " + response.getStatus());
            case "/forward" -> request.getRequestDispatcher("/stream").forward(request, response);
            case "/include" -> {
                request.getRequestDispatcher("/stream").include(request, response);
                response.getOutputStream().print(" and more");
            }
            case "/complete" -> {
                AsyncContext async = request.startAsync();
                later(() -> {
                    async.getResponse().getOutputStream().print("hello");
                    async.complete();
                });
            }
            case "/complete-now" -> {
                AsyncContext async = request.startAsync();
                response.getOutputStream().print("hello");
                async.complete();
            }
            case "/dispatch" -> {
                AsyncContext async = request.startAsync();
                later(() -> async.dispatch("/stream"));
            }
            case "/dispatch-now" -> request.startAsync().dispatch("/stream");
            case "/timeout" -> request.startAsync().setTimeout(100);
            case "/timeout-complete" -> onTimeout(request, async -> {
                async.getResponse().getOutputStream().print("late");
                async.complete();
            });
            case "/timeout-dispatch" -> onTimeout(request, async -> async.dispatch("/stream"));
            default -> throw new ServletException(request.getServletPath());
        }
    }

    private interface Late {
        void run() throws IOException;
    }

    private interface Timeout {
        void run(AsyncContext context) throws IOException;
    }

    private static void later(Late late) {
        new Thread(() -> {
            try {
                Thread.sleep(20);
                late.run();
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }).start();
    }

    private static void onTimeout(HttpServletRequest request, Timeout action) {
        AsyncContext async = request.startAsync();
        async.setTimeout(100);
        async.addListener(new AsyncListener() {
            @Override
            public void onTimeout(AsyncEvent event) throws IOException {
                action.run(async);
            }

            @Override
            public void onComplete(AsyncEvent event) {}

            @Override
            public void onError(AsyncEvent event) {}

            @Override
            public void onStartAsync(AsyncEvent event) {}
        });
    }
}
