#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# budget/run.sh: a service whose index on disk is larger than the memory that it may use, in phases: it adds documents, it searches, it does both kinds
# of work at once. In a memory group of its own, on a disk that gives so many reads a second, with heaps of fixed sizes, with what collectors do
# by themselves, and with the heap budget. Ends with a table and the page build/budget-bench/index.html. Five minutes for each run, and four for the index.
# Needs root, control groups of version 1, and 5 GB of disk. Uses groups of its own below that of this shell, and removes them.
#
# Settings, all optional:
#   BUDGET_RUNS="g1 static-500 static-1280 static-1800 zgc-soft budget-g1 budget-lull"   also: g1-expert lull, any static-MB,
#                            estimate-g1 estimate-lull: the budget without the sensor,
#                            outside-g1 outside-zgc: a stock JVM, and lull-budget beside it
#   BUDGET_PHASES="ingest:90,search:90,mixed:120"
#   BUDGET_MEMORY=2560       megabytes for heap, page cache and all else of the service
#   BUDGET_HEAP=1800         megabytes: -Xmx of those whose heap is not fixed
#   BUDGET_IOPS=8000         reads a second that the disk gives; 0: as many as it can
#   BUDGET_EVENTS=""         what happens so many seconds after the start of each run: "60:iops=1,70:iops=8000,90:memory=1536", a disk that hangs for ten
#                            seconds, a limit that becomes smaller
#   BUDGET_DOCUMENTS=1400000 of the index, 2 KB each
#   LULL_JAVA                a java of a JDK with Lull (default: that of build/jdk)
#   LULL_BASE_JDK            the stock JDK 25 for g1, static and zgc-soft (default: JAVA_HOME, or an installed one)

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
usage_if_asked "$0" "$@"

