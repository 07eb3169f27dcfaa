#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# run.sh: what a process keeps of its memory after a load (AfterLoad.java), by collector: the resident set each second, as
# a table and as a picture, build/test-work/memory-back/resident.csv and .svg. The collectors run at once, for they do
# nothing most of the time; a load is the same for all, so that they differ by what they keep.
#
#   LULL_TEST_JDK      the JDK                                  (default: build/jdk)
#   LULL_TEST_FLAGS    name=flags of a JVM each, between bars   (default: Lull, G1, ZGC, Shenandoah, at -Xms32m -Xmx1g)
#   LULL_TEST_PHASES   seconds of load, little load, nothing    (default: 30 150 120)

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

compile_programs memory-back jdk "$ROOT/hotspot/test/memory-back/AfterLoad.java"
default="Lull=-XX:+UseLullGC|G1=-XX:+UseG1GC|ZGC=-XX:+UseZGC|Shenandoah=-XX:+UseShenandoahGC"
IFS='|' read -ra settings <<< "${LULL_TEST_FLAGS:-$default}"
read -ra phases <<< "${LULL_TEST_PHASES:-30 150 120}"
((${#phases[@]} == 3)) || die "LULL_TEST_PHASES is '${LULL_TEST_PHASES:-}'; it takes three numbers of seconds"

names=() pids=()
trap 'kill "${pids[@]}" 2> /dev/null || true' EXIT
for setting in "${settings[@]}"; do
  name=${setting%%=*}
  read -ra flags <<< "${setting#*=}"
  cleanly "$jdk/bin/java" -Xms32m -Xmx1g "${flags[@]}" -cp "$work" AfterLoad "${phases[@]}" > "$work/$name.log" 2>&1 &
  names+=("$name") pids+=($!)
done

# Of the JVM, which is the child of the shell that has started it.
resident() {
  local jvm
  jvm=$(cat "/proc/$1/task/$1/children" 2> /dev/null || true)
  awk '/^VmRSS:/ { printf "%.1f", $2 / 1024; found = 1 } END { if (!found) printf "none" }' "/proc/${jvm// /}/status" 2> /dev/null || printf 'none'
}

table=$work/resident.csv
(IFS=','; printf 'second,%s\n' "${names[*]}") > "$table"
start=$SECONDS
total=$((phases[0] + phases[1] + phases[2]))
for ((second = 0; second < total; second = SECONDS - start)); do
  row=$second
  for pid in "${pids[@]}"; do row+=,$(resident "$pid"); done
  printf '%s\n' "$row" >> "$table"
  if ((second % 30 == 0)); then say "    $((total - second)) s left: $row"; fi
  sleep 1
done
failed=0
for i in "${!pids[@]}"; do
  wait "${pids[i]}" || { failed=1; say "FAILED: ${names[i]}"; tail -n 3 "$work/${names[i]}.log"; }
done
trap - EXIT
draw_table "$table" linear seconds MB "Resident set over ${phases[0]} s of load, ${phases[1]} s of little load and ${phases[2]} s of none"
say "$table and ${table%.csv}.svg"
exit "$failed"
