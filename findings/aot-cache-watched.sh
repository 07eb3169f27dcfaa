#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# An AOT cache (JEP 483, 514) of a stock JDK 25.0.3 (Temurin), and flags by which a JVM is watched, or collects.
#
#   guessed   an AOT cache that was made without -XX:StartFlightRecording, -javaagent or
#             -Dcom.sun.management.jmxremote serves classes with them, too: perhaps without those that are linked
#             ahead, and the JDK's own archive serves at least. One that was made with G1 serves classes, if no
#             objects, with ZGC
#   seen      each of the three brings a module that was not there when the cache was made. The cache is refused
#             whole, and with it the JDK's own archive: none of some 2,100 to 2,700 classes comes from a cache,
#             while without any AOT cache over 1,100 do. So a cache and a recording have less than a recording
#             alone. The program goes on, after two lines of [error][aot]. ZGC (compressed references are off) and
#             compact headers lose all of it in the same way, with a warning. A cache that was made with the same
#             flag serves again; with Shenandoah one that was made with G1 does
#
# Needs a JDK 25 (JAVA_HOME). Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > App.java <<'JAVA'
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

public class App {
    public static void main(String[] args) {
        System.out.println(IntStream.range(0, 100).boxed().collect(Collectors.groupingBy(i -> i % 7)).size()
            + new ConcurrentHashMap<>(Map.of("a", "b")).size());
        java.net.http.HttpClient.newHttpClient();
    }
}
JAVA
echo 'public class Agent { public static void premain(String args) { } }' > Agent.java
"$java/javac" App.java Agent.java
printf 'Premain-Class: Agent\n' > manifest
"$java/jar" cf app.jar App.class
"$java/jar" cfm agent.jar manifest Agent.class

# the flag that each name stands for; `none` stands for one that changes nothing
flags() {
  case $1 in
    recording) echo '-XX:StartFlightRecording:filename=r.jfr' ;;
    agent) echo '-javaagent:agent.jar' ;;
    jmx) echo '-Dcom.sun.management.jmxremote' ;;
    zgc) echo '-XX:+UseZGC' ;;
    headers) echo '-XX:+UseCompactObjectHeaders' ;;
    shenandoah) echo '-XX:+UseShenandoahGC' ;;
    *) echo '-Dnone=1' ;;
  esac
}
make_cache() {
  "$java/java" -XX:AOTCacheOutput="$1.aot" "$(flags "$1")" -cp app.jar App > made 2>&1 || { cat made; return 1; }
}
# prints how many classes come from a cache: of the cache $1 (or - for no AOT cache), with the flag $2
from_cache() {
  local cache=()
  [ "$1" = - ] || cache=("-XX:AOTCache=$1.aot")
  "$java/java" "${cache[@]}" "$(flags "$2")" -Xlog:class+load:file=loaded.txt -cp app.jar App > out 2>&1 ||
    { cat out >&2; return 1; }
  grep -c 'shared objects file' loaded.txt || true
}
bad=0
make_cache none
printf '%-40s %18s %18s %18s\n' 'classes from a cache' 'no AOT cache' 'cache made without' 'cache made with it'
own=$(from_cache none none)
printf '%-40s %18s %18s\n' nothing "$(from_cache - none)" "$own"
[ "$own" -gt 1500 ] || bad=1
for watch in recording agent jmx zgc headers; do
  make_cache "$watch"
  alone=$(from_cache - "$watch") without=$(from_cache none "$watch") with=$(from_cache "$watch" "$watch")
  printf '%-40s %18s %18s %18s\n' "$(flags "$watch")" "$alone" "$without" "$with"
  [ "$alone" -gt 1000 ] && [ "$without" = 0 ] && [ "$with" -gt 1500 ] || bad=1
done
shenandoah=$(from_cache none shenandoah)
printf '%-40s %18s %18s\n' "$(flags shenandoah)" "$(from_cache - shenandoah)" "$shenandoah"
[ "$shenandoah" -gt 1500 ] || bad=1
[ "$bad" = 0 ] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
