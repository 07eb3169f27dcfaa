#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# HTTP/1.1 clients of Java that are told *busy* in the middle of an upload: 40 POSTs of 10 MB each, the server answers
# 503 after the header fields, and closes the connection at once or when it has read the rest. On a stock JDK 25.0.3,
# HttpURLConnection and java.net.http; com.squareup.okhttp3:okhttp-jvm 5.5.1,
# org.apache.httpcomponents.client5:httpclient5 5.6.5 without its retries, classic and asynchronous,
# org.eclipse.jetty:jetty-client 12.1.14, io.projectreactor.netty:reactor-netty-http 1.3.1.
#
#   guessed   each has its 503. The JDK's java.net.http, which is the strictest, ends with an IOException where the
#             connection is closed at once
#   seen      503 of 40                  closes at once   reads the rest
#             HttpURLConnection                      40               40
#             java.net.http                    38 to 40               40
#             OkHttp                                 40               40
#             Apache                                  0               40
#             Apache, asynchronous               1 to 4               40
#             Jetty                                   0               40
#             Reactor Netty                           0               40
#             Four of seven end with `Broken pipe`, `Connection reset` or PrematureCloseException at the write, and drop
#             an answer that is there to be read, as the other three do. So a busy server looks like a broken one, its
#             Retry-After is not seen, and what is retried by status is not
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
  echo '<groupId>findings</groupId><artifactId>upload</artifactId><version>1</version><dependencies>'
  dependency com.squareup.okhttp3 okhttp-jvm 5.5.1
  dependency org.apache.httpcomponents.client5 httpclient5 5.6.5
  dependency org.eclipse.jetty jetty-client 12.1.14
  dependency io.projectreactor.netty reactor-netty-http 1.3.1
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Upload.java << 'JAVA'
import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import okhttp3.OkHttpClient;
import org.apache.hc.client5.http.async.methods.SimpleRequestBuilder;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.impl.async.HttpAsyncClients;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.eclipse.jetty.client.BytesRequestContent;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;

public class Upload {
    static final byte[] BODY = new byte[10_000_000];
    static final byte[] BUSY = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".getBytes();

    interface Client {
        /** Sends BODY, and returns the status. */
        int post(String address) throws Exception;
    }

    static void answer(Socket socket, boolean reads) {
        try (socket) {
            var in = socket.getInputStream();
            for (int last = 0; last != 0x0d0a0d0a; ) {
                last = last << 8 | in.read();
            }
            socket.getOutputStream().write(BUSY);
            if (reads) {
                socket.shutdownOutput();
                in.transferTo(java.io.OutputStream.nullOutputStream());
            }
        } catch (IOException e) {
            // the client has gone
        }
    }

    static String serve(boolean reads) throws IOException {
        ServerSocket server = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        Thread.startVirtualThread(() -> {
            while (true) {
                try {
                    Socket socket = server.accept();
                    Thread.startVirtualThread(() -> answer(socket, reads));
                } catch (IOException e) {
                    return;
                }
            }
        });
        return "http://127.0.0.1:" + server.getLocalPort() + "/";
    }

    static Map<String, Client> clients() throws Exception {
        Map<String, Client> all = new LinkedHashMap<>();
        all.put("HttpURLConnection", address -> {
            var connection = (HttpURLConnection) URI.create(address).toURL().openConnection();
            connection.setDoOutput(true);
            connection.setFixedLengthStreamingMode(BODY.length);
            connection.getOutputStream().write(BODY);
            return connection.getResponseCode();
        });
        var jdk = java.net.http.HttpClient.newHttpClient();
        all.put("java.net.http", address -> jdk.send(HttpRequest.newBuilder(URI.create(address))
            .timeout(Duration.ofSeconds(15)).POST(HttpRequest.BodyPublishers.ofByteArray(BODY)).build(),
            HttpResponse.BodyHandlers.discarding()).statusCode());
        var okhttp = new OkHttpClient();
        all.put("OkHttp", address -> {
            var request = new okhttp3.Request.Builder().url(address).post(okhttp3.RequestBody.create(BODY)).build();
            try (var response = okhttp.newCall(request).execute()) {
                return response.code();
            }
        });
        var apache = HttpClients.custom().disableAutomaticRetries().build();
        all.put("Apache", address -> {
            HttpPost post = new HttpPost(address);
            post.setEntity(new ByteArrayEntity(BODY, ContentType.APPLICATION_OCTET_STREAM));
            return apache.execute(post, response -> response.getCode());
        });
        var async = HttpAsyncClients.custom().disableAutomaticRetries().build();
        async.start();
        all.put("Apache, asynchronous", address -> async.execute(SimpleRequestBuilder.post(address)
            .setBody(BODY, ContentType.APPLICATION_OCTET_STREAM).build(), null).get(15, SECONDS).getCode());
        var jetty = new org.eclipse.jetty.client.HttpClient();
        jetty.start();
        all.put("Jetty", address ->
            jetty.POST(address).body(new BytesRequestContent(BODY)).timeout(15, SECONDS).send().getStatus());
        var netty = reactor.netty.http.client.HttpClient.create();
        all.put("Reactor Netty", address -> netty.post().uri(address).send(ByteBufFlux.fromInbound(Mono.just(BODY)))
            .response().block(Duration.ofSeconds(15)).status().code());
        return all;
    }

    static int busy(Client client, String address) {
        int busy = 0;
        for (int i = 0; i < 40; i++) {
            try {
                busy += client.post(address) == 503 ? 1 : 0;
            } catch (Exception e) {
                // another end
            }
        }
        return busy;
    }

    public static void main(String[] args) throws Exception {
        String closes = serve(false);
        String reads = serve(true);
        boolean asSeen = true;
        System.out.println("503 of 40                  closes at once   reads the rest");
        for (var entry : clients().entrySet()) {
            int seen = busy(entry.getValue(), closes);
            int patient = busy(entry.getValue(), reads);
            System.out.printf("%-28s %12d %16d%n", entry.getKey(), seen, patient);
            boolean has = entry.getKey().matches("HttpURLConnection|java.net.http|OkHttp");
            asSeen &= patient == 40 && (has ? seen >= 25 : seen <= 20);
        }
        System.exit(asSeen ? 0 : 1);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Upload.java 2> errors || { cat errors; exit 1; }
"$java/java" --enable-native-access=ALL-UNNAMED -cp 'lib/*:.' Upload 2> errors ||
  { tail -n 3 errors; echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
