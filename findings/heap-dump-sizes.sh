#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# How large four readers of heap dumps say that a heap is: a map of 300,000 numbers, and 300,000 java.util.Optional, on a
# stock JDK 25.0.3 as it comes and with -XX:+UseCompactObjectHeaders. The truth is the histogram of classes that the JVM
# writes at the same moment. org.netbeans.modules:org-netbeans-lib-profiler RELEASE250, by which VisualVM and NetBeans
# read; hprof-slurp 0.10.0; com.squareup.leakcanary:shark-graph 2.14; org.openjdk.jol:jol-cli 0.17, heapdump-estimates.
#
#   guessed   each is right to a tenth for the JVM as it comes, and to a fifth with compact headers
#   seen      MB                        as it comes    compact headers
#             the JVM                          32.0               24.7
#             NetBeans' library                42.1               42.2
#             hprof-slurp                      43.3               43.3
#             Shark                            22.0               22.0
#             JOL, for that JVM                31.9               24.6
#             A dump says how large identifiers are (8 bytes), but neither how large references are in the heap (4, up
#             to 32 GB) nor headers. So the first two take 8 bytes for each reference, Shark takes no header (an Object
#             has 0 bytes), and two dumps before and after compact headers show that they save nothing. JOL asks which
#             JVM it was, and prints the size for each
#
# Needs a JDK 25 (JAVA_HOME), Maven, and cargo. Fails if what was seen has changed.
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
  echo '<groupId>findings</groupId><artifactId>dumps</artifactId><version>1</version><dependencies>'
  dependency org.netbeans.modules org-netbeans-lib-profiler RELEASE250
  dependency com.squareup.leakcanary shark-graph 2.14
  dependency org.openjdk.jol jol-cli 0.17
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cargo install --quiet --locked --root slurp hprof-slurp --version 0.10.0 > errors 2>&1 || { cat errors; exit 1; }
cat > Dump.java << 'JAVA'
import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.management.ObjectName;

public class Dump {
    static final Map<Long, Object> MAP = new HashMap<>();
    static final List<Optional<?>> LIST = new ArrayList<>();

    /** Prints the bytes of the JVM's histogram of classes, and writes a dump. Both take what is alive only. */
    public static void main(String[] args) throws Exception {
        for (long i = 0; i < 300_000; i++) {
            MAP.put(i + 1000, new Object());
            LIST.add(Optional.of(LIST));
        }
        Object histogram = ManagementFactory.getPlatformMBeanServer().invoke(
            new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
            new Object[] {new String[0]}, new String[] {String[].class.getName()});
        String[] total = histogram.toString().strip().split("\\s+");
        System.out.println(total[total.length - 1]);
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
    }
}
JAVA
cat > Sizes.java << 'JAVA'
import java.io.File;
import java.util.EnumSet;
import org.netbeans.lib.profiler.heap.HeapFactory;
import shark.HeapObject;
import shark.HprofHeapGraph;
import shark.HprofRecordTag;

public class Sizes {
    static long size(HeapObject object) {
        if (object instanceof HeapObject.HeapInstance instance) {
            return instance.getByteSize();
        }
        if (object instanceof HeapObject.HeapObjectArray array) {
            return array.getByteSize();
        }
        return object instanceof HeapObject.HeapPrimitiveArray array ? array.getByteSize() : 0;
    }

    public static void main(String[] args) throws Exception {
        File dump = new File(args[0]);
        System.out.println("netbeans " + HeapFactory.createHeap(dump).getSummary().getTotalLiveBytes());
        try (var graph = HprofHeapGraph.Companion.openHeapGraph(dump, null, EnumSet.allOf(HprofRecordTag.class))) {
            long sum = 0;
            for (var objects = graph.getObjects().iterator(); objects.hasNext();) {
                sum += size(objects.next());
            }
            System.out.println("shark " + sum);
        }
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Dump.java Sizes.java 2> errors || { cat errors; exit 1; }
# jol DUMP MODEL: what JOL says for the JVM whose description has this in it
jol() {
  "$java/java" -cp 'lib/*' org.openjdk.jol.Main heapdump-estimates "$1" 2> errors |
    grep -F -A 2 "$2" | sed -n 's/.*Total object size: *\([0-9]*\) bytes/\1/p' | head -n 1
}
declare -A model=(
  [UseCompressedOops]='(JDK 15, 64-bit model, compressed references, compressed classes, 8-byte aligned)'
  [UseCompactObjectHeaders]='Lilliput (current experiment), compressed references, compressed classes, 8-byte aligned)')
bad=0
for flag in UseCompressedOops UseCompactObjectHeaders; do
  truth=$("$java/java" -XX:+UseG1GC -Xmx256m -XX:+$flag -cp . Dump $flag.hprof)
  "$java/java" -Xmx1g -cp 'lib/*:.' Sizes $flag.hprof > said 2> errors || { cat errors; exit 1; }
  netbeans=$(sed -n 's/^netbeans //p' said)
  shark=$(sed -n 's/^shark //p' said)
  slurp/bin/hprof-slurp $flag.hprof > said 2> errors
  slurp=$(sed -n 's/^Found a total of \([0-9.]*\)MiB of raw.*/\1/p' said | awk '{ printf "%d", $1 * 1048576 }')
  jol=$(jol $flag.hprof "${model[$flag]}")
  echo "$flag"
  for one in truth netbeans slurp shark jol; do
    printf '  %-10s %s MB\n' $one "$(awk "BEGIN { printf \"%.1f\", ${!one} / 1e6 }")"
  done
  # In hundredths of the truth
  if [[ $flag == UseCompressedOops ]]; then more=125; else more=160; fi
  ((netbeans * 100 > truth * more && slurp * 100 > truth * more)) || bad=1
  ((shark * 100 < truth * 95 && jol * 100 > truth * 97 && jol * 100 < truth * 103)) || bad=1
done
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
