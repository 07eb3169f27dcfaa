# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Sourced by pairs.sh, first-minutes.sh and barrier-pairs.sh, after service.sh: two JVMs, sides a and b, serve at the same time, each with its client on one processor, and
# change processors after each window. Needs out, a directory, and, as set by their settings, services, rounds, warmup, seconds, windows, threads.

# check_settings: those, or an end with a sentence; and two_processors.
check_settings() {
  check_numbers "PAIRS_ROUNDS $rounds" "PAIRS_WARMUP $warmup" "PAIRS_SECONDS $seconds" "PAIRS_WINDOWS $windows" "PAIRS_THREADS $threads"
  ((windows % 2 == 0)) || die "PAIRS_WINDOWS is '$windows': an even number is needed, for each side serves on each processor"
  check_services PAIRS_SERVICES compile:200 "${services[@]}"
  two_processors
}

# Leaves the first two processors that this process may use in processors.
two_processors() {
  mapfile -t processors < <(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }' | head -n 2)
  ((${#processors[@]} == 2)) || die "one processor only: the two sides need one each"
}

# choose_side SIDE WORDS JAVA FLAGS: the words are a collector with its flags, as in collector_of; the Java may be empty. Leaves them in javas, options and names.
choose_side() {
  local words java flags=()
  read -ra words <<< "$2"
  OTHERWISE=$3 collector_of "${words[@]}"
  # shellcheck disable=SC2034 # for those who source this
  javas[$1]=${3:-$java} options[$1]="${flags[*]} $4" names[$1]=$2
  [ -x "${javas[$1]}" ] || die "there is no ${javas[$1]}: make jdk, or name another Java"
}

declare -A children=() ports=() pids=() datas=()
child=   # that is being started
end_children() {
  local all=("${children[@]}" ${child:+"$child"})
  if ((${#all[@]})); then kill "${all[@]}" 2> /dev/null || true; fi
}
trap end_children EXIT

# start_side SIDE JAVA FLAGS...: of the service that was prepared last; a starts on the first processor, b on the second; serve
# swaps these.
start_side() {
  local side=$1 processor=${processors[0]}
  [ "$side" = a ] || processor=${processors[1]}
  shift
  start_service "$out/$side" taskset -c "$processor" "$@"
  children[$side]=$child ports[$side]=$port pids[$side]=$pid datas[$side]=$data child=
}

# loads SECONDS PROCESSOR OTHER: both sides at once.
loads() {
  local first
  data=${datas[a]} load "${ports[a]}" "$1" "$out/a.json" taskset -c "$2" &
  first=$!
  data=${datas[b]} load "${ports[b]}" "$1" "$out/b.json" taskset -c "$3"
  wait "$first" || die "the load failed, see $out/a.load.log"
}

# serve ROUND TICKS FILE: the windows of two sides that have started, and their end. For each a line in the file: the round, requests per second of either
# side, milliseconds for a request of either, by TICKS, a command that is given a process and prints ticks of the processor, and the median latency of either.
serve() {
  local window side x=${processors[0]} y=${processors[1]}
  local -A before=() cost=()
  loads "$warmup" "$x" "$y"
  for ((window = 0; window < windows; window++)); do
    read -r x y <<< "$y $x"
    taskset -acp "$x" "${pids[a]}" > /dev/null
    taskset -acp "$y" "${pids[b]}" > /dev/null
    for side in a b; do before[$side]=$("$2" "${pids[$side]}"); done
    loads "$seconds" "$x" "$y"
    for side in a b; do
      cost[$side]=$(awk -v ticks=$(($("$2" "${pids[$side]}") - before[$side])) -v hertz="$(getconf CLK_TCK)" \
        -v answers="$(field answers "$out/$side.json")" 'BEGIN { printf "%.5f", 1000 * ticks / hertz / answers }')
    done
    echo "$1 $(field throughput "$out/a.json") $(field throughput "$out/b.json") ${cost[a]} ${cost[b]} $(field p50 "$out/a.json") $(field p50 "$out/b.json")" >> "$3"
  done
  for side in a b; do kill "${children[$side]}"; wait "${children[$side]}" || true; done
  children=()
  processors=("${processors[1]}" "${processors[0]}")    # the next round warms up the other way round
}

# Columns of these lines.
# shellcheck disable=SC2034 # for those who source this
RATES="2 3" COSTS="4 5" MEDIANS="6 7"

# ratios FILE ROUND "A B": of a round's windows, column B to column A.
ratios() {
  awk -v round="$2" -v columns="$3" 'BEGIN { split(columns, c, " ") } $1 == round { printf "%.3f ", $c[2] / $c[1] }' "$1"
}

# mean FILE COLUMN
mean() {
  awk -v column="$2" '{ sum += $column } END { print sum / NR }' "$1"
}

# summary FILE "A B": the median of all windows' ratios, column B to column A, with the least and the largest, and the least and the largest median of a round.
summary() {
  awk -v columns="$2" 'BEGIN { split(columns, c, " ") } { print "all", $c[2] / $c[1]; print $1, $c[2] / $c[1] }' "$1" | sort -k 1,1 -k 2,2n | awk '
    function done() { m = n % 2 ? r[(n + 1) / 2] : (r[n / 2] + r[n / 2 + 1]) / 2
      if (key == "all") { all = m; low = r[1]; high = r[n] } else { if (least == "" || m < least) least = m; if (m > most) most = m } n = 0 }
    $1 != key && n { done() }
    { key = $1; r[++n] = $2 }
    END { done(); printf "%.3f (%.3f to %.3f; JVMs %.3f to %.3f)", all, low, high, least, most }'
}
