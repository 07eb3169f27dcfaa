#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# A map of Hazelcast (com.hazelcast:hazelcast 5.7.0, one member) that evicts when less than a fifth of the heap is free:
# MaxSizePolicy.FREE_HEAP_PERCENTAGE, 20, LRU. 10,000 entries of 1 KB, and 80 MB that the program keeps for itself, so
# that about 110 of 256 MB are alive; then 100,000 puts of keys that are there, each with 20 KB of garbage. A stock JDK
# 25.0.3.
#
#   guessed   no entry is evicted, with any collector: more than half of the heap is free at each collection
#   seen                                                evicted    least entries of 10,000
#             G1                                   20,400 to 22,800             7,800 to 7,900
#             ZGC                                   3,200 to 19,600             7,100 to 9,200
#             Parallel                             12,400 to 13,400             6,100 to 7,300
#             Shenandoah                           11,000 to 18,700             7,900 to 8,700
#             Serial                                 7,300 to 9,200             7,200 to 7,500
#             G1 with USED_HEAP_PERCENTAGE, 80                    0                     10,000
#             Free is what Runtime says at the moment of a put: garbage that no collector has looked at counts as used.
#             Each collector lets it fill most of the heap before it begins, so puts before a collection evict, which
#             frees nothing until then. What a map keeps depends on when collections come. USED_HEAP_PERCENTAGE goes by
#             what the map itself has, and evicts none
#
# Needs a JDK 25 with Shenandoah (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml << 'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>evicts</artifactId><version>1</version><dependencies><dependency>
<groupId>com.hazelcast</groupId><artifactId>hazelcast</artifactId><version>5.7.0</version>
</dependency></dependencies></project>
POM
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Evicts.java << 'JAVA'
import com.hazelcast.config.Config;
import com.hazelcast.config.EvictionConfig;
import com.hazelcast.config.EvictionPolicy;
import com.hazelcast.config.MaxSizePolicy;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.map.IMap;

public class Evicts {
    static final byte[][] KEPT = new byte[800][];
    static volatile Object sink;

    static Config config(String policy, int size, int port) {
        Config config = new Config();
        config.setProperty("hazelcast.phone.home.enabled", "false");
        config.setProperty("hazelcast.logging.type", "none");
        var network = config.getNetworkConfig().setPort(port);
        network.getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        network.getJoin().getAutoDetectionConfig().setEnabled(false);
        network.getJoin().getMulticastConfig().setEnabled(false);
        config.getMapConfig("m").setEvictionConfig(new EvictionConfig().setEvictionPolicy(EvictionPolicy.LRU)
            .setMaxSizePolicy(MaxSizePolicy.valueOf(policy)).setSize(size));
        return config;
    }

    /** Prints evictions, the least number of entries, and MB alive at the end. */
    public static void main(String[] args) {
        var member = Hazelcast.newHazelcastInstance(
            config(args[0], Integer.parseInt(args[1]), Integer.parseInt(args[2])));
        IMap<Integer, byte[]> map = member.getMap("m");
        for (int i = 0; i < KEPT.length; i++) {
            KEPT[i] = new byte[100_000];
        }
        int least = 10_000;
        for (int i = 0; i < 110_000; i++) {
            for (int k = 0; k < 10; k++) {
                sink = new byte[2000];
            }
            map.put(i % 10_000, new byte[1000]);
            if (i >= 10_000 && i % 500 == 0) {
                least = Math.min(least, map.size());
            }
        }
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        System.out.println("seen " + map.getLocalMapStats().getEvictionCount() + " " + least + " "
            + (runtime.totalMemory() - runtime.freeMemory()) / 1_000_000);
        System.exit(0);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Evicts.java 2> errors || { cat errors; exit 1; }
bad=0
# one COLLECTOR POLICY SIZE: prints what was seen, and sets `evicted`
one() {
  local least alive
  "$java/java" -XX:+Use$1GC -Xmx256m -cp 'lib/*:.' Evicts "$2" "$3" \
    "$(python3 -c 'import random; print(random.randrange(20000, 30000))')" > said 2> errors || { cat errors; exit 1; }
  read -r evicted least alive < <(sed -n 's/^seen //p' said)
  printf '%-10s %s %d: %5d evicted, %5d entries at least, %3d MB alive\n' "$1" "$2" "$3" "$evicted" "$least" "$alive"
  ((alive < 150)) || bad=1
}
for collector in G1 Z Parallel Shenandoah Serial; do
  one $collector FREE_HEAP_PERCENTAGE 20
  ((evicted > 500)) || bad=1
done
one G1 USED_HEAP_PERCENTAGE 80
((evicted == 0)) || bad=1
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
