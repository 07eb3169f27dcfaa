# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Sourced by doctor.sh, pairs.sh, first-minutes.sh, where.sh and barrier-pairs.sh, after common.sh: services as processes of their own under a closed loop, and what their threads
# have used of the processor. Needs out, a directory, and threads, of a server and clients of its loop.

# check_numbers "NAME VALUE"...: whole numbers from 1 on, or an end with a sentence.
check_numbers() {
  local number
  for number; do
    [[ ${number#* } =~ ^[1-9][0-9]*$ ]] || die "${number% *} is '${number#* }': a number from 1 on is needed"
  done
}

# check_services NAME EXAMPLE ENTRY...: services that there are with their heaps in MB, or an end with a sentence.
check_services() {
  local name=$1 example=$2 entry
  for entry in "${@:3}"; do
    [[ $entry =~ ^[a-z0-9]+:[1-9][0-9]*$ ]] || die "$name has '$entry': a service and its heap in MB are needed, as $example"
    [ -f "$BENCH/${entry%:*}/pom.xml" ] || die "no service '${entry%:*}': README.md has a list of them"
  done
}

# data_of NAME JAVA: where the service's data for that Java are, which our programs use, too: expected answers can depend on the JDK.
data_of() {
  local release version
  release=$(dirname "$(readlink -f "$2")")/../release
  version=$(sed -n 's/^JAVA_RUNTIME_VERSION="\(.*\)"$/\1/p' "$release" 2> /dev/null)
  [ -n "$version" ] || version=$(sed -n 's/^JAVA_VERSION="\(.*\)"$/\1/p' "$release" 2> /dev/null) || true
  echo "$LULL_BUILD/bench/data/$1/${version//[^A-Za-z0-9.+-]/_}"
}

# prepare_service NAME JAVA: builds it and, if they are not there, its data for that Java; leaves path, its class path, and data.
prepare_service() {
  SERVICE=$1
  build_bench
  path=$LULL_BUILD/bench/$1/lib/*
  data=$(data_of "$1" "$2")
  mkdir -p "$data"
  "$2" -XX:+UseSerialGC -cp "$path" lull.bench.service.PrepareMain --service "$1" --data "$data" \
    --openjdk "${OPENJDK_SRC:-$LULL_BUILD/openjdk}" > "$out/prepare.log" 2>&1 || die "the data of $1 cannot be prepared: $(tail -n 3 "$out/prepare.log")"
}

# launch_service NAME COMMAND...: runs the service that was prepared last by a command that ends with the options of a Java; leaves NAME.log and child, at
# once. It listens at service_port, if that is set. Whoever calls ends it; at the latest it ends with this shell, however that ends.
launch_service() {
  local name=$1
  shift
  rm -f "$name.ready"
  "$@" -cp "$path" lull.bench.service.ServerMain --service "$SERVICE" --data "$data" --port "${service_port:-0}" --threads "$threads" --ready "$name.ready" \
    --until-eof true > "$name.log" 2>&1 < <(exec tail -s 1 --pid=$$ -f /dev/null 8>&-) &
  child=$!
}

# await_service NAME: until the service that child is answers; leaves port and pid, of its JVM.
await_service() {
  local name=$1 waited=0
  until [ -s "$name.ready" ]; do
    kill -0 "$child" 2> /dev/null || die "the service ended before it was ready: $(tail -n 3 "$name.log")"
    [ "$waited" -lt 600 ] || die "the service is not ready after a minute: see $name.log"
    sleep 0.1
    waited=$((waited + 1))
  done
  port=$(field port "$name.ready")
  # shellcheck disable=SC2034 # for those who source this
  pid=$(field pid "$name.ready")
}

# start_service NAME COMMAND...: both.
start_service() {
  launch_service "$@"
  await_service "$1"
}

# load PORT SECONDS FILE [COMMAND...]: a closed loop on the service that was prepared last, run by the command if one is given. It ends before that time when it has
# had as many requests as requests says, if that is set.
load() {
  "${@:4}" "$LULL_BASE_JDK/bin/java" -XX:+UseSerialGC -Xmx256m -cp "$path" lull.bench.load.LoadMain --service "$SERVICE" --data "$data" \
    --port "$1" --clients "$threads" --closed "$2" ${requests:+--requests "$requests"} --out "$3" > "${3%.json}.load.log" 2>&1 || die "the load failed: $(tail -n 3 "${3%.json}.load.log")"
}

field() {   # NAME FILE: the first such number in a file of JSON
  sed -n "s/.*\"$1\": *\([0-9.eE+-]*\).*/\1/p" "$2" | head -n 1
}

ticks() {   # STAT...: of user and system together
  cat "$@" 2> /dev/null | awk '{ sub(/.*\) /, ""); sum += $12 + $13 } END { print sum + 0 }'
}

# mutator_ticks PID: without those of the threads of the collector and of the compilers.
mutator_ticks() {
  local others
  mapfile -t others < <(grep -lE '^(VM Thread|Lull|C[12] Comp)' "/proc/$1"/task/*/comm | sed 's/comm$/stat/')
  echo $(($(ticks "/proc/$1/stat") - $(ticks "${others[@]}")))
}
