#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What two analysers of logs make of a log of G1 (-Xlog:gc*) of a stock JDK 25.0.3: number and sum of its pauses by
# com.microsoft.gctoolkit:gctoolkit-api, -parser and -vertx 3.5.0 and by com.github.chewiebug:gcviewer 1.36, and by the
# lines of the log. Two programs: one fills a heap of 96 MB nearly, and one compresses arrays by java.util.zip.Deflater,
# so that a collection meets an array that C code has in use (JEP 423).
#
#   guessed   both have number and sum right, within a tenth
#   seen                                     of the lines       GCToolkit      GCViewer
#             a full heap, pauses              329 to 345      327 to 340    237 to 267
#                          their sum, s        4.4 to 7.1    -88.0 to -71    4.2 to 6.8
#             compressing, pauses              105 to 106      105 to 106      48 to 70
#                          their sum, s        0.8 to 2.2    -57.0 to -35    0.1 to 1.0
#             A line that says (Evacuation Failure: Allocation) or, which is routine since JDK 22, (Evacuation Failure:
#             Pinned): GCToolkit has the pause with a duration of -1 s, GCViewer does not have it. So of a service that
#             compresses most of the time in pauses is not shown, and with the one the sum is less than nothing
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
  echo '<groupId>findings</groupId><artifactId>logs</artifactId><version>1</version><dependencies>'
  dependency com.microsoft.gctoolkit gctoolkit-api 3.5.0
  dependency com.microsoft.gctoolkit gctoolkit-parser 3.5.0
  dependency com.microsoft.gctoolkit gctoolkit-vertx 3.5.0
  dependency com.github.chewiebug gcviewer 1.36
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Work.java << 'JAVA'
import java.util.Random;
import java.util.zip.Deflater;

public class Work {
    static volatile Object sink;

    static void fill() {
        byte[][] alive = new byte[7500][];
        Random random = new Random(1);
        for (int i = 0; i < 120_000; i++) {
            alive[random.nextInt(alive.length)] = new byte[10_000];
            sink = new byte[2000];
        }
    }

    static void compress(Thread until) {
        while (until.isAlive()) {
            byte[] text = new byte[400_000];
            new Random(1).nextBytes(text);
            Deflater deflater = new Deflater();
            deflater.setInput(text);
            deflater.finish();
            deflater.deflate(new byte[450_000]);
            deflater.end();
        }
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("full")) {
            fill();
            return;
        }
        Thread allocates = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < 600_000; i++) {
                sink = new byte[10_000];
            }
        });
        compress(allocates);
    }
}
JAVA
cat > Pauses.java << 'JAVA'
import com.microsoft.gctoolkit.GCToolKit;
import com.microsoft.gctoolkit.aggregator.Aggregates;
import com.microsoft.gctoolkit.aggregator.Aggregation;
import com.microsoft.gctoolkit.aggregator.Aggregator;
import com.microsoft.gctoolkit.aggregator.Collates;
import com.microsoft.gctoolkit.aggregator.EventSource;
import com.microsoft.gctoolkit.event.g1gc.G1GCPauseEvent;
import com.microsoft.gctoolkit.io.SingleGCLogFile;
import com.tagtraum.perf.gcviewer.imp.DataReaderFacade;
import com.tagtraum.perf.gcviewer.model.GcResourceFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Pauses {
    @Collates(Adds.class)
    public static class Sum extends Aggregation {
        int pauses;
        int negative;
        double seconds;

        void add(G1GCPauseEvent pause) {
            pauses++;
            negative += pause.getDuration() < 0 ? 1 : 0;
            seconds += pause.getDuration();
        }

        @Override
        public boolean hasWarning() {
            return false;
        }

        @Override
        public boolean isEmpty() {
            return pauses == 0;
        }
    }

    @Aggregates(EventSource.G1GC)
    public static class Adds extends Aggregator<Sum> {
        public Adds(Sum sum) {
            super(sum);
            register(G1GCPauseEvent.class, sum::add);
        }
    }

    public static void main(String[] args) throws Exception {
        Pattern pause = Pattern.compile("\\[gc +\\] GC\\(\\d+\\) Pause .* ([0-9.]+)ms");
        int lines = 0;
        int failed = 0;
        double seconds = 0;
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            Matcher matcher = pause.matcher(line);
            if (matcher.find()) {
                lines++;
                failed += line.contains("(Evacuation Failure: ") ? 1 : 0;
                seconds += Double.parseDouble(matcher.group(1)) / 1000;
            }
        }
        GCToolKit toolkit = new GCToolKit();
        toolkit.loadAggregation(new Sum());
        Sum sum = toolkit.analyze(new SingleGCLogFile(Path.of(args[0]))).getAggregation(Sum.class).get();
        var viewer = new DataReaderFacade().loadModel(new GcResourceFile(args[0])).getPause();
        System.out.printf(Locale.ROOT, "seen %d %.3f %d %d %.3f %d %d %.3f%n", lines, seconds, failed, sum.pauses,
            sum.seconds, sum.negative, viewer.getN(), viewer.getSum());
        System.exit(0);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Work.java Pauses.java 2> errors || { cat errors; exit 1; }
bad=0
for program in full compress; do
  "$java/java" -XX:+UseG1GC -XX:G1HeapRegionSize=1m -Xmx96m -Xlog:disable '-Xlog:gc*:file=gc.log' -cp . Work $program
  "$java/java" -cp 'lib/*:.' Pauses gc.log > said 2> errors || { cat errors; exit 1; }
  read -r lines seconds failed toolkit sum negative viewer total < <(sed -n 's/^seen //p' said)
  echo "$program"
  printf '  %-12s %5d pauses %8.3f s, %d of them with an evacuation failure\n' 'lines' "$lines" "$seconds" "$failed"
  printf '  %-12s %5d pauses %8.3f s, %d of them negative\n' 'GCToolkit' "$toolkit" "$sum" "$negative"
  printf '  %-12s %5d pauses %8.3f s\n' 'GCViewer' "$viewer" "$total"
  ((viewer <= lines - failed)) || bad=1
  ((failed > 0 && negative > 0)) || bad=1
  awk "BEGIN { exit !($sum < $seconds - $negative * 0.9) }" || bad=1
  rm gc.log
done
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
