#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# A request on a kept-alive connection of a server that stands for 5 s, as in a long pause (a thread stays in a call by
# Linker.Option.critical, so a System.gc() beside it waits with everything stopped). The connections were idle for 4 of
# the 6 s that the server allows when the request, a POST, arrives, soon after the begin of the stop. Stock JDK 25.0.3,
# org.apache.tomcat.embed:tomcat-embed-core 11.0.29, org.eclipse.jetty:jetty-server 12.1.14,
# io.undertow:undertow-core 2.4.4.Final, io.vertx:vertx-core 5.1.0, io.projectreactor.netty:reactor-netty-http 1.3.1.
#
#   guessed   each is answered, late: it arrived before the connection had been idle for 6 s, and lies in the socket.
#             A few may be lost where another thread than the one that reads looks at the clock
#   seen      of 60 POSTs      no stop: answered    a stop of 5 s: connection closed, no answer
#             Tomcat                         60                                         29 to 59
#             Jetty                          60                                          5 to 51
#             Undertow                       60                                         26 to 55
#             Vert.x                         60                                         30 to 59
#             Reactor Netty                  60                                         28 to 47
#             After the stop the timers are due, and the bytes have not been looked at. So the well-known race of a
#             request with the end of its connection, of microseconds otherwise, is as long as the pause, and each
#             connection whose time ends in the pause takes its request along. A client does not repeat a POST by
#             itself. What helps is a client, or proxy, that ends idle connections earlier than the server by more
#             than the longest pause
#
# Needs a JDK 25 (JAVA_HOME), Maven and Python. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
dependency() {
  echo "<dependency><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version></dependency>"
}
{
  echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
  echo '<groupId>findings</groupId><artifactId>idle</artifactId><version>1</version><dependencies>'
  dependency org.apache.tomcat.embed tomcat-embed-core 11.0.29
  dependency org.eclipse.jetty jetty-server 12.1.14
  dependency io.undertow undertow-core 2.4.4.Final
  dependency io.vertx vertx-core 5.1.0
  dependency io.projectreactor.netty reactor-netty-http 1.3.1
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Idle.java << 'JAVA'
import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import org.apache.catalina.startup.Tomcat;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServer;

public class Idle {
    static final int IDLE = 6000;
    static final Linker LINKER = Linker.nativeLinker();
    static final MethodHandle USLEEP = LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow("usleep"),
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT), Linker.Option.critical(false));

    static void sleepInJava() {
        try {
            int result = (int) USLEEP.invokeExact(5_000_000);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Everything stands for 5 s. */
    static void stand() throws Exception {
        Thread holder = Thread.ofPlatform().start(Idle::sleepInJava);
        Thread.sleep(50);
        System.gc();
        holder.join();
    }

    static int tomcat() throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir("tomcat");
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("connectionTimeout", "" + IDLE);
        tomcat.getConnector().setProperty("keepAliveTimeout", "" + IDLE);
        var context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "ok", new HttpServlet() {
            @Override
            protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
                response.getOutputStream().print("ok");
            }
        });
        context.addServletMappingDecoded("/", "ok");
        tomcat.start();
        return tomcat.getConnector().getLocalPort();
    }

    static int jetty() throws Exception {
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setIdleTimeout(IDLE);
        server.addConnector(connector);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                Content.Sink.write(response, true, "ok", callback);
                return true;
            }
        });
        server.start();
        return connector.getLocalPort();
    }

    static int undertow() {
        Undertow undertow = Undertow.builder().setServerOption(UndertowOptions.NO_REQUEST_TIMEOUT, IDLE)
            .addHttpListener(0, "127.0.0.1").setHandler(exchange -> exchange.getResponseSender().send("ok")).build();
        undertow.start();
        return ((java.net.InetSocketAddress) undertow.getListenerInfo().getFirst().getAddress()).getPort();
    }

    static int vertx() {
        return Vertx.vertx().createHttpServer(new HttpServerOptions().setIdleTimeout(IDLE / 1000))
            .requestHandler(request -> request.response().end("ok")).listen(0, "127.0.0.1").await().actualPort();
    }

    static int reactor() {
        return HttpServer.create().port(0).idleTimeout(Duration.ofMillis(IDLE))
            .handle((request, response) -> response.sendString(Mono.just("ok"))).bindNow().port();
    }

    public static void main(String[] args) throws Exception {
        int port = switch (args[0]) {
            case "Tomcat" -> tomcat();
            case "Jetty" -> jetty();
            case "Undertow" -> undertow();
            case "Vert.x" -> vertx();
            default -> reactor();
        };
        System.out.println("listening " + port);
        while (System.in.read() >= 0) {
            stand();
        }
        System.exit(0);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Idle.java 2> errors || { cat errors; exit 1; }
cat > drive.py << 'PYTHON'
# drive.py JAVA: what each server does with its requests; fails if it is not what was seen.
import atexit, select, socket, subprocess, sys, time

REQUEST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"

def answered(connection):
    """Whether there is an answer; not if the connection ends in place of it."""
    data = b""
    try:
        while not data.rstrip().endswith((b"ok", b"ok\r\n0")):
            more = connection.recv(1000)
            if not more: return False
            data += more
    except ConnectionError: return False
    return data.startswith(b"HTTP/1.1 200")

def stands(port):
    """Waits until a request of its own is not answered any more."""
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        with socket.create_connection(("127.0.0.1", port), timeout=0.2) as connection:
            connection.sendall(REQUEST)
            try: answered(connection)
            except TimeoutError: return
        time.sleep(0.02)
    raise SystemExit("does not stand")

def requests(port, stop=None):
    """30 POSTs on 30 connections that were idle for 4 s: how many have no answer."""
    connections = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(30)]
    for connection in connections: connection.sendall(REQUEST)
    if not all(answered(connection) for connection in connections): raise SystemExit("no answer at the begin")
    begin = time.monotonic()
    time.sleep(3.6)
    if stop:
        stop()
        stands(port)
    time.sleep(max(0, begin + 4 - time.monotonic()))
    alive = all(not select.select([connection], [], [], 0)[0] for connection in connections)
    for connection in connections: connection.sendall(REQUEST)
    late = time.monotonic() - begin > 5
    lost = sum(not answered(connection) for connection in connections)
    for connection in connections: connection.close()
    return lost if alive and not late else requests(port, stop)  # a busy machine: once more

def server(name):
    process = subprocess.Popen([sys.argv[1], "-Xmx200m", "--enable-native-access=ALL-UNNAMED", "-cp", "lib/*:.", "Idle",
                                name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    atexit.register(process.kill)
    while not (line := process.stdout.readline()).startswith(b"listening"):
        if not line: raise SystemExit(f"{name} ends")
    def stop():
        process.stdin.write(b"s")
        process.stdin.flush()
    port = int(line.split()[1])
    lost = [sum(requests(port, begin) for _ in range(2)) for begin in (None, stop)]
    process.kill()
    return lost

bad = False
print("of 60 POSTs      no stop: answered    a stop of 5 s: connection closed, no answer")
for name in "Tomcat", "Jetty", "Undertow", "Vert.x", "Reactor Netty":
    calm, stopped = server(name)
    print(f"{name:14} {60 - calm:20} {stopped:34}", flush=True)
    bad |= calm > 0 or stopped < (1 if name == "Jetty" else 6)
sys.exit(bad)
PYTHON
python3 drive.py "$java/java" || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
