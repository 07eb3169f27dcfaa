// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.requests.servlet;

import jakarta.servlet.ServletContainerInitializer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.ErrorPage;
import org.eclipse.jetty.ee11.servlet.ErrorPageErrorHandler;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** A servlet container in this process, on 127.0.0.1, with one web application. Closing it waits for its threads. */
interface Container extends AutoCloseable {
    int port();

    @Override
    void close() throws IOException;

    /** Something that ends a container. */
    interface End {
        void run() throws Exception;
    }

    private static void end(End end) throws IOException {
        try {
            end.run();
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    enum Kind {
        TOMCAT, JETTY;

        /** Starts one with one context. An error page, if there is one, answers 418 and 500. */
        Container start(ServletContainerInitializer application, String errorPage, boolean virtualThreads) throws Exception {
            return this == TOMCAT ? tomcat(application, errorPage, virtualThreads, null) : jetty(application, errorPage, virtualThreads);
        }
    }

    /** With an executor for its connector, or its own. */
    static Container tomcat(ServletContainerInitializer application, String errorPage, boolean virtualThreads, Executor executor) throws Exception {
        Tomcat tomcat = new Tomcat();
        Path directory = Files.createTempDirectory("lull-requests-tomcat");
        tomcat.setBaseDir(directory.toString());
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setThrowOnFailure(true);
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("maxThreads", "4");
        connector.setProperty("maxKeepAliveRequests", "-1");
        connector.setProperty("useVirtualThreads", "" + virtualThreads);
        if (executor != null) {
            connector.getProtocolHandler().setExecutor(executor);
        }
        tomcat.setConnector(connector);
        StandardContext context = (StandardContext) tomcat.addContext("", null);
        context.setClearReferencesRmiTargets(false);
        context.setClearReferencesThreadLocals(false);
        context.addServletContainerInitializer(application, null);
        if (errorPage != null) {
            for (int status : new int[] {418, 500}) {
                ErrorPage page = new ErrorPage();
                page.setErrorCode(status);
                page.setLocation(errorPage);
                context.addErrorPage(page);
            }
        }
        tomcat.start();
        return new Container() {
            @Override
            public int port() {
                return tomcat.getConnector().getLocalPort();
            }

            @Override
            public void close() throws IOException {
                end(() -> {
                    tomcat.stop();
                    tomcat.destroy();
                });
                System.clearProperty("catalina.home");
                System.clearProperty("catalina.base");
                try (Stream<Path> files = Files.walk(directory)) {
                    for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                        Files.delete(file);
                    }
                }
            }
        };
    }

    private static Container jetty(ServletContainerInitializer application, String errorPage, boolean virtualThreads) throws Exception {
        QueuedThreadPool threads = new QueuedThreadPool(8);
        if (virtualThreads) {
            threads.setVirtualThreadsExecutor(org.eclipse.jetty.util.VirtualThreads.getDefaultVirtualThreadsExecutor());
        }
        Server server = new Server(threads);
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/", ServletContextHandler.SESSIONS);
        context.addServletContainerInitializer(application);
        if (errorPage != null) {
            ErrorPageErrorHandler pages = new ErrorPageErrorHandler();
            pages.addErrorPage(418, errorPage);
            pages.addErrorPage(500, errorPage);
            context.setErrorHandler(pages);
        }
        server.setHandler(context);
        server.start();
        return new Container() {
            @Override
            public int port() {
                return connector.getLocalPort();
            }

            @Override
            public void close() throws IOException {
                end(server::stop);
            }
        };
    }
}
