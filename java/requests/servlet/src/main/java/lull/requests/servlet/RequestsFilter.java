// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.requests.servlet;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.EnumSet;
import lull.Requests;

/**
 * Brackets each dispatch of a servlet container with {@link Requests#begin} and {@link Requests#end}. Put it first.
 *
 * <p>A request has as many brackets as it has dispatches, each on the thread of its dispatch: one if it is answered synchronously, also
 * if it is then completed by another thread; one more if another thread dispatches it back to the container, and one more if an error
 * page answers it. Threads that are not the container's are not bracketed.
 *
 * <p>Containers send the end of a short answer only after all filters have returned. So that no client waits for a collection, the filter
 * closes the answer before {@code end}, as the container would just after it. It does so in Tomcat and Jetty, whose ways it knows,
 * unless the dispatch has failed, has an error status without being an error page, goes on asynchronously, comes through a filter
 * that has wrapped the response, or has a session, which a container may save after all filters, and before the client comes again. Tomcat keeps
 * redirects and what was forwarded, too. What else the container does after all filters, as to write its access log, a client no longer waits for. The
 * init parameter {@code close} set to {@code false} keeps it from that.
 *
 * <p>On a JVM without Lull, and on virtual threads, which are not heard, it does nothing.
 */
public final class RequestsFilter implements Filter {
    /** Of {@link #addTo}. */
    public static final String NAME = "lullRequests";

    /** The name of the init parameter that says whether answers are closed before the request's end. */
    public static final String CLOSE = "close";

    private boolean close;

    /**
     * Registers a filter before all that web.xml declares, for all paths and all kinds of dispatch that matter.
     *
     * @param context not yet initialised
     */
    public static void addTo(ServletContext context) {
        FilterRegistration.Dynamic filter = context.addFilter(NAME, new RequestsFilter());
        if (filter != null) {   // else web.xml has one of this name
            filter.setAsyncSupported(true);
            filter.addMappingForUrlPatterns(dispatches(), false, "/*");
        }
    }

    /**
     * The kinds of dispatch that start a request on a thread; the others happen within one.
     *
     * @return a set of the caller's own
     */
    public static EnumSet<DispatcherType> dispatches() {
        return EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC, DispatcherType.ERROR);
    }

    @Override
    public void init(FilterConfig config) {
        String server = config.getServletContext().getServerInfo();
        // Elsewhere isAsyncStarted may be false as soon as another thread has dispatched, and closing would cut the answer off.
        boolean known = server != null && (server.startsWith("Apache Tomcat/") || server.startsWith("jetty/"));
        close = known && !"false".equals(config.getInitParameter(CLOSE));
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
        if (!Requests.heard()) {
            chain.doFilter(request, response);
            return;
        }
        Requests.begin();
        try {
            chain.doFilter(request, response);
            if (close && isComplete(request, response)) {
                close(response);
            }
        } finally {
            Requests.end();
        }
    }

    /** Whether the container would do nothing more for the client than to close the answer. */
    private static boolean isComplete(ServletRequest request, ServletResponse response) {
        return !request.isAsyncStarted()
                && dispatches().contains(request.getDispatcherType())
                // The container's own response is no wrapper: nobody is outside who has an answer to finish.
                && !(response instanceof ServletResponseWrapper)
                && response instanceof HttpServletResponse answer
                && request instanceof HttpServletRequest question && !mayHaveSession(question)
                // 101: the connection is another protocol's now. From 400 on an error page may follow.
                && answer.getStatus() >= 200 && (answer.getStatus() < 400 || request.getDispatcherType() == DispatcherType.ERROR);
    }

    /** Of one that the client names it does not ask: to look at a session is to use it, for as long as it then lives. */
    private static boolean mayHaveSession(HttpServletRequest request) {
        return request.getRequestedSessionId() != null || request.getSession(false) != null;
    }

    private static void close(ServletResponse response) {
        try {
            try {
                response.getOutputStream().close();
            } catch (IllegalStateException e) {
                response.getWriter().close();   // that is what was used
            }
        } catch (IOException e) {
            // The client has gone. The container finds that, too.
        }
    }
}
