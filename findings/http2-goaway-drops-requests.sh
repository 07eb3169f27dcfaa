#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# HTTP/2 clients of Java and a server that ends its connections in good order: Debian's nginx 1.22.1, which ends each
# after `keepalive_requests` streams (1,000 if nothing is said, 100 here), by GOAWAY with the last stream that it
# answers. RFC 9113, section 6.8: what is above was not looked at, and can be sent again, whatever it is. 2,000 GETs by
# 20 threads, without a fault of anybody. java.net.http of a stock JDK 25.0.3 (by TLS, as it cannot begin without),
# com.squareup.okhttp3:okhttp-jvm 5.5.1, org.eclipse.jetty.http2:jetty-http2-client-transport 12.1.14,
# org.apache.httpcomponents.client5:httpclient5 5.6.5 (asynchronous), io.projectreactor.netty:reactor-netty-http 1.3.1,
# io.vertx:vertx-core 5.1.0, io.helidon.webclient:helidon-webclient-http2 4.5.0 with a timeout of 3 s.
#
#   guessed   none fails with any client: each sends what is above the last stream by another connection
#   seen                    of 2,000 fail
#             OkHttp                    0
#             Reactor             4 to 16
#             JDK                77 to 95
#             Helidon          161 to 236
#             Vert.x           158 to 197
#             Jetty            196 to 206
#             Apache                  270
#             With the default of nginx, 1,000, the JDK's loses one or two for each connection that ends, Jetty some
#             18. Jetty names it a RetryableStreamException, and Apache a RequestNotExecutedException, and neither
#             tries again; with Helidon most wait for an answer until their timeout. So a server that is restarted in
#             good order, or ends old connections as nginx does by itself, costs requests that nobody has refused,
#             POSTs as well as GETs: who uses these clients needs retries of their own, and has to say what may be
#             repeated
#
# Needs a JDK 25 (JAVA_HOME), Maven, openssl, Python, and apt of Debian. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
nginx=
end() {
  [[ -z $nginx ]] || kill "$nginx" 2> /dev/null || true
  wait
  rm -rf "$work"
}
trap end EXIT
cd "$work"
apt-get -q download nginx > apt.log 2>&1
dpkg -x nginx_1.22.1-*.deb .
dependency() {
  echo "<dependency><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version></dependency>"
}
{
  echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
  echo '<groupId>findings</groupId><artifactId>goaway</artifactId><version>1</version><dependencies>'
  dependency com.squareup.okhttp3 okhttp-jvm 5.5.1
  dependency org.eclipse.jetty.http2 jetty-http2-client-transport 12.1.14
  dependency org.apache.httpcomponents.client5 httpclient5 5.6.5
  dependency io.projectreactor.netty reactor-netty-http 1.3.1
  dependency io.vertx vertx-core 5.1.0
  dependency io.helidon.webclient helidon-webclient-http2 4.5.0
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Goaway.java << 'JAVA'
import io.helidon.webclient.http2.Http2Client;
import io.netty.handler.codec.http.HttpMethod;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpVersion;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import org.apache.hc.client5.http.async.methods.SimpleRequestBuilder;
import org.apache.hc.client5.http.impl.async.HttpAsyncClients;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.client.transport.HttpClientTransportOverHTTP2;
import reactor.core.publisher.Mono;
import reactor.netty.http.HttpProtocol;

public class Goaway {
    static final int REQUESTS = 2000;

    interface Client {
        int status(String address) throws Exception;
    }

    static Client okhttp() {
        var client = new OkHttpClient.Builder().protocols(List.of(Protocol.H2_PRIOR_KNOWLEDGE)).build();
        return address -> {
            try (var answer = client.newCall(new okhttp3.Request.Builder().url(address).build()).execute()) {
                return answer.code();
            }
        };
    }

    static Client apache() {
        var client = HttpAsyncClients.createHttp2Default();
        client.start();
        return address -> client.execute(SimpleRequestBuilder.get(address).build(), null).get().getCode();
    }

    static Client reactor() {
        var client = reactor.netty.http.client.HttpClient.create().protocol(HttpProtocol.H2C);
        return address -> client.request(HttpMethod.GET).uri(address).responseSingle((answer, body) ->
            body.asString().then(Mono.just(answer.status().code()))).block();
    }

    static Client vertx() {
        var client = Vertx.vertx().createHttpClient(new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2)
            .setHttp2ClearTextUpgrade(false));
        return address -> {
            URI to = URI.create(address);
            return client.request(io.vertx.core.http.HttpMethod.GET, to.getPort(), to.getHost(), to.getPath())
                .compose(HttpClientRequest::send)
                .compose(answer -> answer.body().map(body -> answer.statusCode()))
                .toCompletionStage().toCompletableFuture().get();
        };
    }

    static Client helidon() {
        var client = Http2Client.builder().protocolConfig(config -> config.priorKnowledge(true))
            .readTimeout(Duration.ofSeconds(3)).build();
        return address -> {
            try (var answer = client.get(address).request()) {
                answer.as(String.class);
                return answer.status().code();
            }
        };
    }

    static Client client(String name) throws Exception {
        switch (name) {
            case "JDK":
                HttpClient jdk = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
                return address -> jdk.send(HttpRequest.newBuilder(URI.create(address)).build(),
                    BodyHandlers.ofString()).statusCode();
            case "Jetty":
                var jetty = new org.eclipse.jetty.client.HttpClient(
                    new HttpClientTransportOverHTTP2(new HTTP2Client()));
                jetty.start();
                return address -> jetty.GET(address).getStatus();
            case "OkHttp":
                return okhttp();
            case "Apache":
                return apache();
            case "Reactor":
                return reactor();
            case "Vertx":
                return vertx();
            default:
                return helidon();
        }
    }

    static String kind(Throwable thrown) {
        Throwable cause = thrown;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getClass().getSimpleName();
    }

    public static void main(String[] args) throws Exception {
        Client client = client(args[0]);
        if (client.status(args[1]) != 200) {
            throw new IllegalStateException("the server does not answer");
        }
        AtomicInteger next = new AtomicInteger();
        AtomicInteger answered = new AtomicInteger();
        Map<String, AtomicInteger> failed = new ConcurrentHashMap<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                while (next.incrementAndGet() <= REQUESTS) {
                    String wrong;
                    try {
                        int status = client.status(args[1]);
                        wrong = status == 200 ? null : "status " + status;
                    } catch (Exception e) {
                        wrong = kind(e);
                    }
                    (wrong == null ? answered : failed.computeIfAbsent(wrong, k -> new AtomicInteger()))
                        .incrementAndGet();
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("failed " + (REQUESTS - answered.get()) + " " + failed);
        System.exit(0);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Goaway.java 2> errors || { cat errors; exit 1; }
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost > errors 2>&1
"$java/keytool" -importcert -noprompt -file cert.pem -keystore trust -storepass findings > errors 2>&1
read -r plain tls < <(python3 -c 'import random; a = random.randrange(20000, 30000); print(a, a + 1)')
cat > nginx.conf << CONF
daemon off;
pid $work/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path $work/t1;
  proxy_temp_path $work/t2;
  fastcgi_temp_path $work/t3;
  uwsgi_temp_path $work/t4;
  scgi_temp_path $work/t5;
  keepalive_requests 100;
  server {
    listen 127.0.0.1:$plain http2;
    listen 127.0.0.1:$tls ssl http2;
    ssl_certificate $work/cert.pem;
    ssl_certificate_key $work/key.pem;
    location / { return 200 "ok"; }
  }
}
CONF
usr/sbin/nginx -c "$work/nginx.conf" -e "$work/nginx.log" &
nginx=$!
for _ in {1..100}; do
  if curl -sf --http2-prior-knowledge "http://127.0.0.1:$plain/" > answer 2> /dev/null; then break; fi
  sleep 0.2
done
bad=0
printf '%-10s %s\n' '' 'of 2,000 fail'
for client in OkHttp Reactor JDK Helidon Vertx Jetty Apache; do
  address=http://127.0.0.1:$plain/
  [[ $client != JDK ]] || address=https://localhost:$tls/
  "$java/java" -Xmx200m -Djavax.net.ssl.trustStore=trust -Djavax.net.ssl.trustStorePassword=findings -cp 'lib/*:.' \
    Goaway $client "$address" > said 2> errors || { cat errors; exit 1; }
  read -r failed kinds < <(sed -n 's/^failed //p' said)
  printf '%-10s %5d %s\n' $client "$failed" "$kinds"
  case $client in
    OkHttp) ((failed == 0)) || bad=1 ;;
    Reactor) ((failed < 40)) || bad=1 ;;
    *) ((failed > 10)) || bad=1 ;;
  esac
done
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
