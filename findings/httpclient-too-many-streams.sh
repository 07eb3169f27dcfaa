#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# More requests at the same time than a server of HTTP/2 takes on one connection: Debian's nginx 1.22.1 with its default
# of 128 streams (SETTINGS_MAX_CONCURRENT_STREAMS), 300 GETs at once, each answered in about 2 s. java.net.http of a
# stock JDK 25.0.3 (by TLS, as it cannot begin without), com.squareup.okhttp3:okhttp-jvm 5.5.1,
# org.eclipse.jetty.http2:jetty-http2-client-transport 12.1.14, org.apache.httpcomponents.client5:httpclient5 5.6.5
# (asynchronous), as they come, but for OkHttp's own limit of requests to one host, which is 5.
#
#   guessed   all 300 are answered by each: what is above 128 waits, or goes by another connection
#   seen                       failed    connections
#             JDK          142 to 172              1
#             OkHttp                0              2
#             Jetty                 0         3 to 5
#             Apache                0              1
#             The JDK's client ends what is above the server's limit at once, `too many concurrent streams`. It neither
#             waits nor opens a second connection, and has no setting of its own for that. So a service with virtual
#             threads that calls another one by HTTP/2 fails at its 129th call at the same time, and more easily when
#             the other one has a pause, for then calls pile up. A bound of its own, as a semaphore, cures that
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
  echo '<groupId>findings</groupId><artifactId>streams</artifactId><version>1</version><dependencies>'
  dependency com.squareup.okhttp3 okhttp-jvm 5.5.1
  dependency org.eclipse.jetty.http2 jetty-http2-client-transport 12.1.14
  dependency org.apache.httpcomponents.client5 httpclient5 5.6.5
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Streams.java << 'JAVA'
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import okhttp3.Dispatcher;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import org.apache.hc.client5.http.async.methods.SimpleRequestBuilder;
import org.apache.hc.client5.http.impl.async.HttpAsyncClients;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.client.transport.HttpClientTransportOverHTTP2;

public class Streams {
    static final int REQUESTS = 300;

    interface Client {
        int status(String address) throws Exception;
    }

    static Client okhttp() {
        Dispatcher many = new Dispatcher();
        many.setMaxRequests(REQUESTS);
        many.setMaxRequestsPerHost(REQUESTS);
        var client = new OkHttpClient.Builder().dispatcher(many).protocols(List.of(Protocol.H2_PRIOR_KNOWLEDGE))
            .build();
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
            default:
                return apache();
        }
    }

    static String text(Throwable thrown) {
        Throwable cause = thrown;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.toString();
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
        for (int i = 0; i < REQUESTS; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                while (next.incrementAndGet() <= REQUESTS) {
                    String wrong;
                    try {
                        int status = client.status(args[1]);
                        wrong = status == 200 ? null : "status " + status;
                    } catch (Exception e) {
                        wrong = text(e);
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
"$java/javac" -nowarn -cp 'lib/*' Streams.java 2> errors || { cat errors; exit 1; }
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost > errors 2>&1
"$java/keytool" -importcert -noprompt -file cert.pem -keystore trust -storepass findings > errors 2>&1
read -r plain tls < <(python3 -c 'import random; a = random.randrange(20000, 30000); print(a, a + 1)')
mkdir files
printf '%2000s' > files/a
cat > nginx.conf << CONF
daemon off;
pid $work/nginx.pid;
events { worker_connections 1024; }
http {
  log_format connection \$connection;
  access_log $work/access connection;
  client_body_temp_path $work/t1;
  proxy_temp_path $work/t2;
  fastcgi_temp_path $work/t3;
  uwsgi_temp_path $work/t4;
  scgi_temp_path $work/t5;
  server {
    listen 127.0.0.1:$plain http2;
    listen 127.0.0.1:$tls ssl http2;
    ssl_certificate $work/cert.pem;
    ssl_certificate_key $work/key.pem;
    location / {
      root $work/files;
      limit_rate 1000;
    }
  }
}
CONF
usr/sbin/nginx -c "$work/nginx.conf" -e "$work/nginx.log" &
nginx=$!
for _ in {1..100}; do
  if curl -sf --http2-prior-knowledge "http://127.0.0.1:$plain/a" > answer 2> /dev/null; then break; fi
  sleep 0.2
done
bad=0
for client in JDK OkHttp Jetty Apache; do
  address=http://127.0.0.1:$plain/a
  [[ $client != JDK ]] || address=https://localhost:$tls/a
  : > access
  "$java/java" -Xmx300m -Djavax.net.ssl.trustStore=trust -Djavax.net.ssl.trustStorePassword=findings -cp 'lib/*:.' \
    Streams $client "$address" > said 2> errors || { cat errors; exit 1; }
  read -r failed kinds < <(sed -n 's/^failed //p' said)
  printf '%-8s of 300 fail %3d, connections %d %s\n' $client "$failed" "$(sort -u access | wc -l)" "$kinds"
  if [[ $client == JDK ]]; then
    ((failed > 50)) && [[ $kinds == *'too many concurrent streams'* ]] || bad=1
  else
    ((failed == 0)) || bad=1
  fi
done
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
