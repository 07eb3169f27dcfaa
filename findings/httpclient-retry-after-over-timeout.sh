#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Apache's org.apache.httpcomponents.client5:httpclient5 5.6.5 as it comes, classic and asynchronous, on a stock JDK
# 25.0.3: one POST with a response timeout of 10 s to a server that is busy, 503 with `Retry-After: 20`.
#
#   guessed   a POST is not sent again, as it is not idempotent; at most the 503 is there within the 10 s
#   seen      the 503 is there after 20 s and more: the client waits as long as the server says, past its own
#             response timeout, and sends the POST a second time. Of the classic one the caller's thread waits, too. So
#             each Retry-After of a busy server is time that its clients' threads stand still
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>waits</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.httpcomponents.client5</groupId><artifactId>httpclient5</artifactId><version>5.6.5</version>
</dependency></dependencies></project>
POM
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Waits.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hc.client5.http.async.methods.SimpleHttpRequest;
import org.apache.hc.client5.http.async.methods.SimpleRequestBuilder;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.async.CloseableHttpAsyncClient;
import org.apache.hc.client5.http.impl.async.HttpAsyncClients;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.StringEntity;

public class Waits {
    static final RequestConfig CONFIG = RequestConfig.custom().setResponseTimeout(10, TimeUnit.SECONDS).build();

    static int classic(String uri) throws Exception {
        try (CloseableHttpClient client = HttpClients.createDefault()) {
            HttpPost post = new HttpPost(uri);
            post.setConfig(CONFIG);
            post.setEntity(new StringEntity("hello"));
            return client.execute(post, response -> response.getCode());
        }
    }

    static int async(String uri) throws Exception {
        try (CloseableHttpAsyncClient client = HttpAsyncClients.createDefault()) {
            client.start();
            SimpleHttpRequest post = SimpleRequestBuilder.post(uri).setBody("hello", ContentType.TEXT_PLAIN).build();
            post.setConfig(CONFIG);
            return client.execute(post, null).get().getCode();
        }
    }

    /** Prints for each client the status, how often the server has the POST, and the whole seconds. */
    public static void main(String[] args) throws Exception {
        AtomicInteger posts = new AtomicInteger();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            posts.incrementAndGet();
            exchange.getResponseHeaders().set("Retry-After", "20");
            exchange.sendResponseHeaders(503, -1);
            exchange.close();
        });
        server.start();
        String uri = "http://127.0.0.1:" + server.getAddress().getPort() + "/";
        try {
            for (int i = 0; i < 2; i++) {
                posts.set(0);
                long begin = System.nanoTime();
                int status = i == 0 ? classic(uri) : async(uri);
                System.out.println(status + " " + posts + " " + (System.nanoTime() - begin) / 1_000_000_000);
            }
        } finally {
            server.stop(0);
        }
    }
}
JAVA
"$java/javac" -cp "lib/*" Waits.java
bad=0
"$java/java" -cp "lib/*:." Waits > waits 2> errors || { cat errors; exit 1; }
[[ $(wc -l < waits) == 2 ]] || bad=1
while read -r status posts seconds; do
  echo "status $status after $posts POSTs and $seconds s"
  ((status == 503 && posts == 2 && seconds >= 20)) || bad=1
done < waits
((bad == 0)) || { echo "changed" >&2; exit 1; }
echo "as seen"
