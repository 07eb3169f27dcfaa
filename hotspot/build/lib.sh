# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# shellcheck shell=bash disable=SC2034 # what is set here is used by the scripts that source this
#
# What the build scripts share: where things are, how they speak, which JDK builds ours.
# Sourced, never run.
#
#   LULL_BUILD     the build directory        (default: build/ in the repository)
#   OPENJDK_SRC    an OpenJDK 25 source tree  (default: fetched as the distribution's source package)
#   JAVA_HOME      the JDK that builds ours   (default: an installed JDK 25)
#   LULL_FORCE=1   build even when nothing seems to have changed
#   LULL_VERBOSE=1 whole build output on the terminal instead of one line per phase

set -Eeuo pipefail
export LC_ALL=C
trap 'printf "error: %s, line %s: a command failed with exit status %s\n" "${BASH_SOURCE[0]}" "$LINENO" "$?" >&2' ERR

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
BUILD=${LULL_BUILD:-$ROOT/build}
mkdir -p "$BUILD"
BUILD=$(cd "$BUILD" && pwd -P)

SCRIPTS=$ROOT/hotspot/build
TREE=$BUILD/openjdk                 # OpenJDK's source with ours laid over it
PRISTINE=$BUILD/openjdk-pristine    # upstream's own text of what we may patch
STATE=$TREE/.lull                   # what the scripts remember about TREE
DOWNLOAD=$BUILD/download
LOGS=$BUILD/logs

LULL_VERSION=0.1

say()  { printf '%s\n' "$*"; }
note() { printf 'note: %s\n' "$*" >&2; }
die()  { local first=$1; shift; printf 'error: %s\n' "$first" >&2; local line; for line in "$@"; do printf '       %s\n' "$line" >&2; done; exit 1; }

have() { command -v "$1" > /dev/null 2>&1; }

minutes() { if (($1 >= 60)); then printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); else printf '%d s' "$1"; fi; }

# Writes its input to FILE unless FILE already says just that: an unchanged file keeps its time stamp.
write_if_changed() {
  local file=$1 new
  new=$(mktemp "$file.XXXXXX")
  cat > "$new"
  if cmp -s "$new" "$file"; then rm -f "$new"; else chmod 644 "$new"; mv -f "$new" "$file"; fi
}

# Of its input, which goes to file descriptor 3, what PHASE_SHOW and PHASE_PROGRESS want to be seen.
show_progress() {   # START
  local line part='' got
  while :; do
    got=0
    IFS= read -r -t 30 line || got=$?
    if ((got == 0)); then
      line=$part$line part=
      printf '%s\n' "$line" >&3
      if [[ $line =~ $PHASE_SHOW ]]; then printf '    %6s s  %s\n' $((SECONDS - $1)) "$line"; fi
    elif ((got > 128)); then
      part+=$line   # of a line that is not yet complete
      if [[ -n ${PHASE_PROGRESS:-} ]]; then $PHASE_PROGRESS $((SECONDS - $1)); fi
    else
      if [[ -n $part$line ]]; then printf '%s\n' "$part$line" >&3; fi
      return
    fi
  done
}

# phase NAME LOGFILE COMMAND...: runs the command with its output in the log, and says how long it took. Of a long
# command's output it shows the lines that match PHASE_SHOW (an extended regular expression), if that is set; and when none
# has come for half a minute, what PHASE_PROGRESS prints, a command that is told the seconds since the start.
phase() {
  local name=$1 log=$2 start=$SECONDS status=0 line
  shift 2
  mkdir -p "$(dirname "$log")"
  say "==> $name"
  if [[ -n ${LULL_VERBOSE:-} ]]; then
    "$@" 2>&1 | tee "$log" || status=${PIPESTATUS[0]}
  elif [[ -n ${PHASE_SHOW:-} ]]; then
    "$@" 2>&1 | show_progress "$start" 3> "$log" || status=$?
  else
    "$@" > "$log" 2>&1 || status=$?
  fi
  if ((status != 0)); then
    say "    failed after $(minutes $((SECONDS - start))); the end of $log:"
    tail -n 40 "$log" | sed 's/^/    | /'
    die "$name failed with exit status $status" "the whole output is in $log"
  fi
  say "    $(minutes $((SECONDS - start)))"
}

