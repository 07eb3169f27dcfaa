#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Libraries that compute how large a Java object is, with -XX:+UseCompactObjectHeaders of a stock JDK 25.0.3,
# against Instrumentation.getObjectSize. All of them are right without that flag. org.openjdk.jol:jol-core 0.17;
# com.github.jbellis:jamm 0.4.0 without its agent; org.ehcache:sizeof 0.4.4; com.carrotsearch:java-sizeof 0.0.5;
# org.apache.lucene:lucene-core 10.3.1, RamUsageEstimator.
#
#   guessed   JOL and Ehcache are right. The others take headers of 12 bytes, and 16 for arrays, as compressed
#             classes had
#   seen      JOL and the oldest, java-sizeof, are right for all of 20 objects: they ask the JVM where fields are.
#             jamm and Ehcache, too, but for an object without fields: 16 bytes, not 8. Lucene, which it comes from,
#             is wrong for ten: a Long, an AtomicLong, a byte[4], an entry of a map 24 for 16, which is 50 % too
#             much; never too little
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
  echo '<groupId>findings</groupId><artifactId>sizes</artifactId><version>1</version><dependencies>'
  dependency org.openjdk.jol jol-core 0.17
  dependency com.github.jbellis jamm 0.4.0
  dependency org.ehcache sizeof 0.4.4
  dependency com.carrotsearch java-sizeof 0.0.5
  dependency org.apache.lucene lucene-core 10.3.1
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Sizes.java <<'JAVA'
import java.lang.instrument.Instrumentation;
import java.util.AbstractMap.SimpleEntry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import org.ehcache.sizeof.SizeOf;
import org.github.jamm.MemoryMeter;
import org.openjdk.jol.info.ClassLayout;

public class Sizes {
    static Instrumentation jvm;

    static class Three { Object a, b, c; }

    public static void premain(String args, Instrumentation instrumentation) {
        jvm = instrumentation;
    }

    public static void main(String[] args) {
        Object[] objects = {new Object(), 5000, 5000L, "x", new AtomicLong(), Optional.of(1), new SimpleEntry<>(1, 2),
            new Three(), new HashMap<>(), new ArrayList<>(), new byte[0], new byte[4], new byte[5], new byte[12],
            new byte[17], new int[1], new int[2], new long[1], new Object[1], new Object[2]};
        MemoryMeter jamm = MemoryMeter.builder().withGuessing(MemoryMeter.Guess.UNSAFE).build();
        SizeOf ehcache = SizeOf.newInstance();
        wrong("JOL", objects, o -> ClassLayout.parseInstance(o).instanceSize());
        wrong("java-sizeof", objects, com.carrotsearch.sizeof.RamUsageEstimator::shallowSizeOf);
        wrong("jamm", objects, jamm::measure);
        wrong("Ehcache", objects, ehcache::sizeOf);
        wrong("Lucene", objects, org.apache.lucene.util.RamUsageEstimator::shallowSizeOf);
    }

    /** Prints how many sizes are wrong, and which. */
    static void wrong(String name, Object[] objects, ToLongFunction<Object> library) {
        int wrong = 0;
        StringBuilder which = new StringBuilder();
        for (Object o : objects) {
            long size = library.applyAsLong(o);
            long real = jvm.getObjectSize(o);
            if (size != real) {
                wrong++;
                which.append(' ').append(o.getClass().getSimpleName()).append(':').append(size)
                    .append(" for ").append(real);
            }
        }
        System.out.println(name + " " + wrong + which);
    }
}
JAVA
"$java/javac" -cp 'lib/*' Sizes.java
printf 'Premain-Class: Sizes\n' > manifest
"$java/jar" cfm agent.jar manifest Sizes*.class
sizes() {
  "$java/java" "$1" -Djol.magicFieldOffset=true -javaagent:agent.jar -cp 'agent.jar:lib/*' Sizes 2> errors > "$2" ||
    { cat errors; exit 1; }
  sed -i '/WARNING/d' "$2"    # jamm and JOL say what they miss
  cat "$2"
}
echo 'library, how many of 20 are wrong, which'
echo 'headers of 12 bytes:'
sizes -XX:-UseCompactObjectHeaders classic
echo 'compact headers:'
sizes -XX:+UseCompactObjectHeaders compact
[ "$(cut -d' ' -f1,2 classic | paste -sd,)" = 'JOL 0,java-sizeof 0,jamm 0,Ehcache 0,Lucene 0' ] &&
  [ "$(cut -d' ' -f1,2 compact | grep -v Lucene | paste -sd,)" = 'JOL 0,java-sizeof 0,jamm 1,Ehcache 1' ] &&
  [ "$(awk '/^Lucene/ { print $2 }' compact)" -ge 8 ] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
