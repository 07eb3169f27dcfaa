# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Sourced by barrier-cost.sh and barrier-instructions.sh, after common.sh: the collector without barriers, with them, and in public mode, with
# nothing else that differs; which programs run on it, in which heap, on which Java: flags, programs, heap, java, and a directory, work.

# shellcheck source=bench/allocator/build.sh
. "$BENCH/allocator/build.sh"

# shellcheck disable=SC2034 # for those who source this
declare -A flags=(
  [none]="-XX:-LullTracking"
  [tracking]="-XX:-LullLocalCollections -XX:-LullYoungCollections"
  [public]="-XX:-LullLocalCollections -XX:-LullYoungCollections -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPublic"
)

heap=${BARRIER_HEAP:-256}
read -ra programs <<< "${BARRIER_PROGRAMS:-rules raytrace javac table lzw}"
[[ $heap =~ ^[1-9][0-9]*$ ]] || die "BARRIER_HEAP is '$heap': a number of megabytes is needed"
for program in "${programs[@]}"; do
  case $program in
    rules | raytrace | javac | table | lzw) ;;
    *) die "BARRIER_PROGRAMS names '$program': there are rules, raytrace, javac, table and lzw" ;;
  esac
done

# prepare_barrier_programs NAME: builds the programs; work is an empty directory of that name. No other bench runs meanwhile.
prepare_barrier_programs() {
  find_base_jdk
  java=${LULL_JAVA:-$LULL_BUILD/jdk/bin/java}
  [ -x "$java" ] || die "there is no $java: make jdk, or set LULL_JAVA"
  take_turn_of_benches
  build_programs
  work=$LULL_BUILD/$1
  rm -rf "$work"
  mkdir -p "$work"
}
