#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# where.sh: where the processor time of a request goes, and how it allocates: a service under a closed loop, one collector after the other. First perf samples all threads, then a flight
# recording has each buffer and each object that went around them. Prints for each collector microseconds for a request in compiled code, the kernel, the VM on threads that serve, the VM's
# own threads (collector, compilers) and other libraries, and what was allocated; leaves the functions in build/where/. About WHERE_WARMUP and 45 seconds for each. Needs perf.
#
# Settings:
#   WHERE_SERVICES="lucene:20"        with their heaps in MB
#   WHERE_FLAGS="-XX:+UseLullGC|-XX:+UseSerialGC"   flags of a JVM each, between bars
#   WHERE_JAVA                        default: build/jdk/bin/java
#   WHERE_WARMUP=30 WHERE_SECONDS=10  of the samples; the recording takes about 4
#   WHERE_THREADS=4                   of the server, and clients of its loop
#   LULL_BASE_JDK, OPENJDK_SRC        as for demo.sh

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/service.sh
. "$BENCH/service.sh"

read -ra services <<< "${WHERE_SERVICES:-lucene:20}"
IFS='|' read -ra settings <<< "${WHERE_FLAGS:--XX:+UseLullGC|-XX:+UseSerialGC}"
java=${WHERE_JAVA:-$LULL_BUILD/jdk/bin/java} warmup=${WHERE_WARMUP:-30} seconds=${WHERE_SECONDS:-10} threads=${WHERE_THREADS:-4}
check_numbers "WHERE_WARMUP $warmup" "WHERE_SECONDS $seconds" "WHERE_THREADS $threads"
check_services WHERE_SERVICES lucene:20 "${services[@]}"
command -v perf > /dev/null || die "there is no perf (linux-perf, or linux-tools of this kernel)"
[ -x "$java" ] || die "there is no $java: make jdk, or set WHERE_JAVA"
find_base_jdk
tools=$(dirname "$java")
out=$LULL_BUILD/where
take_turn_of_benches
rm -rf "$out"
mkdir -p "$out"
HERTZ=1999 RECORDED=4
cat > "$out/buffers.jfc" << 'END'
<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
  <event name="jdk.ObjectAllocationInNewTLAB"><setting name="enabled">true</setting><setting name="stackTrace">false</setting></event>
  <event name="jdk.ObjectAllocationOutsideTLAB"><setting name="enabled">true</setting><setting name="stackTrace">false</setting></event>
</configuration>
END

pauses() { grep -c 'Pause.*ms$' "$1" || true; }

# sample NAME: samples of all threads of pid, as lines of thread, address, symbol and library.
sample() {
  perf record -q -F $HERTZ -p "$pid" -o "$1.perf" sleep "$seconds" > "$1.perf.log" 2>&1 || die "perf cannot sample: $(tail -n 3 "$1.perf.log")"
  # The names of compiled code, for perf script.
  "$tools/jcmd" "$pid" Compiler.perfmap > /dev/null 2>&1 || true
  perf script -i "$1.perf" -F comm,ip,sym,dso 2> /dev/null > "$1.samples"
  [ -s "$1.samples" ] || die "perf has no samples: see $1.perf.log"
  rm -f "$1.perf" "/tmp/perf-$pid.map"
}

