#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Calls of a client that stands for 5 s, as in a long pause (a thread stays in a call by Linker.Option.critical, so a
# System.gc() beside it waits with everything stopped), with a timeout of 3 s. The answers come after 1.5 s and lie in
# the sockets when the client goes on. 20 calls at the same time, each in a thread of its own. Stock JDK 25.0.3
# (java.net.http.HttpClient and HttpURLConnection), com.squareup.okhttp3:okhttp-jvm 5.5.1,
# org.eclipse.jetty:jetty-client 12.1.14, org.apache.httpcomponents.client5:httpclient5 5.6.5 (classic and async),
# io.projectreactor.netty:reactor-netty-http 1.3.1; of each its timeout for an answer.
#
#   guessed   clients that read by blocking (HttpURLConnection, Apache's classic one, OkHttp) find their answers; those
#             with a timer (the others) time out, all calls of each
#   seen      of 40 calls time out
#             HttpURLConnection     0
#             Apache                0
#             OkHttp               2 to 11
#             Jetty                2 to 18
#             Reactor Netty       31 to 36
#             Apache, async       29 to 40
#             java.net.http       23 to 40
#             OkHttp reads by blocking, but another thread closes the socket when it is time, and wins some. With the
#             others it depends on what runs first, and Jetty's mostly finds its answers. So after one pause of its own,
#             longer than the timeout, java.net.http says that all services are late, though their answers are there;
#             by HttpURLConnection it is a delay
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
  echo '<groupId>findings</groupId><artifactId>timeouts</artifactId><version>1</version><dependencies>'
  dependency com.squareup.okhttp3 okhttp-jvm 5.5.1
  dependency org.eclipse.jetty jetty-client 12.1.14
  dependency org.apache.httpcomponents.client5 httpclient5 5.6.5
  dependency io.projectreactor.netty reactor-netty-http 1.3.1
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Calls.java << 'JAVA'
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import okhttp3.OkHttpClient;
import org.apache.hc.client5.http.async.methods.SimpleRequestBuilder;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.async.HttpAsyncClients;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.client5.http.impl.nio.PoolingAsyncClientConnectionManagerBuilder;
import org.apache.hc.core5.http.io.entity.EntityUtils;

public class Calls {
    static final int SECONDS = 3;
    static final int CALLS = 20;
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

    static Callable<Object> apache(String url) {
        var pool = PoolingHttpClientConnectionManagerBuilder.create().setMaxConnPerRoute(CALLS).setMaxConnTotal(CALLS);
        var config = RequestConfig.custom().setResponseTimeout(SECONDS, TimeUnit.SECONDS).build();
        var client = HttpClients.custom().setConnectionManager(pool.build()).setDefaultRequestConfig(config)
            .disableAutomaticRetries().build();
        return () -> client.execute(new HttpGet(url), response -> EntityUtils.toString(response.getEntity()));
    }

    static Callable<Object> apacheAsync(String url) {
        var pool = PoolingAsyncClientConnectionManagerBuilder.create().setMaxConnPerRoute(CALLS).setMaxConnTotal(CALLS);
        var config = RequestConfig.custom().setResponseTimeout(SECONDS, TimeUnit.SECONDS).build();
        var client = HttpAsyncClients.custom().setConnectionManager(pool.build()).setDefaultRequestConfig(config)
            .disableAutomaticRetries().build();
        client.start();
        return () -> client.execute(SimpleRequestBuilder.get(url).build(), null).get();
    }

    static Callable<Object> client(String name, String url) throws Exception {
        switch (name) {
            case "HttpURLConnection": return () -> {
                var connection = (HttpURLConnection) URI.create(url).toURL().openConnection();
                connection.setReadTimeout(SECONDS * 1000);
                return connection.getInputStream().readAllBytes();
            };
            case "Apache": return apache(url);
            case "Apache, async": return apacheAsync(url);
            case "OkHttp":
                var okhttp = new OkHttpClient.Builder().readTimeout(Duration.ofSeconds(SECONDS)).build();
                return () -> {
                    try (var response = okhttp.newCall(new okhttp3.Request.Builder().url(url).build()).execute()) {
                        return response.body().string();
                    }
                };
            case "Jetty":
                var jetty = new org.eclipse.jetty.client.HttpClient();
                jetty.start();
                return () -> jetty.newRequest(url).timeout(SECONDS, TimeUnit.SECONDS).send();
            case "Reactor Netty":
                var netty = reactor.netty.http.client.HttpClient.create().responseTimeout(Duration.ofSeconds(SECONDS));
                return () -> netty.get().uri(url).responseContent().aggregate().asString().block();
            default:
                var jdk = HttpClient.newHttpClient();
                var request = HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(SECONDS)).build();
                return () -> jdk.send(request, HttpResponse.BodyHandlers.ofString());
        }
    }

    /** How many of the calls fail. */
    static int round(Callable<Object> call, boolean stand) throws Exception {
        AtomicInteger failed = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < CALLS; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    call.call();
                } catch (Exception e) {
                    failed.incrementAndGet();
                }
            }));
        }
        if (stand) {
            Thread.sleep(200);
            threads.add(Thread.ofPlatform().start(Calls::sleepInJava));
            Thread.sleep(50);
            System.gc();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return failed.get();
    }

    /** Calls URL NAME...: a line for each name. */
    public static void main(String[] args) throws Exception {
        for (int i = 1; i < args.length; i++) {
            Callable<Object> call = client(args[i], args[0]);
            round(call, false);
            System.out.println(args[i] + ":" + round(call, false) + ":" + (round(call, true) + round(call, true)));
        }
        System.exit(0);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Calls.java 2> errors || { cat errors; exit 1; }
cat > serve.py << 'PYTHON'
# serve.py COMMAND...: runs it, with the URL of a server that answers after 1.5 s for `URL`.
import asyncio, sys

async def serve(reader, writer):
    try:
        while (await reader.readuntil(b"\r\n\r\n")):
            await asyncio.sleep(1.5)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")
    except (asyncio.IncompleteReadError, ConnectionError): pass
    writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=100)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    client = await asyncio.create_subprocess_exec(*(url if word == "URL" else word for word in sys.argv[1:]))
    return await client.wait()

sys.exit(asyncio.run(main()))
PYTHON
python3 serve.py "$java/java" --enable-native-access=ALL-UNNAMED -cp 'lib/*:.' Calls URL HttpURLConnection Apache \
  OkHttp Jetty 'Reactor Netty' 'Apache, async' java.net.http > said 2> errors || { cat errors; exit 1; }
bad=0
echo 'of 40 calls time out'
while IFS=: read -r name calm lost; do
  printf '%-18s %5d\n' "$name" "$lost"
  ((calm == 0)) || bad=1
  case $name in
    HttpURLConnection | Apache) ((lost == 0)) || bad=1 ;;
    java.net.http) ((lost >= 20)) || bad=1 ;;
    *) ((lost > 0)) || bad=1 ;;
  esac
done < said
[[ $bad == 0 && $(wc -l < said) == 7 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
