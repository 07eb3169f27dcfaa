#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Apache HttpClient's two clients of HTTP/2, told 503 with END_STREAM at the head of a POST, as RFC 9113, 8.1, lets a
# server answer, or behind its end. The body is 5 bytes of a stream, which come a second after the head. The connection
# stays, and so does room in its windows. org.apache.httpcomponents.client5:httpclient5 5.6.5, the asynchronous client
# and its facade that blocks (HttpAsyncClients.classic), with a timeout of 6 s.
#
#   guessed   both give the 503 to their caller, both times
#   seen      the asynchronous client gives the 503 both times, the facade only behind the end. At the head it ends with
#             InterruptedIOException "Timeout blocked waiting for output" after its whole timeout: it waits until its
#             buffer has been written, which nobody does any more. So a caller waits as long as it may for an answer that
#             was there at once, and does not learn that nothing was done. The same was seen with a body that is there
#             at once
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>early</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.httpcomponents.client5</groupId><artifactId>httpclient5</artifactId><version>5.6.5</version>
</dependency></dependencies></project>
POM
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Early.java <<'JAVA'
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.hc.client5.http.async.methods.SimpleResponseConsumer;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.config.TlsConfig;
import org.apache.hc.client5.http.impl.async.CloseableHttpAsyncClient;
import org.apache.hc.client5.http.impl.async.HttpAsyncClients;
import org.apache.hc.client5.http.impl.nio.PoolingAsyncClientConnectionManagerBuilder;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.InputStreamEntity;
import org.apache.hc.core5.http.nio.support.AsyncRequestBuilder;
import org.apache.hc.core5.http.nio.support.classic.AbstractClassicEntityProducer;
import org.apache.hc.core5.http2.HttpVersionPolicy;
import org.apache.hc.core5.util.Timeout;

/** A server of HTTP/2 that says 503 at the head of each request, and reads on; and clients whose bodies come later. */
public class Early {
    interface Client {
        int status(String to) throws Exception;
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

    static void serve(Socket connection, boolean atHead) {
        try (connection) {
            var in = new DataInputStream(new BufferedInputStream(connection.getInputStream()));
            OutputStream out = connection.getOutputStream();
            in.readFully(new byte[24]);                              // the client's preface
            frame(out, 4, 0, 0);                                     // SETTINGS
            while (true) {
                int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
                int type = in.readUnsignedByte();
                int flags = in.readUnsignedByte();
                int stream = in.readInt();
                in.readFully(new byte[length]);
                if (type == 4 && (flags & 1) == 0) {
                    frame(out, 4, 1, 0);                             // SETTINGS, seen
                } else if (atHead ? type == 1 : type < 2 && (flags & 1) != 0) {
                    frame(out, 1, 5, stream, 8, 3, '5', '0', '3');   // HEADERS, :status 503, END_STREAM
                }
            }
        } catch (IOException e) {
            // the client has closed the connection
        }
    }

    /** Five bytes, a second later. */
    static InputStream later() {
        return new InputStream() {
            private ByteArrayInputStream bytes;

            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0];
            }

            @Override
            public int read(byte[] to, int at, int most) throws IOException {
                if (bytes == null) {
                    try {
                        Thread.sleep(1000);
                    } catch (InterruptedException e) {
                        throw new IOException(e);
                    }
                    bytes = new ByteArrayInputStream("hello".getBytes());
                }
                return bytes.read(to, at, most);
            }
        };
    }

    static CloseableHttpAsyncClient client() {
        CloseableHttpAsyncClient client = HttpAsyncClients.custom().disableAutomaticRetries()
                .setConnectionManager(PoolingAsyncClientConnectionManagerBuilder.create()
                        .setDefaultTlsConfig(TlsConfig.custom().setVersionPolicy(HttpVersionPolicy.FORCE_HTTP_2).build()).build())
                .build();
        client.start();
        return client;
    }

    static void say(String name, String to, Client client) {
        String said;
        try {
            said = String.valueOf(client.status(to));
        } catch (Exception e) {
            Throwable cause = e;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            said = cause.getClass().getSimpleName();
        }
        System.out.println(name + said);
    }

    static String start(boolean atHead) throws IOException {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().start(() -> {
            while (true) {
                try {
                    Socket connection = server.accept();
                    Thread.ofPlatform().daemon().start(() -> serve(connection, atHead));
                } catch (IOException e) {
                    return;
                }
            }
        });
        return "http://127.0.0.1:" + server.getLocalPort() + "/";
    }

    public static void main(String[] args) throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        for (boolean atHead : new boolean[] {true, false}) {
            String to = start(atHead);
            String when = atHead ? " at the head: " : " behind the end: ";
            say("asynchronous" + when, to, url -> client().execute(
                    AsyncRequestBuilder.post(url).setEntity(new AbstractClassicEntityProducer(65536, ContentType.TEXT_PLAIN, threads) {
                        @Override
                        protected void produceData(ContentType type, OutputStream out) throws IOException {
                            later().transferTo(out);
                            out.close();
                        }
                    }).build(), SimpleResponseConsumer.create(), null).get(20, TimeUnit.SECONDS).getCode());
            say("blocking" + when, to, url -> {
                HttpPost post = new HttpPost(url);
                post.setEntity(new InputStreamEntity(later(), 5, ContentType.TEXT_PLAIN));
                return HttpAsyncClients.classic(client(), Timeout.ofSeconds(6)).execute(post, response -> response.getCode());
            });
        }
        System.exit(0);
    }
}
JAVA
"$java/javac" -cp 'lib/*' -d classes Early.java 2> errors
"$java/java" -Xmx200m -cp 'lib/*:classes' Early 2>> errors | tee seen
cat > expected <<'END'
asynchronous at the head: 503
blocking at the head: InterruptedIOException
asynchronous behind the end: 503
blocking behind the end: 503
END
diff expected seen > /dev/null || { cat errors; echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
