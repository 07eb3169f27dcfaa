#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What a WebSocket session costs that has sent one message of one byte and is idle, when messages may be large: the
# default, and ServerContainer.setDefaultMaxTextMessageBufferSize(1 << 20), as Spring's maxTextMessageBufferSize sets
# it, too. org.apache.tomcat.embed:tomcat-embed-websocket 11.0.27 and
# org.eclipse.jetty.ee11.websocket:jetty-ee11-websocket-jakarta-server 12.1.14, on a stock JDK 25.0.3; 50 sessions.
#
#   guessed   a larger maximum costs less than 50 KB more, as nothing large is sent
#   seen      KB of heap for each idle session       by default       a maximum of 1 MB
#             Tomcat                                   72 to 115                  2,130
#             Jetty                                    8 to 12                      12
#             To the specification it is the most that is buffered. Tomcat takes the whole buffer for each session when
#             it is opened, of chars of two bytes, and keeps it: 1,000 idle clients hold 2 GB. Jetty's grows with what
#             comes
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# libraries DIRECTORY GROUP ARTIFACT VERSION
libraries() {
  mkdir "$1"
  {
    echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
    echo '<groupId>findings</groupId><artifactId>sessions</artifactId><version>1</version><dependencies><dependency>'
    echo "<groupId>$2</groupId><artifactId>$3</artifactId><version>$4</version>"
    echo '</dependency></dependencies></project>'
  } > "$1/pom.xml"
  mvn -q -B -f "$1/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=lib > errors 2>&1 ||
    { cat errors; exit 1; }
}
libraries tomcat org.apache.tomcat.embed tomcat-embed-websocket 11.0.27
libraries jetty org.eclipse.jetty.ee11.websocket jetty-ee11-websocket-jakarta-server 12.1.14
cat > Sessions.java << 'JAVA'
import jakarta.websocket.Endpoint;
import jakarta.websocket.EndpointConfig;
import jakarta.websocket.Session;
import jakarta.websocket.server.ServerContainer;
import jakarta.websocket.server.ServerEndpointConfig;
import java.io.DataInputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

public class Sessions {
    static final int SESSIONS = 50;

    /** Sends back what comes. */
    public static class Echo extends Endpoint {
        @Override
        public void onOpen(Session session, EndpointConfig config) {
            session.addMessageHandler(String.class, text -> session.getAsyncRemote().sendText(text));
        }
    }

    /** Starts a server on the loopback device, and says its port. */
    interface Server {
        int start(Consumer<ServerContainer> configure) throws Exception;
    }

    static long used() throws Exception {
        System.gc();
        Thread.sleep(200);
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    static Socket open(int port) throws Exception {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.getOutputStream().write(("GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
            + "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n")
            .getBytes());
        DataInputStream in = new DataInputStream(socket.getInputStream());
        String head = "";
        while (!head.endsWith("\r\n\r\n")) {
            head += (char) in.readUnsignedByte();
        }
        if (!head.startsWith("HTTP/1.1 101")) {
            throw new AssertionError(head);
        }
        socket.getOutputStream().write(new byte[] {(byte) 0x81, (byte) 0x81, 0, 0, 0, 0, 'x'});
        in.readFully(new byte[3]);
        return socket;
    }

    /** Sessions SERVER [MAXIMUM]: the KB of heap for each session. */
    public static void main(String[] args) throws Exception {
        Server server = (Server) Class.forName(args[0]).getConstructor().newInstance();
        int port = server.start(container -> {
            if (args.length > 1) {
                container.setDefaultMaxTextMessageBufferSize(Integer.parseInt(args[1]));
            }
            try {
                container.addEndpoint(ServerEndpointConfig.Builder.create(Echo.class, "/ws").build());
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        List<Socket> sockets = new ArrayList<>();
        sockets.add(open(port));
        long before = used();
        for (int i = 0; i < SESSIONS; i++) {
            sockets.add(open(port));
        }
        System.out.println((used() - before) / 1000 / SESSIONS);
        System.exit(0);
    }
}
JAVA
cat > OfTomcat.java << 'JAVA'
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.websocket.server.ServerContainer;
import java.io.File;
import java.util.function.Consumer;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.websocket.server.WsSci;

public class OfTomcat implements Sessions.Server {
    public int start(Consumer<ServerContainer> configure) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(new File("base").getAbsolutePath());
        tomcat.setPort(0);
        tomcat.setHostname("127.0.0.1");
        var context = tomcat.addContext("", null);
        context.addServletContainerInitializer(new WsSci(), null);
        context.addServletContainerInitializer((classes, servlets) ->
            configure.accept((ServerContainer) servlets.getAttribute(ServerContainer.class.getName())), null);
        Tomcat.addServlet(context, "none", new jakarta.servlet.http.HttpServlet() { });
        context.addServletMappingDecoded("/", "none");
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        tomcat.start();
        return tomcat.getConnector().getLocalPort();
    }
}
JAVA
cat > OfJetty.java << 'JAVA'
import jakarta.websocket.server.ServerContainer;
import java.util.function.Consumer;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.websocket.jakarta.server.config.JakartaWebSocketServletContainerInitializer;
import org.eclipse.jetty.server.ServerConnector;

public class OfJetty implements Sessions.Server {
    public int start(Consumer<ServerContainer> configure) throws Exception {
        var server = new org.eclipse.jetty.server.Server();
        var connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        var context = new ServletContextHandler("/");
        server.setHandler(context);
        JakartaWebSocketServletContainerInitializer.configure(context,
            (servlets, container) -> configure.accept(container));
        server.start();
        return connector.getLocalPort();
    }
}
JAVA
"$java/javac" -nowarn -d tomcat -cp 'tomcat/lib/*' Sessions.java OfTomcat.java 2> errors || { cat errors; exit 1; }
"$java/javac" -nowarn -d jetty -cp 'jetty/lib/*' Sessions.java OfJetty.java 2> errors || { cat errors; exit 1; }
bad=0
printf '%-34s %12s %12s\n' 'KB for each idle session' 'default' '1 MB'
# row DIRECTORY SERVER LEAST MOST: the KB that the larger maximum costs more are in these bounds
row() {
  local kb=()
  for most in '' 1048576; do
    "$java/java" -XX:+UseSerialGC -Xmx600m -cp "$1/lib/*:$1" Sessions "$2" ${most:+"$most"} > said 2> errors ||
      { cat errors; exit 1; }
    kb+=("$(tail -n 1 said)")
  done
  printf '%-34s %12d %12d\n' "$1" "${kb[@]}"
  ((kb[1] - kb[0] >= $3 && kb[1] - kb[0] <= $4)) || bad=1
}
row tomcat OfTomcat 2000 2200
row jetty OfJetty -20 50
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
