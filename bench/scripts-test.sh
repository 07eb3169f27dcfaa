#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Tests of the scripts, with stand-ins for JVMs: none is left behind, one bench runs at a time, no run of the heap budget goes on without its helper.
# Ends with a line "N passed, N failed".

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/checks.sh
. "$BENCH/checks.sh"
# shellcheck source=bench/budget/beside.sh
. "$BENCH/budget/beside.sh"
# shellcheck source=bench/budget/events.sh
. "$BENCH/budget/events.sh"

find_base_jdk
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

# within TENTHS COMMAND...: has the command succeeded by then?
within() {
  local left=$1
  shift
  until "$@"; do
    ((left-- > 0)) || return 1
    sleep 0.1
  done
}
alive() { kill -0 "$1" 2> /dev/null; }
gone() { ! alive "$1"; }

# A server that does what is in the variable SERVER, which may use ready, its file.
cat > "$WORK/server" << 'END'
#!/usr/bin/env bash
while [ $# -gt 0 ]; do if [ "$1" = --ready ]; then ready=$2; fi; shift; done
echo $$ > "${ready%.ready}.pid"
eval "$SERVER"
END
chmod +x "$WORK/server"

# start_side_of NAME: a script that starts it as one of two sides and goes on; leaves script and server, their processes.
start_side_of() {
  mkdir "$WORK/$1"
  bash -c 'set -euo pipefail; . "$1/common.sh"; . "$1/service.sh"; . "$1/sides.sh"; out=$2 threads=1 path=none data=none
    processors=($(taskset -cp $$ | sed "s/.*: //; s/[-,].*//")); start_side a "$3"; sleep 60' script "$BENCH" "$WORK/$1" "$WORK/server" > "$WORK/$1/log" 2>&1 &
  script=$!
  within 50 test -s "$WORK/$1/a.pid" || true
  server=$(cat "$WORK/$1/a.pid")
}

SERVER='exec sleep 60' start_side_of starting
kill -TERM "$script"
if within 30 gone "$server"; then ok; else not_ok "a server that was being started is left behind"; kill "$server"; fi
SERVER='echo "{\"port\": 1, \"pid\": $$}" > "$ready"; exec cat' start_side_of killed
if within 50 test -s "$WORK/killed/a.ready" && sleep 0.5 && alive "$server"; then ok; else not_ok "a server has not stayed: $(cat "$WORK/killed/log")"; fi
kill -KILL "$script"
{ wait "$script" || true; } 2> /dev/null
if within 50 gone "$server"; then ok; else not_ok "a server is left behind by a script that was killed"; kill "$server"; fi

# While another run has its turn.
mkdir -p "$WORK/build/bench"
exec 8> "$WORK/build/bench/.run-lock"
flock 8
mkdir "$WORK/bin"
ln -s /bin/true "$WORK/bin/perf"
ln -s /bin/true "$WORK/bin/valgrind"
for script in pairs first-minutes barrier-pairs doctor barrier-cost barrier-instructions where minheap; do
  directory=$WORK/build/${script/#doctor/doctor-bench}
  mkdir -p "$directory"
  touch "$directory/kept"
  if message=$(PATH=$WORK/bin:$PATH LULL_BUILD=$WORK/build LULL_JAVA=/bin/true WHERE_JAVA=/bin/true PAIRS_JAVA_A=/bin/true PAIRS_JAVA_B=/bin/true PAIRS_A=-A PAIRS_B=-B FIRST_A=-A FIRST_B=-B timeout 60 "$BENCH/$script.sh" 2>&1) \
      || [[ $message != *"another run of the benches is under way"* ]] || [ ! -e "$directory/kept" ]; then
    not_ok "$script.sh beside another run: '$message'"
  else
    ok
  fi
done
exec 8>&-

# refused WORDS NAME=VALUE: is that setting of where.sh refused with these words?
refused() {
  local message
  if message=$(env PATH="$WORK/bin:$PATH" LULL_BUILD="$WORK/build" WHERE_JAVA=/bin/true "$2" timeout 60 "$BENCH/where.sh" 2>&1) || [[ $message != *"$1"* ]]; then
    not_ok "where.sh with $2: '$message'"
  else
    ok
  fi
}
refused "WHERE_SERVICES has 'lucene': a service and its heap in MB are needed, as lucene:20" WHERE_SERVICES=lucene
refused "no service 'none'" WHERE_SERVICES=none:20
refused "WHERE_SECONDS is '0': a number from 1 on is needed" WHERE_SECONDS=0
refused "there is no $WORK/none: make jdk, or set WHERE_JAVA" "WHERE_JAVA=$WORK/none"

# chosen WORDS RESULT: what these words are for a side: its Java and flags, or the error.
chosen() {
  local said
  # shellcheck disable=SC2016 # the inner shell's
  said=$(LULL_JDK27=$WORK/27 bash -c '. "$1/common.sh"; LULL_BUILD=/build LULL_BASE_JDK=/base; read -ra words <<< "$2"; collector_of "${words[@]}"; echo "$java ${flags[*]}"' \
    choose "$BENCH" "$1" 2>&1) || true
  if [[ $said == "$2"* ]]; then ok; else not_ok "collector_of '$1': '$said', not '$2'"; fi
}
mkdir -p "$WORK/27/bin"
ln -s /bin/true "$WORK/27/bin/java"
chosen "lull" "/build/jdk/bin/java -XX:+UseLullGC"
chosen "-XX:+UseLullGC -Xmn8m" "/build/jdk/bin/java -XX:+UseLullGC -Xmn8m"
chosen "g1-27 -Xmn8m" "$WORK/27/bin/java -XX:+UseG1GC -Xmn8m"
chosen "genshen" "/base/bin/java -XX:+UseShenandoahGC -XX:ShenandoahGCMode=generational"
chosen "stopping" "/build/jdk/bin/java -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking"
chosen "lull-27" "error: no collector 'lull-27'"
chosen "marking-27" "error: no collector 'marking-27'"
chosen "g2" "error: no collector 'g2'"

# Of two rounds; what one has not, and a 0 of B, divides nothing.
table=$("$BENCH/first-minutes-table.sh" A1 B1 << 'END' | awk '{ $1 = $1; print }'
h2 no 0 a 2 1 100 10 300 20 900 30 50 200 -
h2 no 0 b 4 1 100 20 200 40 300 60 60 100 200
h2 no 1 a 3 1 110 10 300 20 900 30 50 100 -
h2 no 1 b 3 0 100 20 200 40 300 60 40 - 400
END
)
for line in "h2 no A1 2.50 1.00 105 10.0 300 20.0 900 30.0 50 150 -" "h2 no B1 3.50 0.50 100 20.0 200 40.0 300 60.0 50 100 300" \
    "h2 no A to B 0.75 (0.50 to 1.00) 1.00 (1.00 to 1.00) 1.05 (1.00 to 1.10) 0.50 (0.50 to 0.50) 1.50 (1.50 to 1.50) 0.50 (0.50 to 0.50) 3.00 (3.00 to 3.00) 0.50 (0.50 to 0.50) 1.04 (0.83 to 1.25) 2.00 (2.00 to 2.00) -"; do
  if [[ $table == *"$line"* ]]; then ok; else not_ok "no line '$line' in: $table"; fi
done

# A helper that does what is in the variable HELPER.
cat > "$WORK/helper" << 'END'
#!/usr/bin/env bash
eval "$HELPER"
END
chmod +x "$WORK/helper"

# run_beside SECONDS: what becomes of a run of that time with it.
run_beside() (
  pids=()
  sleep "$1" &
  process=$!
  trap 'kill "$process" "${pids[@]}" 2> /dev/null || true' EXIT
  beside run "$process" "$WORK/helper.log" "$WORK/helper"
  wait "$process"
  [ -z "$sensor" ] || was_beside run
  echo "by $sensor"
)
# expect WORDS SECONDS HELPER
expect() {
  local said
  said=$(HELPER=$3 run_beside "$2" 2>&1) || true
  # shellcheck disable=SC2053 # a pattern
  if [[ $said == $1 ]]; then ok; else not_ok "run beside '$3': '$said', not '$1'"; fi
}
source='echo "lull-stall: process $2, source psi: all of it; file f" >&2'
expect "by psi" 1 "$source; sleep 5"
expect "by psi" 1 "$source; while kill -0 \$2; do sleep 0.1; done"
expect "by bpf" 1 'echo "lull-budget: sensor: not psi: refused"; echo "lull-budget: sensor: bpf: all of it"; sleep 5'
expect "error: run: helper ended at once: it is refused" 2 'echo "it is refused"; exit 1'
expect "error: run: what was to run beside it ended before it:*source psi*" 2 "$source; sleep 0.3; exit 1"
expect "*error: run: what was to run beside it ended before it:*source psi*" 2 "$source; sleep 0.3; kill -KILL \$\$"
expect "error: run: what was to run beside it ended before it:*told to stop" 2 "$source; sleep 0.3; echo 'lull-stall: process 1: told to stop'"
expect "by " 0 'sleep 0.3; exit 1'

# after_events FILE FILE WORDS: what is said of two events, with the files that they are written to.
after_events() {
  local said=all events=(0:iops=100 0:memory=7)
  (happen "$WORK/events" 8:0 "$1" "$2" "${events[@]}") > "$WORK/said" 2>&1 || true
  said=$( (have_happened run "$WORK/events" "${events[@]}" && echo "all have") 2>&1) || true
  # shellcheck disable=SC2053 # a pattern
  if [[ $said == $3 ]]; then ok; else not_ok "events with $1 and $2: '$said', not '$3'"; fi
}
after_events "$WORK/disk" "$WORK/limit" "all have"
if [[ $(cat "$WORK/disk" "$WORK/limit") == $'8:0 100\n7340032' ]]; then ok; else not_ok "events write: $(cat "$WORK/disk" "$WORK/limit")"; fi
after_events "$WORK/none/disk" "$WORK/limit" "error: run: 0:iops=100 has not happened*"
after_events "$WORK/disk" "$WORK/none/limit" "error: run: 0:memory=7 has not happened*"

end_of_checks
