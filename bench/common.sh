# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Sourced by the scripts beside it: where things are, which JDK 25 runs the load, and how to build the benches.

BENCH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(dirname "$BENCH")
# shellcheck source=bench/collectors.sh
. "$BENCH/collectors.sh"
export LULL_BUILD=${LULL_BUILD:-$ROOT/build}
SERVICE=${SERVICE:-compile}
export SERVICE

die() {
  echo "error: $*" >&2
  exit 1
}

# usage_if_asked SCRIPT ARGS...: prints the comment at the head of SCRIPT for --help; any other argument is an error.
usage_if_asked() {
  local script=$1
  shift
  [ $# -eq 0 ] && return
  if [ "$1" = --help ] || [ "$1" = -h ]; then
    sed -n '3,/^$/s/^# \{0,1\}//p' "$script"
    exit 0
  fi
  echo "unknown argument '$1'" >&2
  echo "usage: $(basename "$script") [--help]; settings are environment variables" >&2
  exit 2
}

is_jdk25() {
  [ -x "$1/bin/javac" ] && grep -q '^JAVA_VERSION="25' "$1/release" 2>/dev/null
}

# The stock JDK 25: LULL_BASE_JDK, else JAVA_HOME, else an installed one.
find_base_jdk() {
  local home
  if [ -n "${LULL_BASE_JDK:-}" ]; then
    is_jdk25 "$LULL_BASE_JDK" || die "LULL_BASE_JDK is '$LULL_BASE_JDK', which is no JDK 25 (no bin/javac, or its file 'release' says otherwise)"
  else
    for home in "${JAVA_HOME:-}" /usr/lib/jvm/*; do
      if [ -n "$home" ] && is_jdk25 "$home" && [ "$home" != "$LULL_BUILD/jdk" ]; then
        LULL_BASE_JDK=$home
        break
      fi
    done
    [ -n "${LULL_BASE_JDK:-}" ] || die "no JDK 25 found: set JAVA_HOME or LULL_BASE_JDK to one, or install openjdk-25-jdk-headless"
  fi
  export LULL_BASE_JDK
}

# Installs Maven where the project may install, else says how and stops.
need_maven() {
  command -v mvn >/dev/null || "$ROOT/hotspot/build/deps.sh" bench || exit 1
}

# bench_mvn ARGS...: Maven on the benches, with the stock JDK and our build directory. What they have of java/ is tested there.
bench_mvn() {
  need_maven
  mkdir -p "$LULL_BUILD/bench"
  # Maven's own libraries make a JDK from 24 on warn about sun.misc.Unsafe.
  MAVEN_OPTS="${MAVEN_OPTS:-} --sun-misc-unsafe-memory-access=allow" JAVA_HOME=$LULL_BASE_JDK \
    mvn -q -B -Dstyle.color=never -f "$BENCH/pom.xml" -Dlull.build="$LULL_BUILD" -Dlull.report.skipTests=true "$@"
}

# Builds the service by Maven, and what it needs, unless nothing has changed since that was built. One at a time.
build_bench() {
  [ -f "$BENCH/$SERVICE/pom.xml" ] || die "no service '$SERVICE': README.md has a list of them"
  mkdir -p "$LULL_BUILD/bench/$SERVICE"
  (
    flock 9
    if ! is_built; then
      echo "building bench/$SERVICE with Maven"
      touch "$LULL_BUILD/bench/$SERVICE/built.new"
      # Old libraries must not stay on the class path.
      rm -rf "$LULL_BUILD/bench/$SERVICE/lib"
      bench_mvn -Dmaven.test.skip=true -pl "$SERVICE" -am package || die "Maven could not build bench/$SERVICE: its messages are above"
      mv "$LULL_BUILD/bench/$SERVICE/built.new" "$LULL_BUILD/bench/$SERVICE/built"
    fi
  ) 9>"$LULL_BUILD/bench/.build-lock"
}

is_built() {
  local stamp=$LULL_BUILD/bench/$SERVICE/built
  [ -e "$stamp" ] && [ -d "$LULL_BUILD/bench/$SERVICE/lib" ] \
    && [ -z "$(find "$BENCH" "$ROOT/java/report" \( -path '*/src/main/*' -o -name pom.xml \) -newer "$stamp" -print -quit)" ]
}

# Builds the JDK if COLLECTORS has Lull and no other java was named for it; gets a JDK 27 if it has one of that.
build_jdk_for() {
  [[ "$1 " != *"-27 "* ]] || need_jdk27
  case " $1 " in
    *" lull "* | *" lull-"*) ;;
    *) return ;;
  esac
  if [ -n "${LULL_JAVA:-}" ] || [ -n "${LULL_JAVA_LULL:-}" ]; then
    return
  fi
  need_maven   # now, not when the JDK has been built
  [ -f "$ROOT/Makefile" ] || die "no $ROOT/Makefile, so no 'make jdk': set LULL_JAVA, or leave lull out of COLLECTORS"
  make -C "$ROOT" --no-print-directory jdk
}

# The JDK 27 whose collectors are g1-27 and so on: LULL_JDK27, else build/jdk27, which is made if it is not there.
need_jdk27() {
  if [ -z "${LULL_JDK27:-}" ]; then
    "$BENCH/jdk27.sh" || exit 1
    LULL_JDK27=$LULL_BUILD/jdk27
  fi
  [ -x "$LULL_JDK27/bin/java" ] || die "LULL_JDK27 is '$LULL_JDK27', which has no program bin/java: give the home of a JDK 27"
  export LULL_JDK27
}

# collector_of WORD...: leaves java, and flags, an array, of a collector's name with more flags after it (g1-27 -Xmn8m), or of flags alone. Of java the
# default is OTHERWISE, if that is set; else Lull, G1, Parallel and Serial are those of the project's JDK, the others those of the base JDK.
collector_of() {
  local name=${1:-}
  # shellcheck disable=SC2034 # for those who source this
  java=${OTHERWISE:-$LULL_BUILD/jdk/bin/java}
  flags=("$@")
  [[ $name != -* ]] || return 0
  if ! flags_of "${name%-27}" || [[ $name == *-27 && ${flags[0]} == -XX:+UseLullGC ]]; then
    die "no collector '${1:-}': give one of $COLLECTOR_NAMES, or one that is not Lull with -27 at the end; or flags"
  fi
  flags+=("${@:2}")
  case $name in
    *-27)
      need_jdk27
      java=$LULL_JDK27/bin/java
      ;;
    zgc | shenandoah | genshen) java=${OTHERWISE:-$LULL_BASE_JDK/bin/java} ;;
  esac
}

# take_turn LOCK WHAT: fails if another WHAT is under way; holds the lock file LOCK until this shell, or what takes its place, has ended.
take_turn() {
  exec 8>"$1"
  flock -n 8 || die "another $2 is under way (it holds $1): wait for its end"
}

# Two runs at once would disturb each other.
take_turn_of_benches() {
  mkdir -p "$LULL_BUILD/bench"
  take_turn "$LULL_BUILD/bench/.run-lock" "run of the benches"
}

# exec_bench CLASS ARGS...: runs one of our programs on the base JDK, in place of this shell.
exec_bench() { exec "$LULL_BASE_JDK/bin/java" -XX:+UseSerialGC -Xmx512m -cp "$LULL_BUILD/bench/$SERVICE/lib/*" "$@"; }

# run_bench CLASS ARGS...: the same, and no other meanwhile.
run_bench() {
  take_turn_of_benches
  exec_bench "$@"
}