# locked COMMAND...: one build at a time in one build directory.
locked() {
  if [[ ${LULL_LOCKED:-} == "$BUILD" ]] || ! have flock; then "$@"; return; fi
  export LULL_LOCKED=$BUILD   # the scripts that this one calls are inside already
  exec 9> "$BUILD/.lock"
  if ! flock -n 9; then note "waiting for another build in $BUILD"; flock 9; fi
  "$@" 9>&-
}

# version_number DIR NAME: one of the numbers in an OpenJDK source tree's make/conf/version-numbers.conf.
version_number() { sed -n "s/^DEFAULT_VERSION_$2=\([0-9]*\).*/\1/p" "$1/make/conf/version-numbers.conf"; }

# The feature release of the JDK in a directory (25), or nothing.
jdk_feature() {
  local v
  [[ -x $1/bin/javac && -r $1/release ]] || return 0
  v=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release")
  printf '%s' "$v"
}

# 25.0.3 of a JDK's release file: without the build number and what its vendor adds.
jdk_version() { sed -n 's/^JAVA_VERSION="\(.*\)"$/\1/p' "$1/release"; }

# Prints the directory of the JDK to build with: JAVA_HOME, else the one on the PATH, else any installed one. OpenJDK 25 is
# built by 25 or 24; 25 is preferred. Not one that was built here, and may be built anew. Prints nothing if there is none.
find_boot_jdk() {
  local want d on_path=
  if have javac; then on_path=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")"); fi
  for want in 25 24; do
    for d in "${JAVA_HOME:-}" "$on_path" /usr/lib/jvm/*; do
      if [[ -z $d || ! -d $d || $(jdk_feature "$d") != "$want" ]]; then continue; fi
      d=$(cd "$d" && pwd -P)
      case $d/ in "$BUILD"/jdk*/*) continue ;; esac
      if [[ ! -f $d/.lull-base ]]; then printf '%s\n' "$d"; return; fi
    done
  done
}

boot_jdk() {
  local d
  d=$(find_boot_jdk)
  [[ -n $d ]] || die "no JDK 25 found to build with (looked at JAVA_HOME=${JAVA_HOME:-<unset>}, the PATH and /usr/lib/jvm/*)" \
    "unpack any vendor's JDK 25 and say where:  make ... JAVA_HOME=/path/to/jdk-25"
  printf '%s' "$d"
}

# Runs COMMAND without what would change a JDK build's or a test's mind: our own make, and options meant for other JVMs.
cleanly() {
  env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES -u CLASSPATH -u JAVA_TOOL_OPTIONS -u _JAVA_OPTIONS \
    -u JDK_JAVA_OPTIONS -u CFLAGS -u CXXFLAGS -u CPPFLAGS -u LDFLAGS "$@"
}

# compile_programs NAME IMAGE SOURCE...: for a test that is a program. Sets jdk to LULL_TEST_JDK, or else to that image of ours, and work to a directory of
# that name, in which there is nothing but these programs, compiled.
compile_programs() {
  jdk=${LULL_TEST_JDK:-$BUILD/$2} work=$BUILD/test-work/$1
  [[ -x $jdk/bin/java ]] || die "there is no JDK at $jdk" "build it first:  make $2"
  rm -rf "$work"
  mkdir -p "$work"
  cleanly "$jdk/bin/javac" -d "$work" "${@:3}"
}

# draw_table TABLE.csv linear|log X-TITLE UNIT DESCRIPTION: the picture of it, TABLE.svg, by the benches' class for that.
draw_table() {
  local classes=$BUILD/test-work/csv-picture sources=$ROOT/bench/harness/src/main/java:$ROOT/java/report/src/main/java
  mkdir -p "$classes"
  "$(boot_jdk)/bin/javac" -d "$classes" -sourcepath "$sources" "$ROOT/bench/harness/src/main/java/lull/bench/run/CsvPicture.java"
  "$(boot_jdk)/bin/java" -cp "$classes" lull.bench.run.CsvPicture "${@:2}" < "$1" > "${1%.csv}.svg"
}

image_of() { case $1 in release) printf '%s' "$BUILD/jdk" ;; fastdebug) printf '%s' "$BUILD/jdk-debug" ;; full) printf '%s' "$BUILD/jdk-full" ;; *) die "unknown configuration '$1' (release, fastdebug or full)" ;; esac; }

# Where in build/openjdk/build a configuration is built: one of which all is built goes on in the directory of the release
# build, with its libjvm.
directory_of() { case $1 in full) printf release ;; *) printf '%s' "$1" ;; esac; }
