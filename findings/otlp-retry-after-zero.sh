#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# OpenTelemetry's OTLP exporter over HTTP, with its own retry policy of five attempts, and a server that says 503 each
# time, with and without Retry-After. io.opentelemetry:opentelemetry-exporter-otlp 1.68.0 with its default sender
# (OkHttp 5.5.1), and with opentelemetry-exporter-sender-jdk, on a stock JDK 25.0.3.
#
#   guessed   the field is not read, and there are five requests for one export whatever it says, with either sender
#   seen      requests for one export       default sender   sender of the JDK
#             no Retry-After                             5                   5
#             Retry-After: 1                             5                   5
#             Retry-After: 0                            10                   5
#             The exporter obeys the field: a 0 turns off its growing delays. And OkHttp, below the exporter, sends a
#             request again by itself at a 503 with that field of 0, POST too. So a server that says "at once" has
#             twice the attempts that the policy permits, with hardly a delay between them
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
  echo '<groupId>findings</groupId><artifactId>otlp</artifactId><version>1</version><dependencies>'
  dependency io.opentelemetry opentelemetry-exporter-otlp 1.68.0
  dependency io.opentelemetry opentelemetry-exporter-sender-jdk 1.68.0
  dependency io.opentelemetry opentelemetry-sdk 1.68.0
  dependency com.squareup.okhttp3 okhttp-jvm 5.5.1
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=default > errors 2>&1 || { cat errors; exit 1; }
mkdir jdk
mv default/opentelemetry-exporter-sender-jdk-*.jar jdk/
cp default/*.jar jdk/
rm jdk/opentelemetry-exporter-sender-okhttp-*.jar jdk/okhttp-*.jar
cat > Busy.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public class Busy {
    /** Prints how many requests one span makes, for each value of the field; `none` stands for no field. */
    public static void main(String[] fields) throws Exception {
        for (String field : fields) {
            AtomicInteger requests = new AtomicInteger();
            var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", exchange -> {
                requests.incrementAndGet();
                exchange.getRequestBody().readAllBytes();
                if (!field.equals("none")) {
                    exchange.getResponseHeaders().set("Retry-After", field);
                }
                exchange.sendResponseHeaders(503, -1);
                exchange.close();
            });
            server.start();
            String to = "http://127.0.0.1:" + server.getAddress().getPort() + "/v1/traces";
            var exporter = OtlpHttpSpanExporter.builder().setEndpoint(to).setTimeout(Duration.ofSeconds(60)).build();
            try (var spans = SdkTracerProvider.builder()
                .addSpanProcessor(SimpleSpanProcessor.create(exporter)).build()) {
                spans.get("findings").spanBuilder("one").startSpan().end();
                spans.forceFlush().join(90, TimeUnit.SECONDS);
            }
            server.stop(0);
            System.out.println(requests);
        }
        System.exit(0);
    }
}
JAVA
"$java/javac" -cp 'default/*' Busy.java
bad=0
for sender in default jdk; do
  said=$("$java/java" -cp "$sender/*:." Busy none 1 0 2> errors | paste -sd' ') || { cat errors; exit 1; }
  echo "requests for one export, no Retry-After, 1, 0; sender $sender: $said"
  case $sender in
    default) [ "$said" = '5 5 10' ] || bad=1 ;;
    jdk) [ "$said" = '5 5 5' ] || bad=1 ;;
  esac
done
[ "$bad" = 0 ] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
