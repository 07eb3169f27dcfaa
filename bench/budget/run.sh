#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# budget/run.sh: a service whose data on disk are larger than the memory that it may use, in phases: an index of Lucene's is searched, searched by requests
# that allocate much, and added to; the same with OpenSearch; or Spark SQL reports on tables. In a memory group of its own, on a throttled disk, with heaps of fixed sizes, with what
# collectors do by themselves, and with the heap budget. Ends with a table and the page build/budget-bench/index.html (or opensearch.html, spark.html). Five minutes
# for each run, and once four for the index, six for the tables.
# Needs root, control groups of version 1, and 5 GB of disk. Uses groups of its own below that of this shell, and removes them.
#
# Settings, all optional:
#   BUDGET_WORKLOAD=lucene   or opensearch, spark
#   BUDGET_RUNS="g1 static-500 static-1280 static-1800 zgc-soft budget-g1 budget-lull"   also: g1-base, which is G1 of
#                            the stock JDK, a control: all others but zgc-soft and outside- run on LULL_JAVA; g1-expert lull, any static-MB,
#                            estimate-g1 estimate-lull: the budget without the sensor,
#                            outside-g1 outside-zgc: a stock JVM, and lull-budget beside it; recorded-MB: what record.sh runs
#                            (of opensearch: "g1 static-400 static-600 static-1400 budget-g1 budget-lull"; of spark: "g1 static-350 static-600 static-1200 budget-g1 budget-lull")
#   BUDGET_PHASES="ingest:90,search:90,mixed:120"   (of spark: "scan:90,join:90")
#   BUDGET_MEMORY=2560       megabytes for heap, page cache and all else of the service (of opensearch: 2048; of spark: 2304)
#   BUDGET_HEAP=1800         megabytes: -Xmx of those whose heap is not fixed (of opensearch: 1400; of spark: 1200)
#   BUDGET_IOPS=8000         reads a second that the disk gives; 0: as many as it can (of spark: 0)
#   BUDGET_MBPS=0            megabytes a second that it gives; 0: as many as it can (of spark: 30)
#   BUDGET_EVENTS=""         what happens so many seconds after the start of each run: "60:iops=1,70:iops=8000,90:memory=1536", a disk that hangs for ten
#                            seconds, a limit that becomes smaller
#   BUDGET_DOCUMENTS=1400000 of the index, 2 KB each; of opensearch 1000000; orders of Spark's tables (2500000)
#   BUDGET_LOG="gc*"         tags of -Xlog, to build/budget-bench/RUN.log; those of the budget are always there
#   LULL_JAVA                a java of a JDK with Lull (default: that of build/jdk)
#   LULL_BASE_JDK            the stock JDK 25 for g1-base, zgc-soft, outside-g1 and outside-zgc (default: JAVA_HOME, or an installed one)

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/budget/beside.sh
. "$BENCH/budget/beside.sh"
# shellcheck source=bench/budget/events.sh
. "$BENCH/budget/events.sh"

workload=${BUDGET_WORKLOAD:-lucene}
work=$LULL_BUILD/budget-bench
case $workload in
  lucene)
    SERVICE=budget page=index.html documents=1400000 described="documents of 2 KB"
    runs_default="g1 static-500 static-1280 static-1800 zgc-soft budget-g1 budget-lull" phases=ingest:90,search:90,mixed:120
    memory=2560 heap=1800 iops=8000 mbps=0
    data=$work/index files=$work/index/index
    # Reads are at random: read-ahead would bring in ten pages for each that is asked for.
    main=(--enable-native-access=ALL-UNNAMED -Dorg.apache.lucene.store.defaultReadAdvice=RANDOM)
    class=(lull.bench.budget.BudgetMain --index "$data") ;;
  opensearch)
    SERVICE=opensearch page=opensearch.html documents=1000000 described="documents of 2 KB"
    runs_default="g1 static-400 static-600 static-1400 budget-g1 budget-lull" phases=ingest:90,search:90,mixed:120
    memory=2048 heap=1400 iops=8000 mbps=0
    data=$work/opensearch files=$work/opensearch/data
    main=("@$BENCH/opensearch/src/main/resources/META-INF/lull/jvm-flags" "-Djava.io.tmpdir=$work/scratch")
    class=(lull.bench.opensearch.OpenSearchBudgetMain --index "$data") ;;
  spark)
    SERVICE=spark page=spark.html documents=2500000 described="orders and their lines"
    runs_default="g1 static-350 static-600 static-1200 budget-g1 budget-lull" phases=scan:90,join:90
    memory=2304 heap=1200 iops=0 mbps=30
    data=$work/tables files=$work/tables/tables
    main=("@$BENCH/spark/src/main/resources/META-INF/lull/jvm-flags" "-Djava.io.tmpdir=$work/scratch")
    class=(lull.bench.spark.SparkBudgetMain --tables "$data") ;;
  *) die "BUDGET_WORKLOAD is '$workload': lucene, opensearch or spark is needed" ;;
