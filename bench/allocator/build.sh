# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Sourced by study.sh, tables.sh and test.sh, after common.sh: builds the replay, the recorder, the programs and the report, each
# unless nothing has changed. No OpenJDK source tree is needed.

ALLOCATOR=$BENCH/allocator
OUT=$LULL_BUILD/allocator
REPLAY=$OUT/replay
RECORDER=$OUT/liballocrecorder.so
TABLES=$OUT/tables
CLASSES=$OUT/programs
# The collector with the study's heap in it, and the JDK that jdk.sh builds of it.
VM=$OUT/vm
JDK=${STUDY_JDK:-$VM/build/jdk}
POLICY=$ROOT/hotspot/src/hotspot/share
SPACE=$ALLOCATOR/hotspot/src/hotspot/share

# program_arguments PROGRAM: class and arguments of one of the six.
program_arguments() {
  local package=lull.bench.allocator.programs
  case $1 in
    raytrace) echo "$package.RayTracer 1" ;;
    mtrt)     echo "$package.RayTracer 2 24 2000 2" ;;
    jess)     echo "$package.RuleEngine 1" ;;
    db)       echo "$package.MemoryTable 1" ;;
    javac)    echo "$package.Compiler 1" ;;
    compress) echo "$package.Lzw 1" ;;
    *) die "STUDY_PROGRAMS: there is no program '$1'; there are compress, jess, raytrace, db, javac, mtrt" ;;
  esac
}

# long_arguments PROGRAM: class and arguments; some seconds of work, that the start of a JVM does not hide what is looked for.
long_arguments() {
  local package=lull.bench.allocator.programs
  case $1 in
    raytrace) echo "$package.RayTracer 1 160" ;;
    mtrt)     echo "$package.RayTracer 2 160 2000 2" ;;
    jess)     echo "$package.RuleEngine 1 200" ;;
    db)       echo "$package.MemoryTable 1 4000 100000" ;;
    javac)    echo "$package.Compiler 1 30" ;;
    compress) echo "$package.Lzw 1 400" ;;
    *) die "there is no program '$1'; there are raytrace, mtrt, jess, db, javac, compress" ;;
  esac
}

# median: of the numbers on standard input, a line each.
median() { sort -n | awk '{ v[NR] = $1 } END { printf "%s", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# segregated_options SEARCH COALESCING LISTS BYTES: those of a Lull JVM with such a heap, a line each; one thread that marks, for its processor time counts.
segregated_options() {
  local mb=$((($4 + 1048575) / 1048576))
  printf '%s\n' -XX:+UseLullGC -XX:+UnlockDiagnosticVMOptions -XX:LullAllocation=segregated -XX:-LullTracking -XX:-UseTLAB "-Xms${mb}m" "-Xmx${mb}m" \
    "-XX:LullSegregatedBytes=$4" "-XX:LullSegregatedSearch=$1" "-XX:LullSegregatedCoalescing=$2" "-XX:LullSegregatedLists=$3" -XX:ParallelGCThreads=1
}

# newer_than FILE DIR...: is anything in there newer?
newer_than() {
  local file=$1
  shift
  [ ! -e "$file" ] || [ -n "$(find "$@" -type f -newer "$file" -print -quit)" ]
}

# As HotSpot is compiled, for its headers are in it: -fno-strict-aliasing, no exceptions.
cxx() {
  command -v g++ > /dev/null || die "there is no g++: install it (apt-get install g++)"
  g++ -std=c++17 -fno-strict-aliasing -fno-exceptions -Wall -Wextra -Wno-unused-parameter "$@"
}

# compile_replay TARGET FLAGS...: it, anywhere, with other flags.
compile_replay() {
  local target=$1 source objects=()
  shift
  mkdir -p "$target.objects"
  for source in heap main synthetic trace; do
    objects+=("$target.objects/$source.o")
    newer_than "$target.objects/$source.o" "$ALLOCATOR/replay/$source.cpp" "$ALLOCATOR"/replay/*.hpp "$ALLOCATOR/include" "$POLICY"/gc/lull/alloc/lullRun* "$SPACE" || continue
    cxx -O2 "$@" "-I$ALLOCATOR/include" "-I$POLICY" "-I$SPACE" -c "$ALLOCATOR/replay/$source.cpp" -o "$target.objects/$source.o"
  done
  cxx "$@" -o "$target" "${objects[@]}"
}

build_replay() {
  mkdir -p "$OUT"
  newer_than "$REPLAY" "$ALLOCATOR/replay" "$ALLOCATOR/include" "$POLICY/gc/lull" "$SPACE" || return 0
  compile_replay "$REPLAY"
}

# With the code that HotSpot's release build would have.
build_tables() {
  mkdir -p "$OUT"
  newer_than "$TABLES" "$ALLOCATOR/tables" "$ALLOCATOR/include" "$POLICY/gc/lull" || return 0
  cxx -O3 "-I$ALLOCATOR/include" "-I$POLICY" -o "$TABLES" "$ALLOCATOR/tables/main.cpp"
}

build_recorder() {
  mkdir -p "$OUT"
  newer_than "$RECORDER" "$ALLOCATOR/recorder" "$ALLOCATOR/replay/trace_format.hpp" || return 0
  cxx -O2 -fPIC -shared "-I$LULL_BASE_JDK/include" "-I$LULL_BASE_JDK/include/linux" "$ALLOCATOR/recorder/recorder.cpp" -o "$RECORDER" -lpthread
}

build_programs() {
  newer_than "$CLASSES/built" "$ALLOCATOR/programs" || return 0
  mkdir -p "$CLASSES"
  "$LULL_BASE_JDK/bin/javac" -Xlint:all -Werror -d "$CLASSES" "$ALLOCATOR"/programs/lull/bench/allocator/programs/*.java
  touch "$CLASSES/built"
}

# The report draws with the classes of the doctor's report, as the harness does.
build_report() {
  newer_than "$OUT/report/built" "$ALLOCATOR/report" "$BENCH/harness/src/main/java/lull/bench/report" "$ROOT/java/report/src/main/java/lull/report/page" || return 0
  mkdir -p "$OUT/report"
  "$LULL_BASE_JDK/bin/javac" -implicit:class -sourcepath "$ALLOCATOR/report:$BENCH/harness/src/main/java:$ROOT/java/report/src/main/java" -d "$OUT/report" \
    "$ALLOCATOR"/report/lull/bench/allocator/report/*.java
  touch "$OUT/report/built"
}
