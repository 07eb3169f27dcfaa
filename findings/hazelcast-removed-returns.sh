#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What a map of Hazelcast (com.hazelcast:hazelcast 5.7.0) has after one of three members has stood (SIGSTOP), as in a
# long pause or a frozen container, and goes on. 1,000 keys; while the member stands and after the two others have taken
# it out, 500 of them are removed and 500 get a new value. So that it takes a minute, a member is taken out after 15 s
# without a heartbeat in place of 60, and looks for its cluster after 5 s in place of 300. A stock JDK 25.0.3.
#
#   guessed   the member that comes back takes what the two others have: what was removed stays removed
#   seen                                       removed keys that are back    keys with the old value
#             as it comes                                      150 to 350                          0
#             DiscardMergePolicy                                        0                          0
#             The member that stood knows that the clock jumped, forgets the two others all the same, and merges as a
#             cluster of its own: PutIfAbsentMergePolicy, the default, adds what the others lack. What was removed is
#             lacking, so whatever the member was the owner or the backup of at that time is back, for good, and no
#             error says so. So a pause longer than the limit gives sessions, locks or permits of a map new life
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
members=()
end() {
  [[ -z "${members[*]}" ]] || kill -KILL "${members[@]}" 2> /dev/null || true
  wait
  rm -rf "$work"
}
trap end EXIT
cd "$work"
{
  echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
  echo '<groupId>findings</groupId><artifactId>stood</artifactId><version>1</version><dependencies>'
  echo '<dependency><groupId>com.hazelcast</groupId><artifactId>hazelcast</artifactId><version>5.7.0</version>'
  echo '</dependency>'
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Member.java << 'JAVA'
import com.hazelcast.config.Config;
import com.hazelcast.config.MergePolicyConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import java.util.Scanner;

public class Member {
    static Config config(String policy, int port, int first) {
        Config config = new Config();
        config.setProperty("hazelcast.phone.home.enabled", "false");
        config.setProperty("hazelcast.max.no.heartbeat.seconds", "15");
        config.setProperty("hazelcast.heartbeat.interval.seconds", "1");
        config.setProperty("hazelcast.merge.first.run.delay.seconds", "5");
        config.setProperty("hazelcast.merge.next.run.delay.seconds", "5");
        var network = config.getNetworkConfig().setPort(port).setPortAutoIncrement(false);
        network.getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        var join = network.getJoin();
        join.getAutoDetectionConfig().setEnabled(false);
        join.getMulticastConfig().setEnabled(false);
        join.getTcpIpConfig().setEnabled(true);
        for (int i = 0; i < 3; i++) {
            join.getTcpIpConfig().addMember("127.0.0.1:" + (first + i));
        }
        if (!policy.isEmpty()) {
            config.getMapConfig("m").setMergePolicyConfig(new MergePolicyConfig().setPolicy(policy));
        }
        return config;
    }

    static void change(IMap<Integer, String> map) {
        for (int i = 0; i < 500; i++) {
            map.remove(i);
            map.put(500 + i, "new");
        }
    }

    /** Members, keys, removed keys that are there, keys with the old value. */
    static String look(HazelcastInstance member, IMap<Integer, String> map) {
        int back = 0;
        int old = 0;
        for (int i = 0; i < 500; i++) {
            back += map.get(i) != null ? 1 : 0;
            old += "old".equals(map.get(500 + i)) ? 1 : 0;
        }
        return member.getCluster().getMembers().size() + " " + map.size() + " " + back + " " + old;
    }

    public static void main(String[] args) {
        var member = Hazelcast.newHazelcastInstance(
            config(args[0], Integer.parseInt(args[1]), Integer.parseInt(args[2])));
        IMap<Integer, String> map = member.getMap("m");
        for (Scanner in = new Scanner(System.in); in.hasNextLine();) {
            String order = in.nextLine();
            if (order.equals("fill")) {
                for (int i = 0; i < 1000; i++) {
                    map.put(i, "old");
                }
            } else if (order.equals("change")) {
                change(map);
            }
            System.out.println(look(member, map));
        }
        System.exit(0);
    }
}
JAVA
"$java/javac" -cp 'lib/*' Member.java
# until_first PATTERN: asks the first member, which answers each time, until its answer is such; at most ten minutes
until_first() {
  local said
  for ((SECONDS = 0; SECONDS < 600;)); do
    said=$(wc -l < said0)
    echo >&5
    while (($(wc -l < said0) == said && SECONDS < 600)); do sleep 0.2; done
    if tail -n 1 said0 | grep -qE "$1"; then return; fi
    sleep 1
  done
  echo "the first member says: $(tail -n 1 said0)" >&2
  exit 1
}
# order WORD: the first member does that, and has answered then
order() {
  local said
  said=$(wc -l < said0)
  echo "$1" >&5
  for ((SECONDS = 0; SECONDS < 600;)); do
    if (($(wc -l < said0) > said)); then return; fi
    sleep 0.2
  done
}
# one POLICY: removed keys that are back, and old values, with this policy ('' for the default)
one() {
  local first i
  first=$(python3 -c 'import random; print(random.randrange(20000, 30000))')
  members=()
  for i in 0 1 2; do
    rm -f go$i
    mkfifo go$i
    "$java/java" -XX:TieredStopAtLevel=1 -Xmx128m -cp 'lib/*:.' Member "$1" $((first + i)) "$first" < go$i > said$i \
      2> log$i &
    members+=($!)
  done
  exec 5> go0 6> go1 7> go2
  until_first '^3 '
  order fill
  until_first '^3 1000 500 500$'
  sleep 2
  kill -STOP "${members[2]}"
  until_first '^2 1000 500 500$'
  order change
  until_first '^2 500 0 0$'
  kill -CONT "${members[2]}"
  until_first '^3 '
  sleep 10
  until_first '^3 '
  tail -n 1 said0 | cut -d ' ' -f 3,4 > seen
  exec 5>&- 6>&- 7>&-
  wait "${members[@]}" || true
  members=()
}
bad=0
printf '%-28s %s\n' '' 'removed keys that are back, keys with the old value'
for policy in '' DiscardMergePolicy; do
  one "$policy"
  read -r back old < seen
  printf '%-28s %d %d\n' "${policy:-as it comes}" "$back" "$old"
  if [[ -z $policy ]]; then ((back > 50)) || bad=1; else ((back == 0)) || bad=1; fi
  ((old == 0)) || bad=1
done
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
