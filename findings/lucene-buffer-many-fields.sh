#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# How much heap an index writer holds that may buffer 16 MB, its default: org.apache.lucene:lucene-core 10.3.1. 16,000
# documents of 20 short fields, whose names are any of 100 or of 20,000, as where keys of users become fields; by one
# thread, and by eight. What is alive by the JVM's histogram of classes, beside IndexWriter.ramBytesUsed at the same
# moment, by which it decides when to flush. A stock JDK 25.0.3.
#
#   guessed   twice as much as ramBytesUsed at most
#   seen      MB alive (by ramBytesUsed)         100 names      20,000 names
#             StringField, one thread            1.5 (1.3)         50 (14.0)
#             StringField, eight threads         6.1 (4.3)        174 (14.0)
#             NumericDocValuesField, one         1.1 (0.8)         88 (11.5)
#             NumericDocValuesField, eight       3.4 (2.4)        134 (11.0)
#             What the writer has for each name, 2 to 4 KB, is not counted, and each thread that writes at the same
#             time has its own. So with many names the flush comes far too late. The number is right with few names,
#             and with long texts
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml << 'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>buffer</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.lucene</groupId><artifactId>lucene-core</artifactId><version>10.3.1</version>
</dependency></dependencies></project>
POM
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Buffer.java << 'JAVA'
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import javax.management.ObjectName;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.NIOFSDirectory;

public class Buffer {
    /** Bytes that are alive, after a collection. */
    static long alive() throws Exception {
        Object histogram = ManagementFactory.getPlatformMBeanServer().invoke(
            new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
            new Object[] {new String[0]}, new String[] {String[].class.getName()});
        String[] total = histogram.toString().strip().split("\\s+");
        return Long.parseLong(total[total.length - 1]);
    }

    static Document document(boolean text, int names, Random random) {
        Document document = new Document();
        Set<Integer> fields = new HashSet<>();
        while (fields.size() < 20) {
            int field = random.nextInt(names);
            if (fields.add(field)) {
                document.add(text ? new StringField("f" + field, "v" + random.nextInt(100), Field.Store.NO)
                    : new NumericDocValuesField("f" + field, random.nextInt(100)));
            }
        }
        return document;
    }

    public static void main(String[] args) throws Exception {
        boolean text = args[0].equals("StringField");
        int names = Integer.parseInt(args[1]);
        int threads = Integer.parseInt(args[2]);
        var config = new IndexWriterConfig(new StandardAnalyzer());
        var writer = new IndexWriter(new NIOFSDirectory(Path.of(args[3])), config);
        writer.addDocument(document(text, names, new Random(0)));
        writer.commit();
        long before = alive();
        var pool = Executors.newFixedThreadPool(threads);
        long used = 0;
        long most = 0;
        for (int round = 0; round < 4; round++) {
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                Random random = new Random(100 * round + i);
                tasks.add(() -> {
                    for (int n = 0; n < 4000 / threads; n++) {
                        writer.addDocument(document(text, names, random));
                    }
                    return null;
                });
            }
            for (var done : pool.invokeAll(tasks)) {
                done.get();
            }
            long now = alive() - before;
            if (now > most) {
                most = now;
                used = writer.ramBytesUsed();
            }
        }
        System.out.printf("seen %.1f %.1f%n", used / 1e6, most / 1e6);
        System.exit(0);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Buffer.java 2> errors || { cat errors; exit 1; }
bad=0
for kind in StringField NumericDocValuesField; do
  for names in 100 20000; do
    for threads in 1 8; do
      rm -rf index
      "$java/java" -XX:+UseSerialGC -Xmx800m -cp 'lib/*:.' Buffer $kind $names $threads index > said 2> errors ||
        { cat errors; exit 1; }
      read -r used alive < <(sed -n 's/^seen //p' said)
      printf '%-22s %5d names, threads %d: ramBytesUsed %5.1f MB, alive %5.1f MB\n' $kind $names $threads "$used" \
        "$alive"
      case $names,$threads in
        100,*) awk "BEGIN { exit !($alive < 2 * $used + 3) }" || bad=1 ;;
        *,1) awk "BEGIN { exit !($alive > 2.2 * $used) }" || bad=1 ;;
        *) awk "BEGIN { exit !($alive > 3 * $used) }" || bad=1 ;;
      esac
    done
  done
done
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
