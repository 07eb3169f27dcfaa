#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# first-minutes.sh: two JVMs start a service at the same moment, on a processor each, and are under load from their first second on. In the next round they
# have changed processors. Prints for each service, and for each of the two JVMs, from the start of the process: seconds and processor seconds to the first answer; answers and
# processor seconds of the first 30, 60 and 120 seconds; answers of the first 10, 20 and 40 processor seconds; and the ratios of A to B: the median of all rounds,
# the least and the largest. Leaves requests in each second as a picture and a table for each service, in build/first-minutes.
# Where other processes want the two processors, too, seconds say little; what processor seconds brought says what it did.
# The client of each JVM is on its processor, has been started before, and its time is not that of the service.
#
# Settings:
#   FIRST_A=lull FIRST_B=g1-27        collectors as in pairs.sh, with flags if need be: "lull -XX:-LullTracking"
#   FIRST_JAVA_A, FIRST_JAVA_B        default: that of the collector
#   FIRST_FLAGS="FLAGS"               of both, as "-XX:+UseCompactObjectHeaders"
#   FIRST_SERVICES="compile:104 lucene:20 crud:60 h2:52"   with their heaps in MB
#   FIRST_CACHES="no yes"             without the AOT cache of JEP 514, and with one that each JVM has made for itself before: from the
#                                     FIRST_TRAINING=30 seconds of load of a run that is not measured
#   FIRST_ROUNDS=4                    an even number, for each has each processor
#   FIRST_SECONDS=120                 of each
#   FIRST_THREADS=4                   of each server, and clients of its loop
#   LULL_BASE_JDK, OPENJDK_SRC        as for demo.sh

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/service.sh
. "$BENCH/service.sh"
# shellcheck source=bench/sides.sh
. "$BENCH/sides.sh"

read -ra services <<< "${FIRST_SERVICES:-compile:104 lucene:20 crud:60 h2:52}"
read -ra caches <<< "${FIRST_CACHES:-no yes}"
rounds=${FIRST_ROUNDS:-4} seconds=${FIRST_SECONDS:-120} threads=${FIRST_THREADS:-4} training=${FIRST_TRAINING:-30}
check_numbers "FIRST_ROUNDS $rounds" "FIRST_SECONDS $seconds" "FIRST_THREADS $threads" "FIRST_TRAINING $training"
((rounds % 2 == 0)) || die "FIRST_ROUNDS is '$rounds': an even number is needed, for each side starts on each processor"
for cache in "${caches[@]}"; do [[ $cache == no || $cache == yes ]] || die "FIRST_CACHES has '$cache': give no, yes, or both"; done
check_services FIRST_SERVICES compile:104 "${services[@]}"
two_processors
find_base_jdk
out=$LULL_BUILD/first-minutes
take_turn_of_benches
declare -A javas=() options=() names=()
choose_side a "${FIRST_A:-lull}" "${FIRST_JAVA_A:-}" "${FIRST_FLAGS:-}"
choose_side b "${FIRST_B:-g1-27}" "${FIRST_JAVA_B:-}" "${FIRST_FLAGS:-}"
[[ ${names[a]} != "${names[b]}" ]] || names=([a]="${names[a]} A" [b]="${names[b]} B")
rm -rf "$out"
mkdir -p "$out"

# command_of SIDE MORE...: leaves the start of its command line, and its data.
command_of() {
  local more
  read -ra more <<< "${options[$1]}"
  command=("${javas[$1]}" "${more[@]}" "-Xms${heap}m" "-Xmx${heap}m" "${@:2}")
  data=${datas[$1]}
}

# train SIDE: makes its AOT cache, from a run whose end writes it.
train() {
  local name=$out/$SERVICE-$1
  command_of "$1" "-XX:AOTCacheOutput=$name.aot"
  start_service "$name.train" "${command[@]}"
  children[$1]=$child child=
  load "$port" "$training" "$name.train.json"
  end_side "$1"
  [ -s "$name.aot" ] || die "$SERVICE on ${names[$1]} has left no AOT cache: see $name.train.log"
}

end_side() {
  kill "${children[$1]}"
  wait "${children[$1]}" || true
  unset "children[$1]"
}

# first_load SIDE PROCESSOR: the client of a side that is going to start; returns when it waits for that.
first_load() {
  rm -f "$out/$1".{ready,started,load}
  taskset -c "$2" "$LULL_BASE_JDK/bin/java" -XX:+UseSerialGC -Xmx256m -cp "$path" lull.bench.load.FirstMinutesMain --service "$SERVICE" --data "${datas[$1]}" \
    --clients "$threads" --ready "$out/$1.ready" --started "$out/$1.started" --seconds "$seconds" --out "$out/$1.csv" > "$out/$1.load" 2>&1 &
  children[load-$1]=$!
  until grep -q waiting "$out/$1.load"; do
    kill -0 "${children[load-$1]}" 2> /dev/null || die "the load failed: $(tail -n 3 "$out/$1.load")"
    sleep 0.1
  done
}

