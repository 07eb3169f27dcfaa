#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What HTTP/2 clients hold for answers that are open and not read yet, as with a consumer that is slower than its
# server: 20 answers of 30 MB, as streams, on one connection; then one more GET of two bytes, with 5 s of time.
# java.net.http of a stock JDK 25.0.3, com.squareup.okhttp3:okhttp-jvm 5.5.1,
# org.eclipse.jetty.http2:jetty-http2-client-transport 12.1.14.
#
#   guessed   each holds what its window of the connection permits, 16 or 32 MB, however many answers are open; the
#             small GET is answered, as streams do not wait for each other
#   seen                  MB held    small GET
#             JDK              34    no answer
#             Jetty            17    no answer
#             OkHttp          360    answered
#             With the JDK's client and Jetty's the unread answers use up the window of the connection, and neither
#             opens a second one. So a few slow readers stop every other request of the client to that server. OkHttp
#             gives the connection its window back as soon as bytes come, so nobody waits, and only the window of a
#             stream is a bound: 16 MB of heap and more for each answer that is open
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
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
  echo '<groupId>findings</groupId><artifactId>unread</artifactId><version>1</version><dependencies>'
  dependency com.squareup.okhttp3 okhttp-jvm 5.5.1
  dependency org.eclipse.jetty.http2 jetty-http2-client-transport 12.1.14
  dependency org.eclipse.jetty.http2 jetty-http2-server 12.1.14
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Unread.java <<'JAVA'
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import org.eclipse.jetty.client.InputStreamResponseListener;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.client.transport.HttpClientTransportOverHTTP2;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

public class Unread {
    static final int ANSWERS = 20;
    static final List<Object> OPEN = new ArrayList<>();

    interface Client {
        /** Opens an answer and returns its stream. */
        Object open(String address) throws Exception;

        /** Reads a small answer, within 5 s. */
        String read(String address) throws Exception;
    }

    static Client jdk() {
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
        return new Client() {
            HttpRequest to(String address) {
                return HttpRequest.newBuilder(URI.create(address)).timeout(Duration.ofSeconds(5)).build();
            }

            @Override
            public Object open(String address) throws Exception {
                return client.send(to(address), HttpResponse.BodyHandlers.ofInputStream()).body();
            }

            @Override
            public String read(String address) throws Exception {
                var answer = client.sendAsync(to(address), HttpResponse.BodyHandlers.ofString());
                return answer.get(5, TimeUnit.SECONDS).body();
            }
        };
    }

    static Client okhttp() {
        OkHttpClient client = new OkHttpClient.Builder().protocols(List.of(Protocol.H2_PRIOR_KNOWLEDGE)).build();
        return new Client() {
            okhttp3.Call to(String address) {
                return client.newCall(new okhttp3.Request.Builder().url(address).build());
            }

            @Override
            public Object open(String address) throws Exception {
                return to(address).execute();
            }

            @Override
            public String read(String address) throws Exception {
                okhttp3.Call call = to(address);
                call.timeout().timeout(5, TimeUnit.SECONDS);
                try (var answer = call.execute()) {
                    return answer.body().string();
                }
            }
        };
    }

    static Client jetty() throws Exception {
        var client = new org.eclipse.jetty.client.HttpClient(new HttpClientTransportOverHTTP2(new HTTP2Client()));
        client.start();
        return new Client() {
            @Override
            public Object open(String address) throws Exception {
                InputStreamResponseListener listener = new InputStreamResponseListener();
                client.newRequest(address).send(listener);
                listener.get(20, TimeUnit.SECONDS);
                return listener.getInputStream();
            }

            @Override
            public String read(String address) throws Exception {
                return client.newRequest(address).timeout(5, TimeUnit.SECONDS).send().getContentAsString();
            }
        };
    }

    static int serve() throws Exception {
        Server server = new Server();
        HttpConfiguration http = new HttpConfiguration();
        ServerConnector connector = new ServerConnector(server, new HttpConnectionFactory(http),
            new HTTP2CServerConnectionFactory(http));
        server.addConnector(connector);
        byte[] part = new byte[60_000];
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                if (request.getHttpURI().getPath().equals("/small")) {
                    Content.Sink.write(response, true, "ok", callback);
                    return true;
                }
                try (OutputStream out = Content.Sink.asOutputStream(response)) {
                    for (int i = 0; i < 500; i++) {
                        out.write(part);
                    }
                } catch (IOException e) {
                    // the client has ended
                }
                callback.succeeded();
                return true;
            }
        });
        server.start();
        return connector.getLocalPort();
    }

    static long alive() throws Exception {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(300);
            long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
            for (var pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
                used += pool.getName().equals("direct") ? pool.getMemoryUsed() : 0;
            }
            least = Math.min(least, used);
        }
        return least;
    }

    public static void main(String[] args) throws Exception {
        String server = "http://127.0.0.1:" + serve();
        Client client = args[0].equals("jdk") ? jdk() : args[0].equals("okhttp") ? okhttp() : jetty();
        client.read(server + "/small");
        long before = alive();
        for (int i = 0; i < ANSWERS; i++) {
            OPEN.add(client.open(server + "/large"));
        }
        Thread.sleep(5000);
        long held = alive() - before;
        String small = "answered";
        try {
            client.read(server + "/small");
        } catch (Exception e) {
            small = e.getClass().getSimpleName();
        }
        System.out.printf("%d %s%n", held / 1_000_000, small);
        System.exit(OPEN.size() == ANSWERS ? 0 : 1);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Unread.java 2> errors || { cat errors; exit 1; }
run() { "$java/java" -Xmx1500m -cp 'lib/*:.' Unread "$1" 2> errors || { cat errors; exit 1; }; }
say() { printf '%-8s MB held for 20 answers %4s, small GET: %s\n' "$@"; }
read -r -a jdk <<< "$(run jdk)"
say JDK "${jdk[@]}"
read -r -a jetty <<< "$(run jetty)"
say Jetty "${jetty[@]}"
read -r -a okhttp <<< "$(run okhttp)"
say OkHttp "${okhttp[@]}"
((jdk[0] < 60 && jetty[0] < 60 && okhttp[0] > 250)) && [[ ${jdk[1]} == Timeout* && ${jetty[1]} == Timeout* &&
  ${okhttp[1]} == answered ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
