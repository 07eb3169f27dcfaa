#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What a metrics registry that sends differences publishes of a program that stands for some time (SIGSTOP), as in a
# frozen container or a long pause: ten registries count 1,000 each, then the program stands, goes on, and counts no
# more. The step is 4 s. io.micrometer:micrometer-registry-otlp 1.17.2 (aggregationTemporality DELTA) and
# micrometer-registry-influx 1.17.2, a StepMeterRegistry as those of Datadog, New Relic and CloudWatch are;
# io.opentelemetry:opentelemetry-sdk 1.68.0 (DELTA, too), on a stock JDK 25.0.3.
#
#   guessed   all 10,000 are published once, late
#   seen      published of 10,000       no stop    it ends in the next step    it ends in the step after that
#             OTLP registry              10,000            17,000 to 20,000                                 0
#             Influx registry            10,000            17,000 to 20,000                                 0
#             OpenTelemetry's SDK        10,000                      10,000                            10,000
#             A registry by step keeps the counts of one step that has ended. Publishing, at a fixed rate, catches up:
#             twice in the same step gives the same counts twice. A stop that has a whole step in it makes the counts
#             before it those of no step: they are nowhere, with no message. OpenTelemetry's readers take what there is
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
  echo '<groupId>findings</groupId><artifactId>step</artifactId><version>1</version><dependencies>'
  dependency io.micrometer micrometer-registry-otlp 1.17.2
  dependency io.micrometer micrometer-registry-influx 1.17.2
  dependency io.opentelemetry opentelemetry-sdk 1.68.0
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Step.java << 'JAVA'
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.ipc.http.HttpSender;
import io.micrometer.influx.InfluxConfig;
import io.micrometer.influx.InfluxMeterRegistry;
import io.micrometer.registry.otlp.OtlpConfig;
import io.micrometer.registry.otlp.OtlpMeterRegistry;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.metrics.InstrumentType;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.opentelemetry.sdk.metrics.export.PeriodicMetricReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.DoubleAdder;

public class Step {
    static final Duration STEP = Duration.ofSeconds(4);

    static MeterRegistry otlp(DoubleAdder published) {
        OtlpConfig config = new OtlpConfig() {
            @Override
            public String get(String key) {
                return null;
            }

            @Override
            public Duration step() {
                return STEP;
            }

            @Override
            public io.micrometer.registry.otlp.AggregationTemporality aggregationTemporality() {
                return io.micrometer.registry.otlp.AggregationTemporality.DELTA;
            }
        };
        return OtlpMeterRegistry.builder(config).metricsSender(request -> {
            var sent = ExportMetricsServiceRequest.parseFrom(request.getMetricsData());
            for (var resource : sent.getResourceMetricsList()) {
                for (var scope : resource.getScopeMetricsList()) {
                    scope.getMetricsList().forEach(metric ->
                        metric.getSum().getDataPointsList().forEach(point -> published.add(point.getAsDouble())));
                }
            }
        }).build();
    }

    static MeterRegistry influx(DoubleAdder published) {
        InfluxConfig config = new InfluxConfig() {
            @Override
            public String get(String key) {
                return null;
            }

            @Override
            public Duration step() {
                return STEP;
            }

            @Override
            public boolean autoCreateDb() {
                return false;
            }

            @Override
            public boolean compressed() {
                return false;
            }
        };
        HttpSender sender = request -> {
            for (String line : new String(request.getEntity()).split("\n")) {
                published.add(Double.parseDouble(line.replaceAll(".*value=([0-9.]+).*", "$1")));
            }
            return new HttpSender.Response(204, "");
        };
        return InfluxMeterRegistry.builder(config).clock(Clock.SYSTEM).httpClient(sender).build();
    }

    static MetricExporter exporter(DoubleAdder published) {
        return new MetricExporter() {
            @Override
            public CompletableResultCode export(Collection<MetricData> metrics) {
                for (MetricData metric : metrics) {
                    metric.getLongSumData().getPoints().forEach(point -> published.add(point.getValue()));
                }
                return CompletableResultCode.ofSuccess();
            }

            @Override
            public CompletableResultCode flush() {
                return CompletableResultCode.ofSuccess();
            }

            @Override
            public CompletableResultCode shutdown() {
                return CompletableResultCode.ofSuccess();
            }

            @Override
            public AggregationTemporality getAggregationTemporality(InstrumentType type) {
                return AggregationTemporality.DELTA;
            }
        };
    }

    /** What counts one in a registry of its own. */
    static Runnable counter(String kind, DoubleAdder published) {
        if (kind.equals("sdk")) {
            var reader = PeriodicMetricReader.builder(exporter(published)).setInterval(STEP).build();
            var counter = SdkMeterProvider.builder().registerMetricReader(reader).build().get("a").counterBuilder("n")
                .build();
            return () -> counter.add(1);
        }
        return (kind.equals("otlp") ? otlp(published) : influx(published)).counter("n")::increment;
    }

    public static void main(String[] args) throws Exception {
        List<DoubleAdder> sums = new ArrayList<>();
        List<Runnable> counters = new ArrayList<>();
        for (String kind : args) {
            sums.add(new DoubleAdder());
            for (int i = 0; i < 10; i++) {
                counters.add(counter(kind, sums.getLast()));
            }
        }
        Thread.sleep(STEP.toMillis());
        Thread.sleep(STEP.toMillis() - System.currentTimeMillis() % STEP.toMillis() + 300); // soon after a step's begin
        for (Runnable counter : counters) {
            for (int i = 0; i < 1000; i++) {
                counter.run();
            }
        }
        System.out.println("counted");
        System.in.read();
        Thread.sleep(3 * STEP.toMillis());
        String line = "";
        for (DoubleAdder sum : sums) {
            line += Math.round(sum.sum()) + " ";
        }
        System.out.println(line);
        System.exit(0);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Step.java 2> errors || { cat errors; exit 1; }
# one SECONDS: what each kind publishes in all, with a stop of so long
one() {
  rm -f go
  mkfifo go
  "$java/java" -Xmx64m -cp 'lib/*:.' Step otlp influx sdk < go > said 2> /dev/null &
  local pid=$!
  exec 5> go
  until grep -q counted said; do sleep 0.01; done
  kill -STOP "$pid"
  sleep "$1"
  kill -CONT "$pid"
  echo >&5
  exec 5>&-
  wait "$pid"
  tail -n 1 said
}
bad=0
printf '%-34s %14s %14s %14s\n' 'published of 10,000' OTLP Influx 'SDK'
for seconds in 0 7 8.5; do
  read -r otlp influx sdk < <(one $seconds)
  printf '%-34s %14d %14d %14d\n' "a stop of $seconds s" "$otlp" "$influx" "$sdk"
  case $seconds in
    0) ((otlp == 10000 && influx == 10000)) || bad=1 ;;
    7) ((otlp > 12000 && influx > 12000)) || bad=1 ;;
    *) ((otlp == 0 && influx == 0)) || bad=1 ;;
  esac
  ((sdk == 10000)) || bad=1
done
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