SERVICE=budget
read -ra runs <<< "${BUDGET_RUNS:-g1 static-500 static-1280 static-1800 zgc-soft budget-g1 budget-lull}"
phases=${BUDGET_PHASES:-ingest:90,search:90,mixed:120}
memory=${BUDGET_MEMORY:-2560} heap=${BUDGET_HEAP:-1800} iops=${BUDGET_IOPS:-8000} documents=${BUDGET_DOCUMENTS:-1400000}
for number in "BUDGET_MEMORY $memory" "BUDGET_HEAP $heap" "BUDGET_IOPS $iops" "BUDGET_DOCUMENTS $documents"; do
  [[ ${number#* } =~ ^[0-9]+$ ]] || die "${number% *} is '${number#* }': a whole number is needed"
done
events=()
if [ -n "${BUDGET_EVENTS:-}" ]; then IFS=, read -ra events <<< "$BUDGET_EVENTS"; fi
for event in "${events[@]}"; do
  [[ $event =~ ^[0-9]+:(iops|memory)=[1-9][0-9]*$ ]] || die "BUDGET_EVENTS has '$event': SECOND:iops=N or SECOND:memory=MB is needed, as 60:iops=1"
done
[ "$(id -u)" = 0 ] || die "control groups of its own need root"

# group_of CONTROLLER: the directory of this shell's group.
group_of() {
  local path
  path=$(awk -F: -v c="$1" '{ n = split($2, names, ","); for (i = 1; i <= n; i++) if (names[i] == c) { print $3; exit } }' /proc/self/cgroup)
  [ -n "$path" ] && [ -d "/sys/fs/cgroup/$1$path" ] || die "there is no control group of version 1 for $1: /sys/fs/cgroup/$1$path is missing"
  echo "/sys/fs/cgroup/$1${path%/}"
}
memory_group=$(group_of memory)/lull-budget-$$
blkio_group=$(group_of blkio)/lull-budget-$$

find_base_jdk
java=${LULL_JAVA:-$LULL_BUILD/jdk/bin/java}
[ -x "$java" ] || die "there is no $java: make jdk, or set LULL_JAVA"
"$ROOT/native/build.sh"
build_bench
stall=$LULL_BUILD/native/release/lull-stall
controller=$LULL_BUILD/native/release/lull-budget
path=$LULL_BUILD/bench/budget/lib/*
work=$LULL_BUILD/budget-bench
index=$work/index
mkdir -p "$work"
exec 8>"$LULL_BUILD/bench/.run-lock"
flock -n 8 || die "another run of the benches is under way (it holds $LULL_BUILD/bench/.run-lock): wait for its end"

# options RUN: of its java, which is the first word.
options() {
  local stock=$LULL_BASE_JDK/bin/java
  case $1 in
    g1)          echo "$stock -XX:+UseG1GC -Xmx${heap}m" ;;
    g1-expert)   echo "$stock -XX:+UseG1GC -Xmx${heap}m -XX:GCTimeRatio=4 -XX:MaxHeapFreeRatio=40" ;;
    static-*)    [[ ${1#static-} =~ ^[1-9][0-9]*$ ]] || die "BUDGET_RUNS has '$1': static- and megabytes are needed, as static-500"
                 echo "$stock -XX:+UseG1GC -Xms${1#static-}m -Xmx${1#static-}m" ;;
    zgc-soft)    echo "$stock -XX:+UseZGC -Xmx${heap}m -XX:SoftMaxHeapSize=600m -XX:ZUncommitDelay=1" ;;
    outside-g1)  echo "$stock -XX:+UseG1GC -Xmx${heap}m -XX:+ExplicitGCInvokesConcurrent" ;;
    outside-zgc) echo "$stock -XX:+UseZGC -Xmx${heap}m -XX:ZUncommitDelay=1" ;;
    budget-g1)   echo "$java -XX:+UseG1GC -Xmx${heap}m -XX:+UseHeapBudget -XX:HeapBudgetFile=/tmp/lull-stall-%p" ;;
    estimate-g1) echo "$java -XX:+UseG1GC -Xmx${heap}m -XX:+UseHeapBudget" ;;
    lull)        echo "$java -XX:+UseLullGC -Xmx${heap}m" ;;
    budget-lull) echo "$java -XX:+UseLullGC -Xmx${heap}m -XX:+UseHeapBudget -XX:HeapBudgetFile=/tmp/lull-stall-%p" ;;
    estimate-lull) echo "$java -XX:+UseLullGC -Xmx${heap}m -XX:+UseHeapBudget" ;;
    *) die "BUDGET_RUNS has '$1'; there are g1, g1-expert, static-MB, zgc-soft, budget-g1, estimate-g1, lull, budget-lull, estimate-lull, outside-g1, outside-zgc" ;;
  esac
}
for run in "${runs[@]}"; do options "$run" > /dev/null; done

pids=()
remove_groups() {
  local group
  for group in "$memory_group" "$blkio_group"; do
    if [ -d "$group" ]; then
      # What it has cached would be charged to nobody, and free for the next one.
      if [ -e "$group/memory.force_empty" ]; then echo 0 > "$group/memory.force_empty" 2> /dev/null || true; fi
      rmdir "$group" 2> /dev/null || { sleep 1; rmdir "$group" || true; }
    fi
  done
}
clean_up() {
  local pid
  for pid in "${pids[@]}"; do kill "$pid" 2> /dev/null || true; done
  if ((${#pids[@]})); then wait "${pids[@]}" 2> /dev/null || true; fi
  remove_groups
}
trap clean_up EXIT

echo "the index of $documents documents"
"$LULL_BASE_JDK/bin/java" -XX:+UseSerialGC -Xmx1g --enable-native-access=ALL-UNNAMED -cp "$path" lull.bench.budget.BudgetMain --index "$index" --make "$documents"
# Throttles are of whole disks, not of partitions.
device=$(df --output=source "$index" | tail -n 1)
whole=$(lsblk -no pkname "$device" 2> /dev/null | head -n 1)
numbers=$(lsblk -dno MAJ:MIN "${whole:+/dev/}${whole:-$device}" | tr -d ' ')
[[ $numbers =~ ^[0-9]+:[0-9]+$ ]] || die "cannot tell which disk $index is on"

# happen: the events, at their times from now on.
happen() {
  local event value begin=$SECONDS
  for event in "${events[@]}"; do
    value=${event#*=}
    sleep $((${event%%:*} - (SECONDS - begin) > 0 ? ${event%%:*} - (SECONDS - begin) : 0))
    echo "  $event"
    case $event in
      *:iops=*)   echo "$numbers $value" > "$blkio_group/blkio.throttle.read_iops_device" ;;
      *:memory=*) echo $((value * 1024 * 1024)) > "$memory_group/memory.limit_in_bytes" || echo "  $event: refused, that much is in use" ;;
    esac
  done
}

# Out of the page cache, whoever it is charged to.
drop_index() {
  local file
  sync "$index"/index/*
  for file in "$index"/index/*; do dd if="$file" iflag=nocache count=0 status=none; done
}

results=()
for run in "${runs[@]}"; do
  echo "run $run: $phases"
  drop_index
  mkdir "$memory_group" "$blkio_group"
  echo $((memory * 1024 * 1024)) > "$memory_group/memory.limit_in_bytes"
  if ((iops > 0)); then echo "$numbers $iops" > "$blkio_group/blkio.throttle.read_iops_device"; fi
  # The page cache as it would be after some time, at the disk's own speed.
  (echo "$BASHPID" > "$memory_group/cgroup.procs"; cat "$index"/index/* > /dev/null)
  read -ra command <<< "$(options "$run")"
  log=${BUDGET_LOG:-gc*}
  if [[ $run == budget-* || $run == estimate-* ]]; then log+=,gc+budget=debug; fi
  (
    echo "$BASHPID" > "$memory_group/cgroup.procs"
    echo "$BASHPID" > "$blkio_group/cgroup.procs"
    # Reads are at random: read-ahead would bring in ten pages for each that is asked for.
    exec "${command[@]}" --enable-native-access=ALL-UNNAMED -Dorg.apache.lucene.store.defaultReadAdvice=RANDOM "-Xlog:$log:file=$work/$run.log::filecount=0" -cp "$path" lull.bench.budget.BudgetMain --index "$index" --phases "$phases" \
      --name "$run" --out "$work/$run.json" --group "$memory_group"
  ) > "$work/$run.out" 2>&1 &
  pids=($!)
  happen &
  pids+=($!)
  if [[ $run == budget-* ]]; then
    sleep 1
    "$stall" --pid "${pids[0]}" > "$work/$run.stall" 2>&1 &
    pids+=($!)
  elif [[ $run == outside-* ]]; then
    sleep 1
    "$controller" --pid "${pids[0]}" > "$work/$run.steps" 2>&1 &
    pids+=($!)
  fi
  wait "${pids[0]}" || die "$run failed: $(tail -n 3 "$work/$run.out")"
  pids=("${pids[@]:1}")
  clean_up
  pids=()
  results+=("$work/$run.json")
done

settings="$documents documents of 2 KB, $((memory)) MB for heap, page cache and all else, -Xmx$((heap))m where the heap is not fixed, $( ((iops > 0)) && echo "$iops reads a second" || echo "the disk's own speed"), ${BUDGET_EVENTS:+$BUDGET_EVENTS, }$(nproc) processors, $(date +%F)."
"$LULL_BASE_JDK/bin/java" -XX:+UseSerialGC -cp "$path" lull.bench.budget.ReportMain --runs "$(IFS=,; echo "${results[*]}")" --settings "$settings" --page "$work/index.html"
echo "the page: $work/index.html"
