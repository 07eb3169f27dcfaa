// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.requests.servlet;

import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import lull.LullJvm;
import lull.Requests;
import org.junit.jupiter.api.Test;

/** Tomcat on the JVM that LULL_JAVA names. Each request leaves 1 MB of garbage. */
class LullTomcatTest {
    private static final int CONNECTIONS = 5;
    private static final int REQUESTS = 20;

    static final class Server {
        public static void main(String[] args) throws Exception {
            boolean bracketed = Boolean.parseBoolean(args[0]);
            if (!Requests.heard()) {
                throw new IllegalStateException("this JVM does not link lull.Requests");
            }
            try (Container container = Container.Kind.TOMCAT.start((classes, context) -> {
                context.addServlet("megabyte", new HttpServlet() {
                    @Override
                    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
                        response.getOutputStream().print(LullJvm.megabyte() == 1024 ? "hello" : "wrong");
                    }
                }).addMapping("/");
                if (bracketed) {
                    RequestsFilter.addTo(context);
                }
            }, null, false)) {
                long before = LullJvm.collected();
                LullJvm.serve(container.port());
                LullJvm.report(before);
            }
        }
    }

    private static long localCollections(boolean bracketed) throws Exception {
        try (LullJvm jvm = LullJvm.start(Server.class, bracketed)) {
            int port = jvm.port();
            for (int i = 0; i < CONNECTIONS; i++) {
                RequestsFilterTest.pipeline(port, REQUESTS);
            }
            return jvm.localCollections();
        }
    }

    /** Those of a connection are read at once: the thread waits before the first of them only. */
    @Test
    void aThreadCollectsAtTheEndOfEachRequest() throws Exception {
        int requests = CONNECTIONS * REQUESTS;
        long with = localCollections(true);
        assertTrue(with >= requests * 9 / 10, with + " local collections in " + requests + " requests");
        long without = localCollections(false);
        assertTrue(without <= requests / 2, without + " local collections in " + requests + " requests without the filter");
    }
}