esac
read -ra runs <<< "${BUDGET_RUNS:-$runs_default}"
phases=${BUDGET_PHASES:-$phases}
memory=${BUDGET_MEMORY:-$memory} heap=${BUDGET_HEAP:-$heap} iops=${BUDGET_IOPS:-$iops} mbps=${BUDGET_MBPS:-$mbps} documents=${BUDGET_DOCUMENTS:-$documents}
for number in "BUDGET_MEMORY $memory" "BUDGET_HEAP $heap" "BUDGET_IOPS $iops" "BUDGET_MBPS $mbps" "BUDGET_DOCUMENTS $documents"; do
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
path=$LULL_BUILD/bench/$SERVICE/lib/*
mkdir -p "$work/scratch"
take_turn_of_benches

# options RUN: of its java, which is the first word.
options() {
  local stock=$LULL_BASE_JDK/bin/java
  case $1 in
    g1)          echo "$java -XX:+UseG1GC -Xmx${heap}m" ;;
    g1-base)     echo "$stock -XX:+UseG1GC -Xmx${heap}m" ;;
    g1-expert)   echo "$java -XX:+UseG1GC -Xmx${heap}m -XX:GCTimeRatio=4 -XX:MaxHeapFreeRatio=40" ;;
    static-*)    [[ ${1#static-} =~ ^[1-9][0-9]*$ ]] || die "BUDGET_RUNS has '$1': static- and megabytes are needed, as static-500"
                 echo "$java -XX:+UseG1GC -Xms${1#static-}m -Xmx${1#static-}m" ;;
    zgc-soft)    echo "$stock -XX:+UseZGC -Xmx${heap}m -XX:SoftMaxHeapSize=600m -XX:ZUncommitDelay=1" ;;
    outside-g1)  echo "$stock -XX:+UseG1GC -Xmx${heap}m -XX:+ExplicitGCInvokesConcurrent" ;;
    outside-zgc) echo "$stock -XX:+UseZGC -Xmx${heap}m -XX:ZUncommitDelay=1" ;;
    budget-g1)   echo "$java -XX:+UseG1GC -Xmx${heap}m -XX:+UseHeapBudget -XX:HeapBudgetFile=/tmp/lull-stall-%p" ;;
    estimate-g1) echo "$java -XX:+UseG1GC -Xmx${heap}m -XX:+UseHeapBudget" ;;
    recorded-*)  [[ ${1#recorded-} =~ ^[1-9][0-9]*$ ]] || die "BUDGET_RUNS has '$1': recorded- and megabytes are needed, as recorded-500"
                 echo "$java -XX:+UseG1GC -Xms${1#recorded-}m -Xmx${1#recorded-}m -XX:+UseHeapBudget -XX:HeapBudgetFile=/tmp/lull-stall-%p" ;;
    lull)        echo "$java -XX:+UseLullGC -Xmx${heap}m" ;;
    budget-lull) echo "$java -XX:+UseLullGC -Xmx${heap}m -XX:+UseHeapBudget -XX:HeapBudgetFile=/tmp/lull-stall-%p" ;;
    estimate-lull) echo "$java -XX:+UseLullGC -Xmx${heap}m -XX:+UseHeapBudget" ;;
    *) die "BUDGET_RUNS has '$1'; there are g1, g1-base, g1-expert, static-MB, zgc-soft, budget-g1, estimate-g1, lull, budget-lull, estimate-lull, outside-g1, outside-zgc, recorded-MB" ;;
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

echo "$documents $described"
"$LULL_BASE_JDK/bin/java" -XX:+UseParallelGC -Xmx2g "${main[@]}" -cp "$path" "${class[@]}" --make "$documents"
# Throttles are of whole disks, not of partitions.
device=$(df --output=source "$data" | tail -n 1)
whole=$(lsblk -no pkname "$device" 2> /dev/null | head -n 1)
numbers=$(lsblk -dno MAJ:MIN "${whole:+/dev/}${whole:-$device}" | tr -d ' ')
[[ $numbers =~ ^[0-9]+:[0-9]+$ ]] || die "cannot tell which disk $data is on"

# Out of the page cache, whoever it is charged to.
drop_data() {
  local file
  find "$files" -type f -print0 | xargs -0 sync
  find "$files" -type f | while read -r file; do dd if="$file" iflag=nocache count=0 status=none; done
}

speed() {
  if ((iops > 0)); then echo "$iops reads a second"; elif ((mbps > 0)); then echo "$mbps MB a second"; else echo "the disk's own speed"; fi
}

results=() sensors=()
for run in "${runs[@]}"; do
  echo "run $run: $phases"
  drop_data
  rm -rf "$work/scratch"
  mkdir "$work/scratch"
  mkdir "$memory_group" "$blkio_group"
  echo $((memory * 1024 * 1024)) > "$memory_group/memory.limit_in_bytes"
  if ((iops > 0)); then echo "$numbers $iops" > "$blkio_group/blkio.throttle.read_iops_device"; fi
  if ((mbps > 0)); then echo "$numbers $((mbps * 1000000))" > "$blkio_group/blkio.throttle.read_bps_device"; fi
  # The page cache as it would be after some time, at the disk's own speed.
  (echo "$BASHPID" > "$memory_group/cgroup.procs"; find "$files" -type f -exec cat {} + > /dev/null)
  read -ra command <<< "$(options "$run")"
  log=${BUDGET_LOG:-gc*}
  if [[ $run == budget-* || $run == estimate-* || $run == recorded-* ]]; then log+=,gc+budget=trace; fi
  (
    echo "$BASHPID" > "$memory_group/cgroup.procs"
    echo "$BASHPID" > "$blkio_group/cgroup.procs"
    exec "${command[@]}" "${main[@]}" "-Xlog:$log:file=$work/$run.log::filecount=0" -cp "$path" "${class[@]}" --phases "$phases" \
      --name "$run" --out "$work/$run.json" --group "$memory_group"
  ) > "$work/$run.out" 2>&1 &
  pids=($!)
  happen "$work/$run.events" "$numbers" "$blkio_group/blkio.throttle.read_iops_device" "$memory_group/memory.limit_in_bytes" "${events[@]}" &
  pids+=($!)
  helper=
  case $run in
    budget-* | recorded-*) sleep 1; beside "$run" "${pids[0]}" "$work/$run.stall" "$stall" ;;
    outside-*) sleep 1; beside "$run" "${pids[0]}" "$work/$run.steps" "$controller" ;;
  esac
  wait "${pids[0]}" || die "$run failed: $(tail -n 3 "$work/$run.out")"
  if [ -n "$helper" ]; then
    was_beside "$run"
    sensors+=("$run by $sensor")
  fi
  have_happened "$run" "$work/$run.events" "${events[@]}"
  pids=("${pids[@]:1}")
  clean_up
  pids=()
  results+=("$work/$run.json")
done

stalls=
if ((${#sensors[@]})); then printf -v stalls '%s, ' "${sensors[@]}"; fi
settings="$documents $described, $((memory)) MiB for heap, page cache and all else, -Xmx$((heap))m where the heap is not fixed, $(speed), ${BUDGET_EVENTS:+$BUDGET_EVENTS, }${stalls:+stalls on I/O of ${stalls}}$(nproc) processors, $(date +%F)."
"$LULL_BASE_JDK/bin/java" -XX:+UseSerialGC -cp "$path" lull.bench.budget.ReportMain --runs "$(IFS=,; echo "${results[*]}")" --settings "$settings" --page "$work/$page"
echo "the page: $work/$page"
