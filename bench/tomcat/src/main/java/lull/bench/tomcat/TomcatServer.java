// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.tomcat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;
import lull.bench.service.Service;
import lull.bench.util.Directories;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;

/** A Tomcat with one servlet, bound to 127.0.0.1. Its directory is temporary. */
final class TomcatServer implements Service.Running {
    /** Kept, as a logger that nobody refers to forgets its level. */
    private static final Logger LOG = Logger.getLogger("org.apache");

    private final Tomcat tomcat = new Tomcat();
    private final Path directory;

    TomcatServer(ShopServlet servlet, int port, int threads) throws IOException {
        LOG.setLevel(Level.WARNING);
        directory = Files.createTempDirectory("lull-tomcat");
        tomcat.setBaseDir(directory.toString());
        Connector connector = new Connector();
        connector.setPort(port);
        connector.setThrowOnFailure(true);
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("maxThreads", "" + threads);
        connector.setProperty("minSpareThreads", "" + threads);
        // A load's connections persist.
        connector.setProperty("maxKeepAliveRequests", "-1");
        connector.setProperty("keepAliveTimeout", "600000");
        tomcat.setConnector(connector);
        StandardContext context = (StandardContext) tomcat.addContext("", null);
        // The process ends with the service, and these would need JVM flags.
        context.setClearReferencesRmiTargets(false);
        context.setClearReferencesThreadLocals(false);
        Tomcat.addServlet(context, "shop", servlet);
        context.addServletMappingDecoded("/*", "shop");
        try {
            tomcat.start();
        } catch (LifecycleException e) {
            close();
            throw new IOException("Tomcat did not start on port " + port + ": " + rootCause(e), e);
        }
    }

    private static Throwable rootCause(Throwable e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    @Override
    public int port() {
        return tomcat.getConnector().getLocalPort();
    }

    @Override
    public void close() throws IOException {
        try {
            tomcat.stop();
            tomcat.destroy();
        } catch (LifecycleException e) {
            throw new IOException("Tomcat did not stop: " + rootCause(e), e);
        } finally {
            // Tomcat sets them, and another one in this process would make this directory again.
            System.clearProperty("catalina.home");
            System.clearProperty("catalina.base");
            Directories.delete(directory);
        }
    }
}