# costs NAME RATE: microseconds for a request, by place; the functions go to NAME.functions.
costs() {
  awk -v rate="$2" -v seconds="$seconds" -v hertz=$HERTZ -v functions="$1.functions" '
    BEGIN { each = 1e6 / hertz / seconds / rate }
    {
      own = $0 ~ /^ *(VM |Lull|GC |G1 |C[12] Comp|Shenandoah|Z[A-Z]|Signal|Service|Monitor|Notif|Reference|Finalizer|Common-Cl|Sweeper)/
      library = $NF
      if (library ~ /kernel|\[k/) place = "kernel"
      else if (library ~ /libjvm/) place = own ? "own" : "serving"
      else if (library ~ /perf-|unknown|anon|\[heap/) place = "compiled"
      else place = "other"
      sum[place] += each; sum["all"] += each
      line = $0; sub(/^.*[ \t][0-9a-f]+ /, "", line)
      function_of[place " " line] += each
    }
    END {
      for (f in function_of) if (function_of[f] >= 0.1) printf "%.1f %s\n", function_of[f], f | "sort -rn > " functions
      printf "%.1f %.1f %.1f %.1f %.1f %.1f\n", sum["compiled"], sum["kernel"], sum["serving"], sum["own"], sum["other"], sum["all"]
    }' "$1.samples"
}

# allocation NAME RATE PAUSES: of the recording: KB for a request, buffers and objects around them for each MB, KB of a buffer, pauses for each GB.
# The recording lasts longer than the sleep between its start and its end, so its seconds are those from its first event to its last.
allocation() {
  "$tools/jfr" print --events jdk.ObjectAllocationInNewTLAB,jdk.ObjectAllocationOutsideTLAB "$1.jfr" | awk -v rate="$2" -v pauses="$3" '
    function bytes(value, unit) { return value * (unit ~ /^kB/ ? 1024 : unit ~ /^MB/ ? 1048576 : 1) }
    /^jdk\.ObjectAllocation/ { around = /Outside/; if (around) objects++; else buffers++ }
    /^ *startTime = / {
      split($3, time, ":")
      at = time[1] * 3600 + time[2] * 60 + time[3]
      if (!any++) begin = first = last = at
      # The clock may pass midnight.
      if (at < begin - 43200) at += 86400
      if (at < first) first = at
      if (at > last) last = at
    }
    /tlabSize/ { inside += bytes($3, $4) }
    /allocationSize/ { if (around) outside += bytes($3, $4) }
    END {
      all = inside + outside
      if (all == 0) all = 1
      s = last > first ? last - first : 1
      printf "%.0f %.1f %.1f %.1f %.1f\n", all / 1024 / s / rate, buffers / all * 1048576, objects / all * 1048576, (buffers ? inside / buffers / 1024 : 0), pauses / all * 1073741824
    }'
}

for entry in "${services[@]}"; do
  heap=${entry#*:}
  prepare_service "${entry%:*}" "$java"
  for number in "${!settings[@]}"; do
    read -ra flags <<< "${settings[number]}"
    name=$out/$SERVICE-$number
    echo "$SERVICE in $heap MB, ${settings[number]}: $warmup s of warm-up, $seconds of samples, $RECORDED of a recording"
    start_service "$name" "$java" "${flags[@]}" "-Xms${heap}m" "-Xmx${heap}m" "-Xlog:gc:file=$name.gc:none:filecount=0"
    load "$port" "$warmup" "$name.warm.json"
    load "$port" $((seconds + 4)) "$name.sampled.json" &
    client=$!
    sleep 2
    sample "$name"
    wait "$client"
    load "$port" $((RECORDED + 5)) "$name.recorded.json" &
    client=$!
    sleep 2
    before=$(pauses "$name.gc")
    "$tools/jcmd" "$pid" JFR.start name=where "settings=$out/buffers.jfc" > "$name.jcmd.log"
    sleep $RECORDED
    "$tools/jcmd" "$pid" JFR.stop name=where "filename=$name.jfr" >> "$name.jcmd.log"
    after=$(pauses "$name.gc")
    wait "$client"
    kill "$child"
    wait "$child" 2> /dev/null || true
    rate=$(field throughput "$name.sampled.json")
    echo "$SERVICE $heap $rate $(costs "$name" "$rate") $(allocation "$name" "$(field throughput "$name.recorded.json")" $((after - before))) ${settings[number]}" >> "$out/table"
    rm -f "$name.samples" "$name.jfr"
  done
done

echo
echo "microseconds of processor time for a request; KB that it allocates, buffers and objects around them for each MB, KB of a buffer, pauses for each GB (the functions: $out/*.functions)"
printf '%-8s %5s %7s %9s %7s %8s %7s %6s %6s %7s %8s %8s %7s %7s  %s\n' service MB req/s compiled kernel serving own other all KB buffers around KB pauses flags
awk '{ printf "%-8s %5s %7.0f %9s %7s %8s %7s %6s %6s %7s %8s %8s %7s %7s ", $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
       for (i = 15; i <= NF; i++) printf " %s", $i; print "" }' "$out/table"
