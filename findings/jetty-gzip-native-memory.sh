#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Native memory that servers keep after 400 answers were compressed at the same time, once: 200 KB of text each, of a
# stock JDK 25.0.3. org.eclipse.jetty:jetty-server and org.eclipse.jetty.compression:jetty-compression-server 12.1.14
# with their handlers as they come, org.apache.tomcat.embed:tomcat-embed-core 11.0.29 with compression="on". All
# connections are closed, and the collector has run four times.
#
#   guessed   each has given back all but 20 MB
#   seen      MB kept                     by malloc (mallinfo2)   native memory tracking
#             Tomcat                                       5                        4
#             Jetty, GzipHandler                         118                       15
#             Jetty, CompressionHandler                  108                        5
#             Jetty keeps a compressor for each answer that ran at the same time, a quarter of a MB by zlib, which calls
#             malloc itself. So a burst adds to the process for good, up to 1,024 of them, and neither the heap, nor
#             direct buffers, nor native memory tracking shows it
#
# Needs a JDK 25 on glibc 2.33 or later (JAVA_HOME) and Maven. Fails if what was seen has changed.
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
  echo '<groupId>findings</groupId><artifactId>compressed</artifactId><version>1</version><dependencies>'
  dependency org.eclipse.jetty jetty-server 12.1.14
  dependency org.eclipse.jetty.compression jetty-compression-server 12.1.14
  dependency org.eclipse.jetty.compression jetty-compression-gzip 12.1.14
  dependency org.apache.tomcat.embed tomcat-embed-core 11.0.29
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Compressed.java <<'JAVA'
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;
import org.apache.catalina.startup.Tomcat;
import org.eclipse.jetty.compression.server.CompressionHandler;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.gzip.GzipHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

public class Compressed {
    static final int THREADS = 600;
    static final byte[] TEXT = new byte[100_000];
    static volatile CountDownLatch all;

    /** The first half, then waits until all answers have come so far, then the second half. */
    static void answer(OutputStream out) throws IOException {
        out.write(TEXT);
        out.flush();
        all.countDown();
        try {
            all.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        out.write(TEXT);
        out.close();
    }

    static int tomcat() throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir("tomcat");
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("compression", "on");
        tomcat.getConnector().setProperty("maxThreads", "" + THREADS);
        tomcat.getConnector().setProperty("acceptCount", "1000");
        var context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "x", new HttpServlet() {
            @Override
            protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
                response.setContentType("text/plain");
                answer(response.getOutputStream());
            }
        });
        context.addServletMappingDecoded("/*", "x");
        tomcat.start();
        return tomcat.getConnector().getLocalPort();
    }

    static int jetty(boolean old) throws Exception {
        Server server = new Server(new QueuedThreadPool(THREADS));
        ServerConnector connector = new ServerConnector(server);
        connector.setAcceptQueueSize(1000);
        server.addConnector(connector);
        Handler text = new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) throws Exception {
                response.getHeaders().put("Content-Type", "text/plain");
                answer(Content.Sink.asOutputStream(response));
                callback.succeeded();
                return true;
            }
        };
        server.setHandler(old ? new GzipHandler(text) : new CompressionHandler(text));
        server.start();
        return connector.getLocalPort();
    }

    /** What malloc has given and not got back, and what native memory tracking knows of that, in KB. */
    static long[] taken() throws Throwable {
        for (int i = 0; i < 4; i++) {
            System.gc();
            Thread.sleep(300);
        }
        var structure = MemoryLayout.structLayout(MemoryLayout.sequenceLayout(10, ValueLayout.JAVA_LONG));
        var mallinfo = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().findOrThrow("mallinfo2"), FunctionDescriptor.of(structure));
        long malloc;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment s = (MemorySegment) mallinfo.invoke((SegmentAllocator) arena);
            malloc = s.getAtIndex(ValueLayout.JAVA_LONG, 4) + s.getAtIndex(ValueLayout.JAVA_LONG, 7);
        }
        String text = (String) ManagementFactory.getPlatformMBeanServer().invoke(
            new ObjectName("com.sun.management:type=DiagnosticCommand"), "vmNativeMemory",
            new Object[] {new String[] {"summary"}}, new String[] {String[].class.getName()});
        Matcher total = Pattern.compile("malloc: (\\d+)KB").matcher(text);
        total.find();
        return new long[] {malloc / 1024, Long.parseLong(total.group(1))};
    }

    /** So many requests at the same time; returns how many answers were compressed. */
    static int burst(int port, int requests) throws Exception {
        all = new CountDownLatch(requests);
        AtomicInteger compressed = new AtomicInteger();
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < requests; i++) {
                clients.submit(() -> {
                    try (Socket socket = new Socket("127.0.0.1", port)) {
                        socket.getOutputStream().write(("GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n"
                            + "Connection: close\r\n\r\n").getBytes());
                        String answer = new String(socket.getInputStream().readAllBytes(), "ISO-8859-1");
                        compressed.addAndGet(answer.toLowerCase().contains("content-encoding: gzip") ? 1 : 0);
                    }
                    return null;
                });
            }
        }
        return compressed.get();
    }

    public static void main(String[] args) throws Throwable {
        Random random = new Random(1);
        for (int i = 0; i < TEXT.length; i++) {
            TEXT[i] = (byte) ('a' + random.nextInt(20));
        }
        int port = args[0].equals("tomcat") ? tomcat() : jetty(args[0].equals("gzip"));
        burst(port, 1);
        taken();
        long[] before = taken();
        int compressed = burst(port, 400);
        Thread.sleep(3000);
        long[] after = taken();
        System.out.printf("%d %d %d%n", compressed, (after[0] - before[0]) / 1024, (after[1] - before[1]) / 1024);
        System.exit(0);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Compressed.java 2> errors || { cat errors; exit 1; }
kept() {
  "$java/java" -Xmx512m -XX:+UseSerialGC -XX:NativeMemoryTracking=summary --enable-native-access=ALL-UNNAMED \
    -cp 'lib/*:.' Compressed "$1" 2> errors || { cat errors; exit 1; }
}
say() { printf '%-26s of 400 answers compressed %s, MB kept by malloc %s, by native memory tracking %s\n' "$@"; }
read -r -a tomcat <<< "$(kept tomcat)"
say Tomcat "${tomcat[@]}"
read -r -a gzip <<< "$(kept gzip)"
say 'Jetty, GzipHandler' "${gzip[@]}"
read -r -a compression <<< "$(kept compression)"
say 'Jetty, CompressionHandler' "${compression[@]}"
((tomcat[0] == 400 && gzip[0] == 400 && compression[0] == 400 && tomcat[1] < 40 && gzip[1] > 80 && gzip[2] < 20 &&
  compression[1] > 80 && compression[2] < 20)) || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
