#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# gate/tls.sh: what TLS costs that the gate serves: Netty with TLS of its own (the JDK's), Netty behind the gate's, and without TLS, three JVMs under
# the agent that are loaded in turns. Prints, of each, requests and processor time of the process for a request, as ratios to the first of the same
# round: the median, the least and the largest. Needs wrk, curl and openssl, and what native/test.sh has built.
#
# Settings, all optional:
#   GATE_WARMUP=50000    requests to each before the first round
#   GATE_ROUNDS=12       rounds; one in which somebody has answered fewer than 100 requests is left out, and counted
#   GATE_SECONDS=3       of each of the three in a round
#   GATE_CONNECTIONS=16  that are kept open, at once
#   GATE_BODY=0          if 1, each request has a body of 30 KB
#   LULL_GATE_LIBRARY    (default: build/native/liblull_gate.so)

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
usage_if_asked "$0" "$@"

find_base_jdk
for program in wrk curl openssl; do command -v "$program" > /dev/null || die "there is no $program: install it"; done
classes=$LULL_BUILD/native/services/classes
[ -d "$classes" ] || die "there is no $classes: run native/test.sh once"
library=${LULL_GATE_LIBRARY:-$LULL_BUILD/native/liblull_gate.so}
work=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2> /dev/null; rm -rf "$work"' EXIT
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/key.pem" -out "$work/cert.pem" -days 2 -subj /CN=localhost 2> /dev/null
[ "${GATE_BODY:-0}" = 0 ] || printf 'wrk.method = "POST"\nwrk.body = string.rep("x", 30000)\n' > "$work/body.lua"

base=${GATE_PORT:-18440}
start() {   # NAME PORT OPTIONS FLAG...
  local name=$1 port=$2 options=$3
  shift 3
  "$LULL_BASE_JDK/bin/java" -Xmx400m -XX:+UseSerialGC -Dport="$port" "$@" "-agentpath:$library=$options" \
    -cp "$classes:$LULL_BUILD/native/services/lib/*" GateServer netty-nio 1 0 > "$work/$name.out" 2> "$work/$name.err" &
  pids+=($!)
}
urls=("https://127.0.0.1:$base/x" "https://127.0.0.1:$((base + 2))/x" "http://127.0.0.1:$((base + 3))/x")
names=("own TLS" "the gate's TLS" "no TLS")
# The deadline is beyond any pause, so that nothing is told busy.
start own "$base" "port=1,deadline=600000" "-Dtls.cert=$work/cert.pem" "-Dtls.key=$work/key.pem"
start gate "$((base + 1))" "port=$((base + 1)),deadline=600000,tls-port=127.0.0.1:$((base + 2)),cert=$work/cert.pem,key=$work/key.pem"
start none "$((base + 3))" "port=$((base + 3)),deadline=600000"
for i in 0 1 2; do
  for _ in $(seq 300); do curl -sk -o /dev/null "${urls[i]}" && break; sleep 0.2; done
  curl -sk -o /dev/null "${urls[i]}" || die "'${names[i]}' does not answer: $(cat "$work"/*.err)"
done

ticks() { awk '{ sub(/^.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }
script=()
[ ! -f "$work/body.lua" ] || script=(-s "$work/body.lua")
load() {   # WHICH SECONDS; sets requests and ticks
  local before
  before=$(ticks "${pids[$1]}")
  wrk -t 1 -c "${GATE_CONNECTIONS:-16}" -d "$2" "${script[@]}" "${urls[$1]}" > "$work/wrk"
  ticks=$(($(ticks "${pids[$1]}") - before))
  if grep 'Non-2xx' "$work/wrk"; then die "'${names[$1]}' has answered wrongly"; fi
  requests=$(awk '/requests in/ { print $1 }' "$work/wrk")
}
for i in 0 1 2; do
  for ((warm = 0; warm < ${GATE_WARMUP:-50000}; warm += requests)); do load "$i" 3; done
done
for round in $(seq "${GATE_ROUNDS:-12}"); do
  line=$round least=100
  for i in 0 1 2; do
    load "$i" "${GATE_SECONDS:-3}"
    line+=" $requests $ticks"
    if ((requests < least)); then least=$requests; fi
  done
  if ((least == 100)); then echo "$line"; else echo "round $round is left out" >&2; fi
done > "$work/rounds"

for i in 1 2; do
  awk -v n=$((2 * i + 2)) '{ print $n / $2, ($(n + 1) / $n) / ($3 / $2) }' "$work/rounds" > "$work/ratios"
  for column in 1 2; do
    sort -n -k "$column,$column" "$work/ratios" | awk -v c="$column" -v what="${names[i]}" '{ v[NR] = $c }
      END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
        printf "%s to own TLS, %s: %.2f (%.2f to %.2f), %d rounds\n", what, c == 1 ? "requests" : "processor time for a request", m, v[1], v[NR], NR }'
  done
done
for i in 0 1 2; do
  awk -v n=$((2 * i + 2)) -v what="${names[i]}" '{ r += $n; t += $(n + 1) } END { printf "%s: %d requests, %.1f us of a processor for each\n", what, r, t * 10000 / r }' \
    "$work/rounds"
done
