#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# run.sh: a service (Crowded.java) in a memory limit that its heap and what it has outside of it do not both fit into: a
# heap of 80 % of the limit, a third of the limit outside, and little alive. Does it live? A line for each setting: its
# end, the kernel's count of kills, the most memory that the group had, and the program's last line. Needs root and control
# groups of version 1, in a group of its own below this one; the kernel ends what is in that group only.
#
#   LULL_TEST_JDK        the JDK                                          (default: build/jdk)
#   LULL_TEST_FLAGS      name=flags of a JVM each, between bars           (default: Lull, Lull with the budget, G1, ...)
#   LULL_TEST_SIZES      MB: the limit, alive, outside, through the cache (default: 512 36 179 4000)

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

compile_programs container jdk "$ROOT/hotspot/test/container/Crowded.java"
default="Lull=-XX:+UseLullGC|Lull-budget=-XX:+UseLullGC -XX:+UseHeapBudget|Lull-50=-XX:+UseLullGC -XX:MaxRAMPercentage=50"
default+="|G1=-XX:+UseG1GC|G1-budget=-XX:+UseG1GC -XX:+UseHeapBudget|Serial=-XX:+UseSerialGC"
IFS='|' read -ra settings <<< "${LULL_TEST_FLAGS:-$default}"
read -ra sizes <<< "${LULL_TEST_SIZES:-512 36 179 4000}"
((${#sizes[@]} == 4)) || die "LULL_TEST_SIZES is '${LULL_TEST_SIZES:-}'; it takes four numbers of MB"

parent=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
group=${parent%/}/lull-container-$$
[[ -d $parent && $(id -u) == 0 ]] || die "no control groups of version 1 for memory, or not root: $parent"
trap 'rmdir "$group" 2> /dev/null || true' EXIT

for setting in "${settings[@]}"; do
  name=${setting%%=*}
  read -ra flags <<< "${setting#*=}"
  mkdir "$group"
  echo "${sizes[0]}M" > "$group/memory.limit_in_bytes"
  status=0
  (
    echo "$BASHPID" > "$group/cgroup.procs"
    exec env -u JAVA_TOOL_OPTIONS -u JDK_JAVA_OPTIONS "$jdk/bin/java" -XX:MaxRAMPercentage=80 "${flags[@]}" -Xlog:gc*:file="$work/$name.log" -cp "$work" Crowded "${sizes[@]:1}"
  ) > "$work/out" 2>&1 || status=$?
  end="ends with $status"
  if ((status == 0)); then end=lives; fi
  printf '%-14s %s, %s kills, at most %d MB of %d; %s\n' "$name" "$end" "$(sed -n 's/^oom_kill //p' "$group/memory.oom_control")" \
    $(($(cat "$group/memory.max_usage_in_bytes") >> 20)) "${sizes[0]}" "$(grep '^part' "$work/out" | tail -n 1 || true)"
  rmdir "$group"
done
