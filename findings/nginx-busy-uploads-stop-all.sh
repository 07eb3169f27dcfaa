#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Uploads that a busy service turns away, behind nginx 1.22.1 (Debian's): two servers in an `upstream` as it comes, each
# of which answers a POST of 10 MB with 503 and does not read it, and a GET with 200. After each POST comes a GET.
# org.eclipse.jetty:jetty-server 12.1.14, io.helidon.webserver:helidon-webserver 4.5.0,
# jdk.httpserver of a stock JDK 25.0.3, org.apache.tomcat.embed:tomcat-embed-core 11.0.29.
#
#   guessed   the client of a POST has its 503, and each GET is answered
#   seen                               uploads until no GET is answered
#             Jetty                    2 to 8
#             Helidon                  2 to 4
#             jdk.httpserver           2 to 9
#             Tomcat                   20 to 35
#             Jetty, max_fails=0       none of 60
#             Many of the POSTs are a 502, as the servers close with the body unread, and nginx ends at the failed
#             write. For nginx each of these is a failure of the server, and one takes it out for 10 s (max_fails=1); a
#             503 that it has read does not. With both out each GET is a 502, `no live upstreams`, for 10 s, though both
#             servers serve. So turning a few uploads away stops the service for everybody
#
# Needs a JDK 25 (JAVA_HOME), Maven, Python, and apt of Debian. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download nginx > apt.log 2>&1
dpkg -x nginx_1.22.1-*.deb .
dependency() {
  echo "<dependency><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version></dependency>"
}
{
  echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
  echo '<groupId>findings</groupId><artifactId>busy</artifactId><version>1</version><dependencies>'
  dependency org.eclipse.jetty jetty-server 12.1.14
  dependency io.helidon.webserver helidon-webserver 4.5.0
  dependency org.apache.tomcat.embed tomcat-embed-core 11.0.29
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Busy.java << 'JAVA'
import com.sun.net.httpserver.HttpServer;
import io.helidon.webserver.WebServer;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import org.apache.catalina.startup.Tomcat;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

public class Busy {
    static int status(String method) {
        return method.equals("POST") ? 503 : 200;
    }

    static int jetty() throws Exception {
        Server server = new Server(0);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                response.setStatus(status(request.getMethod()));
                Content.Sink.write(response, true, "ok", callback);
                return true;
            }
        });
        server.start();
        return ((ServerConnector) server.getConnectors()[0]).getLocalPort();
    }

    static int helidon() {
        return WebServer.builder().host("127.0.0.1").routing(routing -> routing.any("/*", (request, response) ->
            response.status(status(request.prologue().method().text())).send("ok"))).build().start().port();
    }

    static int jdk() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 100);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(status(exchange.getRequestMethod()), 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.start();
        return server.getAddress().getPort();
    }

    static int tomcat(int number) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir("tomcat" + number);
        tomcat.setPort(0);
        var context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "busy", new HttpServlet() {
            @Override
            protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
                response.setStatus(status(request.getMethod()));
                response.getOutputStream().print("ok");
            }
        });
        context.addServletMappingDecoded("/", "busy");
        tomcat.getConnector();
        tomcat.start();
        return tomcat.getConnector().getLocalPort();
    }

    public static void main(String[] args) throws Exception {
        String ports = "";
        for (int i = 0; i < 2; i++) {
            ports += " " + switch (args[0]) {
                case "jetty" -> jetty();
                case "helidon" -> helidon();
                case "jdk" -> jdk();
                default -> tomcat(i);
            };
        }
        System.out.println("listening" + ports);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Busy.java 2> errors || { cat errors; exit 1; }
cat > drive.py << 'PYTHON'
# drive.py JAVA: prints what came of it for each server; fails if it is not what was seen.
import os, socket, subprocess, sys, threading, time

def ask(port, method, size=0):
    """A client that reads while it sends; the status of the answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        def send():
            try:
                connection.sendall(f"{method} / HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n".encode())
                connection.sendall(bytes(size))
            except OSError: pass
        sender = threading.Thread(target=send)
        sender.start()
        try: status = int((connection.recv(1000).decode().split(" ") + ["0", "0"])[1])
        except OSError: status = 0
        try: connection.shutdown(socket.SHUT_RDWR)
        except OSError: pass
        sender.join()
        return status

def nginx(upstreams, options):
    with socket.create_server(("127.0.0.1", 0)) as free: port = free.getsockname()[1]
    here, servers = os.getcwd(), " ".join(f"server 127.0.0.1:{one}{options};" for one in upstreams)
    temporary = "".join(f"{kind}_temp_path {here}/temp-{kind}; " for kind in ("proxy", "fastcgi", "uwsgi", "scgi"))
    with open("nginx.conf", "w") as file: file.write(f"""daemon off; master_process off; pid {here}/pid;
        events {{}} http {{ access_log off; client_max_body_size 20m; proxy_http_version 1.1; {temporary}
        client_body_temp_path {here}/temp-body; upstream two {{ {servers} }}
        server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://two; }} }} }}""")
    process = subprocess.Popen(["usr/sbin/nginx", "-p", here, "-c", here + "/nginx.conf", "-e", here + "/nginx.log"])
    for _ in range(100):
        try: socket.create_connection(("127.0.0.1", port)).close()
        except OSError: time.sleep(0.1)
        else: return process, port

bad = False
print(" " * 23, "503 of 20, direct   uploads until no GET is answered   502 of 20 GETs   a GET 11 s later")
for server, options in (("jetty", ""), ("helidon", ""), ("jdk", ""), ("tomcat", ""), ("jetty", " max_fails=0")):
    java = subprocess.Popen([sys.argv[1], "-Xmx200m", "-cp", "lib/*:.", "Busy", server], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True)
    while not (line := java.stdout.readline()).startswith("listening"): assert line
    upstreams = line.split()[1:]
    proxy, port = nginx(upstreams, options)
    try:
        direct = [ask(int(upstreams[0]), "POST", 10_000_000) for _ in range(20)].count(503)
        uploads, answered = 0, True
        while answered and uploads < 60:
            ask(port, "POST", 10_000_000)
            uploads += 1
            answered = ask(port, "GET") == 200
        gets = []
        for _ in range(20):
            gets.append(ask(port, "GET"))
            time.sleep(0.1)
        time.sleep(0 if answered else 11)
        later = ask(port, "GET")
    finally:
        proxy.terminate()
        proxy.wait()
        java.kill()
    many = "none of 60" if answered else uploads
    print(f"{server + options:24} {direct:17} {many:>34} {gets.count(502):16} {later:18}", flush=True)
    stops = server != "tomcat" and not options
    bad |= direct != 20 or later != 200 or (stops and (answered or gets.count(502) < 18))
    bad |= options != "" and not answered
sys.exit(bad)
PYTHON
python3 drive.py "$java/java" || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
