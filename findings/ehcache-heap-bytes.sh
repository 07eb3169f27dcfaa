#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# How much a cache keeps alive that is told to have 10 MB of heap: org.ehcache:ehcache 3.12.0,
# ResourcePoolsBuilder.heap(10, MemoryUnit.MB), on a stock JDK 25.0.3. 10,000 entries are put, each with a value of
# about 10 KB; alive is what System.gc() leaves more than before.
#
#   guessed   about 1,000 entries and 10 MB, whatever the values are, or an error when the cache is made
#   seen      values                                                        entries      MB alive
#             byte[], a class of one's own                           1,016 to 1,023          10.4
#             String, ArrayList, HashMap                                     10,000    101 to 109
#             record                                                              0             0
#             with --add-opens for java.lang and java.util
#             String, ArrayList                                      1,019 to 1,020          10.4
#             record                                                              0             0
#             Ehcache walks through the fields of values. What the JDK does not open to it, it leaves out, and says once
#             for each kind of value that `cache sizes may be underestimated`, at WARN. The fields of a record it asks
#             for by sun.misc.Unsafe, which refuses: nothing is ever cached, put() returns, and lines at INFO say that
#             it `recovered` (its issue 3008). Sizes of heap in bytes are deprecated for that, says a line at INFO
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# Without jaxb-runtime, which is for configuration by XML and whose old parent POM not every mirror has
cat > pom.xml << 'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>cached</artifactId><version>1</version><dependencies>
<dependency><groupId>org.ehcache</groupId><artifactId>ehcache</artifactId><version>3.12.0</version>
<exclusions><exclusion><groupId>org.glassfish.jaxb</groupId><artifactId>jaxb-runtime</artifactId></exclusion>
</exclusions>
</dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>2.0.17</version></dependency>
</dependencies></project>
POM
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Fill.java << 'JAVA'
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.ehcache.Cache;
import org.ehcache.config.builders.CacheConfigurationBuilder;
import org.ehcache.config.builders.CacheManagerBuilder;
import org.ehcache.config.builders.ResourcePoolsBuilder;
import org.ehcache.config.units.MemoryUnit;

public class Fill {
    record OfRecord(byte[] bytes) {
    }

    static class OfClass {
        final byte[] bytes = new byte[10_000];
    }

    static Object value(String kind, int i) {
        switch (kind) {
            case "byte[]":
                return new byte[10_000];
            case "class":
                return new OfClass();
            case "record":
                return new OfRecord(new byte[10_000]);
            case "String":
                return "x".repeat(9_999) + i % 10;
            case "ArrayList":
                return new ArrayList<>(Collections.nCopies(2_500, i));
            default:
                Map<Integer, Object> map = new HashMap<>();
                for (int k = 0; k < 150; k++) {
                    map.put(k + 1000, new Object());
                }
                return map;
        }
    }

    static long alive() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    /** Prints entries, and MB that they keep alive. */
    public static void main(String[] args) {
        try (var manager = CacheManagerBuilder.newCacheManagerBuilder().build(true)) {
            Cache<Integer, Object> cache = manager.createCache("c",
                CacheConfigurationBuilder.newCacheConfigurationBuilder(Integer.class, Object.class,
                    ResourcePoolsBuilder.newResourcePoolsBuilder().heap(10, MemoryUnit.MB)));
            cache.put(-1, value(args[0], 0));
            cache.remove(-1);
            long before = alive();
            for (int i = 0; i < 10_000; i++) {
                cache.put(i, value(args[0], i));
            }
            long more = alive() - before;
            int entries = 0;
            for (Object entry : cache) {
                entries++;
            }
            System.out.printf(Locale.ROOT, "%d %.1f%n", entries, more / 1e6);
        }
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Fill.java 2> errors || { cat errors; exit 1; }
bad=0
# one EXPECTED KIND [OPTION...]: EXPECTED is bounded (about 10 MB), all (ten times that), or none
one() {
  local expected=$1 kind=$2 entries alive
  shift 2
  read -r entries alive < <("$java/java" -XX:+UseSerialGC -Xmx400m "$@" -cp 'lib/*:.' Fill "$kind" 2> errors)
  printf '%-10s %-5s %6d entries, %6s MB alive, %s\n' "$kind" "${1:+open}" "$entries" "$alive" \
    "underestimated $(grep -c 'WARN .*may be underestimated' errors || true), recovered $(
      grep -c 'INFO .* recovered from' errors || true)"
  case $expected in
    bounded) ((entries > 800 && entries < 1200)) || bad=1 ;;
    all) ((entries == 10000)) && awk "BEGIN { exit !($alive > 90) }" || bad=1 ;;
    none) ((entries == 0)) || bad=1 ;;
  esac
}
open=(--add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED)
one bounded 'byte[]'
one bounded class
one all String
one all ArrayList
one all HashMap
one none record
one bounded String "${open[@]}"
one bounded ArrayList "${open[@]}"
one none record "${open[@]}"
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
