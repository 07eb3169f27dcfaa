#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# HTTP/2 clients that are told *busy* in the middle of an upload of 10 MB. After the first DATA frame the server answers
# 503 with END_STREAM and then RST_STREAM with NO_ERROR, as RFC 9113, section 8.1, lets it ask for no more of the body;
# a client must not discard such an answer. java.net.http of a stock JDK 25.0.3, com.squareup.okhttp3:okhttp-jvm 5.3.2,
# org.eclipse.jetty.http2:jetty-http2-client-transport 12.1.5.
#
#   guessed   OkHttp and Jetty have the 503. The JDK's client ends with an IOException that names RST_STREAM
#   seen      the JDK's client and OkHttp have the 503. Jetty's client has none: `EOFException: Stream has been reset`.
#             So a proxy or a retry that is made of it takes a busy server for a broken one
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>busy</artifactId><version>1</version><dependencies><dependency>
<groupId>com.squareup.okhttp3</groupId><artifactId>okhttp-jvm</artifactId><version>5.3.2</version>
</dependency><dependency>
<groupId>org.eclipse.jetty.http2</groupId><artifactId>jetty-http2-client-transport</artifactId><version>12.1.5</version>
</dependency></dependencies></project>
POM
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Busy.java <<'JAVA'
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/** A server that says 503 while the client still uploads, as RFC 9113, 8.1 has it, and clients that upload to it. */
public class Busy {
    static final byte[] UPLOAD = new byte[10 << 20];

    interface Client {
        int status(URI to) throws Exception;
    }

    static void frame(OutputStream out, int type, int flags, int stream, int... payload) throws IOException {
        byte[] bytes = new byte[9 + payload.length];
        bytes[2] = (byte) payload.length;
        bytes[3] = (byte) type;
        bytes[4] = (byte) flags;
        for (int i = 0; i < 4; i++) {
            bytes[5 + i] = (byte) (stream >> 24 - 8 * i);
        }
        for (int i = 0; i < payload.length; i++) {
            bytes[9 + i] = (byte) payload[i];
        }
        out.write(bytes);
        out.flush();
    }

    /** One stream for each connection. Goes on reading what the client sends, as there is room for it in the window. */
    static void serve(Socket connection) {
        try (connection) {
            if (connection instanceof SSLSocket tls) {
                var parameters = tls.getSSLParameters();
                parameters.setApplicationProtocols(new String[] {"h2"});
                tls.setSSLParameters(parameters);
            }
            var in = new DataInputStream(new BufferedInputStream(connection.getInputStream()));
            OutputStream out = connection.getOutputStream();
            in.readFully(new byte[24]);                              // the client's preface
            frame(out, 4, 0, 0);                                     // SETTINGS
            for (boolean answered = false;;) {
                int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
                int type = in.readUnsignedByte();
                int flags = in.readUnsignedByte();
                int stream = in.readInt();
                in.readFully(new byte[length]);
                if (type == 4 && (flags & 1) == 0) {
                    frame(out, 4, 1, 0);                             // SETTINGS, seen
                } else if (type == 0 && !answered) {                 // the first DATA
                    answered = true;
                    frame(out, 1, 5, stream, 8, 3, '5', '0', '3');   // HEADERS, :status 503, END_STREAM
                    frame(out, 3, 0, stream, 0, 0, 0, 0);            // RST_STREAM, NO_ERROR
                }
            }
        } catch (IOException e) {
            // the client has closed the connection
        }
    }

    static int port(ServerSocket server) {
        Thread.ofPlatform().daemon().start(() -> {
            while (true) {
                try {
                    Socket connection = server.accept();
                    Thread.ofPlatform().daemon().start(() -> serve(connection));
                } catch (IOException e) {
                    return;
                }
            }
        });
        return server.getLocalPort();
    }

    static void say(String name, URI to, Client client) {
        String said;
        try {
            said = String.valueOf(client.status(to));
        } catch (Exception e) {
            Throwable cause = e;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            said = cause.getClass().getSimpleName() + ": " + cause.getMessage();
        }
        System.out.println(name + " " + said);
    }

    public static void main(String[] args) throws Exception {
        var keys = KeyStore.getInstance(new java.io.File(args[0]), "changeit".toCharArray());
        var keyManagers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keyManagers.init(keys, "changeit".toCharArray());
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(keys);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(keyManagers.getKeyManagers(), trust.getTrustManagers(), null);
        InetAddress here = InetAddress.getLoopbackAddress();
        int secure = port(tls.getServerSocketFactory().createServerSocket(0, 9, here));
        int plain = port(new ServerSocket(0, 9, here));
        URI tlsUri = URI.create("https://localhost:" + secure + "/");
        URI plainUri = URI.create("http://localhost:" + plain + "/");

        var jdk = java.net.http.HttpClient.newBuilder().sslContext(tls).build();
        say("JDK", tlsUri, to -> jdk.send(HttpRequest.newBuilder(to)
            .POST(HttpRequest.BodyPublishers.ofByteArray(UPLOAD)).timeout(java.time.Duration.ofSeconds(60)).build(),
            HttpResponse.BodyHandlers.discarding()).statusCode());
        var okhttp = new okhttp3.OkHttpClient.Builder().protocols(List.of(okhttp3.Protocol.H2_PRIOR_KNOWLEDGE)).build();
        say("OkHttp", plainUri, to -> {
            var body = okhttp3.RequestBody.create(UPLOAD);
            var request = new okhttp3.Request.Builder().url(to.toURL()).post(body).build();
            try (var response = okhttp.newCall(request).execute()) {
                return response.code();
            }
        });
        var jetty = new org.eclipse.jetty.client.HttpClient(
            new org.eclipse.jetty.http2.client.transport.HttpClientTransportOverHTTP2(
                new org.eclipse.jetty.http2.client.HTTP2Client()));
        jetty.start();
        say("Jetty", plainUri, to -> jetty.newRequest(to).method("POST").timeout(60, TimeUnit.SECONDS)
            .body(new org.eclipse.jetty.client.BytesRequestContent(UPLOAD)).send().getStatus());
        System.exit(0);
    }
}
JAVA
"$java/keytool" -genkeypair -keystore keys -storepass changeit -keyalg EC -dname CN=localhost -ext san=dns:localhost \
  > errors 2>&1 || { cat errors; exit 1; }
"$java/javac" -cp 'lib/*' Busy.java
"$java/java" -cp 'lib/*:.' Busy keys 2> errors | tee seen
[ "$(paste -sd, seen)" = 'JDK 503,OkHttp 503,Jetty EOFException: Stream has been reset' ] ||
  { cat errors; echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