# both CACHE: starts both sides, and waits until their time is over. For each a line in the results: service, cache, round, side, and what summary_of says.
both() {
  local cache=$1 side
  local -A on=([a]=${processors[round % 2]} [b]=${processors[1 - round % 2]})
  for side in a b; do first_load "$side" "${on[$side]}"; done
  for side in a b; do
    command_of "$side"
    [ "$cache" = no ] || command+=("-XX:AOTCache=$out/$SERVICE-$side.aot")
    date +%s%3N > "$out/$side.started"
    launch_service "$out/$side" taskset -c "${on[$side]}" "${command[@]}"
    children[$side]=$child child=
  done
  for side in a b; do
    wait "${children[load-$side]}" || die "the load of $SERVICE on ${names[$side]} failed: $(tail -n 3 "$out/$side.load") $(tail -n 3 "$out/$side.log")"
    unset "children[load-$side]"
    end_side "$side"
    mv "$out/$side.csv" "$out/$SERVICE-$cache-$round-$side.csv"
    echo "$SERVICE $cache $round $side $(field firstAnswer "$out/$side.csv.json") $(field firstProcessor "$out/$side.csv.json") $(summary_of "$out/$SERVICE-$cache-$round-$side.csv")" >> "$out/results"
  done
}

# summary_of TABLE: answers and processor seconds of its first 30, 60 and 120 seconds, or as many as it has; then answers of the first 10, 20 and 40 processor
# seconds, in part of a second's answers as in part of its processor time; - where it has not used as many.
summary_of() {
  awk -F, -v ends="30 60 120" -v shares="10 20 40" '
    NR > 1 { n = NR - 1; answers[n] = answers[n - 1] + $2; used[n] = $3 == "" ? used[n - 1] : $3 + 0 }
    END {
      m = split(ends, end, " ")
      for (i = 1; i <= m; i++) { e = end[i] < n ? end[i] : n; printf "%d %.2f ", answers[e], used[e] }
      m = split(shares, share, " ")
      for (i = 1; i <= m; i++) {
        for (s = 1; s <= n && used[s] < share[i]; s++);
        if (s > n) printf "- "
        else printf "%.0f ", answers[s - 1] + (answers[s] - answers[s - 1]) * (share[i] - used[s - 1]) / (used[s] - used[s - 1])
      }
    }' "$1"
}

# picture SERVICE: requests in each second, the median of the rounds, of each JVM without and with a cache.
picture() {
  local table=$out/$1.csv cache side classes=$LULL_BUILD/bench/$1/lib
  for cache in "${caches[@]}"; do
    for side in a b; do
      awk -F, -v name="${names[$side]}$([ "$cache" = no ] || echo ', AOT')" 'FNR > 1 { print name "," $1 "," $2 }' "$out/$1-$cache-"*"-$side.csv"
    done
  done | sort -t, -k 1,1 -k 2,2n -k 3,3n | awk -F, -v OFS=, '
    function done() { if (n) { middle[second, name] = n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2; n = 0 } }
    { key = $(NF - 1); who = $0; sub(/,[^,]*,[^,]*$/, "", who)
      if (key != second || who != name) done()
      second = key; name = who; v[++n] = $NF
      if (!(who in seen)) { seen[who] = 1; names[++count] = who }
      if (key + 0 > last) last = key + 0 }
    END { done(); line = "second"; for (i = 1; i <= count; i++) { t = names[i]; gsub(/,/, "", t); line = line OFS t } print line
      for (s = 0; s <= last; s++) { line = s; for (i = 1; i <= count; i++) line = line OFS middle[s, names[i]]; print line } }' > "$table"
  "$LULL_BASE_JDK/bin/java" -XX:+UseSerialGC -cp "$classes/*" lull.bench.run.CsvPicture linear "seconds since the start of the process" requests/s \
    "$1: requests in each second since the start" < "$table" > "${table%.csv}.svg"
}

for entry in "${services[@]}"; do
  heap=${entry#*:}
  for side in a b; do
    prepare_service "${entry%:*}" "${javas[$side]}"
    datas[$side]=$data
  done
  for cache in "${caches[@]}"; do
    if [ "$cache" = yes ]; then
      for side in a b; do train "$side"; done
    fi
    for ((round = 0; round < rounds; round++)); do
      both "$cache"
      echo "  $SERVICE, AOT cache: $cache, round $((round + 1)) of $rounds: first answers after $(awk '{ printf "%.2f\n", $5 }' "$out/results" | tail -n 2 | paste -sd ' ') s"
    done
  done
  picture "$SERVICE"
done

echo
echo "A: ${javas[a]} ${options[a]}"
echo "B: ${javas[b]} ${options[b]}"
echo "medians of $rounds rounds of $seconds s; ratios: their median, the least and the largest"
"$BENCH/first-minutes-table.sh" "${names[a]}" "${names[b]}" < "$out/results" | tee "$out/table.txt"
