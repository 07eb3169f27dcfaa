#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Builds with OpenJDK's own makefiles, in build/openjdk.
#
#   build.sh jdk release|fastdebug        a whole JDK, at build/jdk or build/jdk-debug
#   build.sh hotspot release|fastdebug    libjvm alone, put into that JDK if there is one
#   build.sh image-full                   a JDK of which everything is built, at build/jdk-full
#   build.sh gtest                        the gtest launcher and its libjvm (fastdebug)
#   build.sh natives hotspot|jdk [DIR...] the native libraries of jtreg tests in these directories (fastdebug)
#
# The JDK is a copy of the one that builds ours, which must be of the same version, with our libjvm in it and with CDS archives
# dumped by it: the Java classes are the same, and compiling them would take longer than HotSpot. Its flight recorder gets the
# description of our libjvm's events, which is a resource in lib/modules, and their settings; and its jhsdb gets the serviceability agent's
# view of the heap, a few classes that come before those of lib/modules.
#
# A JDK whose source, arguments and compiler are those of the last build is left alone. What it was built from is remembered
# in build/openjdk/.lull.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-5G}
CCACHE_NOHASHDIR=1
export CCACHE_MAXSIZE CCACHE_NOHASHDIR

LINES_TO_SHOW='^(Creating (hotspot/variant-server/libjvm/.*(libjvm|gtestLauncher)|support/modules_libs/.*libjvm)|.*: error:|Building )'

jdk_make() {   # NAME CONF TARGET [VARIABLE=VALUE...]
  local name=$1 conf=$2 target=$3
  shift 3
  # gtest is built when asked for, not with every libjvm.
  if [[ $target != test-image-hotspot-gtest ]]; then set -- GTEST_FRAMEWORK_SRC= "$@"; fi
  local allow
  allow=$(printf '%s,' "${@%%=*}")
  PHASE_SHOW=$LINES_TO_SHOW phase "$name" "$LOGS/make-$target-$conf.log" \
    cleanly make -C "$TREE" CONF_NAME="$conf" ${JOBS:+JOBS=$JOBS} ALLOW="${allow%,}" "$@" "$target"
}

prepare() {   # CONF
  "$SCRIPTS/deps.sh" "$1"
  "$SCRIPTS/fetch-source.sh"
  "$SCRIPTS/overlay.sh"
  "$SCRIPTS/configure.sh" "$1"
}

# All that a build depends on: the source, what lies over it, the configuration.
inputs() { cat "$STATE/source"; printf 'configure %s\n' "$(sha256sum < "$TREE/build/$1/.lull-configure")"; sha256sum < "$SCRIPTS/jhsdb"; sort "$STATE/overlay"; }

same_inputs() { [[ -z ${LULL_FORCE:-} && -f $STATE/$1 ]] && cmp -s "$STATE/$1" <(inputs "$2"); }

check_image() {   # CONF
  local image said
  image=$(image_of "$1")
  said=$(cleanly "$image/bin/java" -Xshare:on -version 2>&1) || die "the JDK just built does not run: $image/bin/java -Xshare:on -version" "$said"
  [[ $said == *"Lull-$LULL_VERSION"* ]] || die "the JDK just built does not say Lull-$LULL_VERSION in java -version" "$said"
  [[ -s $image/lib/server/classes.jsa ]] || die "the JDK just built has no CDS archive $image/lib/server/classes.jsa"
  printf '%s\n' "$said" | sed 's/^/    /'
}

# The JDK that builds ours is that of the source: its Java classes are ours.
check_base() {
  local base version
  base=$(boot_jdk)
  version=$(sed -n 's/^version=//p' "$STATE/source")
  [[ $(jdk_version "$base") == "$version" ]] ||
    die "the source is OpenJDK $version, and the JDK to take the Java classes from, $base, is $(jdk_version "$base")" \
      "build the Java classes too:  make image-full" \
      "or unpack any vendor's JDK $version and say where:  make ... JAVA_HOME=/path/to/it" \
      "or build from the source of $(jdk_version "$base"):  make ... OPENJDK_SRC=/path/to/it" \
      "or, if the system's JDK is newer than the source that was fetched for it, fetch that anew:  make distclean"
}

# Copies the JDK that builds ours, unless it is there already.
copy_base() {   # CONF
  local image base
  image=$(image_of "$1")
  base=$(boot_jdk)
  if [[ -f $image/.lull-base && $(cat "$image/.lull-base") == "$base $(cksum < "$base/release")" ]]; then return; fi
  rm -rf "$image" "$image.new"
  # Not its archives: they are another libjvm's.
  mkdir -p "$image.new"
  (cd "$base" && tar cf - --exclude='./lib/server/*.jsa' .) | tar xf - -C "$image.new" --no-same-owner
  printf '%s %s\n' "$base" "$(cksum < "$base/release")" > "$image.new/.lull-base"
  mv -T "$image.new" "$image"
}

# Of what runs as a phase each command says itself that a failure is one. The archive without a suffix is the last: where it is, all are.
dump_archives() {   # IMAGE
  local name flags
  for name in classes_nocoops classes_coh classes_nocoops_coh classes; do
    flags=(-XX:+UnlockExperimentalVMOptions)
    if [[ $name == *_nocoops* ]]; then flags+=(-XX:-UseCompressedOops); fi
    if [[ $name == *_coh ]]; then flags+=(-XX:+UseCompactObjectHeaders); else flags+=(-XX:-UseCompactObjectHeaders); fi
    # As OpenJDK's make/Images.gmk does; only G1 dumps heap objects.
    cleanly "$1/bin/java" -Xshare:dump "${flags[@]}" -Xmx128M -Xms128M -XX:+UseG1GC -XX:SharedArchiveFile="$1/lib/server/$name.jsa.new" || return 1
    mv -f "$1/lib/server/$name.jsa.new" "$1/lib/server/$name.jsa" || return 1
  done
}

# The flight recorder's Java half knows events by numbers that are made from metadata.xml, as libjvm does: both must come
# from the same. lib/jfr may hold links into the system's own configuration.
replace_recorder() {   # CONF
  local image description=$TREE/src/hotspot/share/jfr/metadata settings=$TREE/src/jdk.jfr/share/conf/jfr sum
  image=$(image_of "$1")
  sum=$(cat "$description"/* "$settings"/*.jfc | sha256sum)
  if [[ -f $image/.lull-recorder && $(cat "$image/.lull-recorder") == "$sum" ]]; then return; fi
  rm -f "$image/.lull-recorder" "$image"/lib/server/*.jsa   # the archives are bound to lib/modules
  # What OpenJDK's makefiles run for the module's resources.
  cleanly "$(boot_jdk)/bin/java" "$TREE/make/src/classes/build/tools/jfr/GenerateJfrFiles.java" --mode metadata \
    --xml "$description/metadata.xml" --xsd "$description/metadata.xsd" --output "$image/metadata.bin" || return 1
  cleanly "$(boot_jdk)/bin/java" --add-exports java.base/jdk.internal.jimage=ALL-UNNAMED "$SCRIPTS/ReplaceResource.java" \
    "$image/lib/modules" /jdk.jfr/jdk/jfr/internal/types/metadata.bin "$image/metadata.bin" "$image/lib/modules.new" || return 1
  rm -f "$image/metadata.bin"
  mv -f "$image/lib/modules.new" "$image/lib/modules" || return 1
  rm -rf "$image/lib/jfr"
  mkdir "$image/lib/jfr" && cp "$settings"/*.jfc "$image/lib/jfr" || return 1
  printf '%s\n' "$sum" > "$image/.lull-recorder"
}

# Puts the newest libjvm into the JDK. Running JVMs keep the file they have open.
replace_libjvm() {   # CONF
  local image built
  image=$(image_of "$1")
  built=$TREE/build/$1/support/modules_libs/java.base/server/libjvm.so
  [[ -f $built ]] || die "the build has left no libjvm at $built"
  if cmp -s "$built" "$image/lib/server/libjvm.so" && [[ -s $image/lib/server/classes.jsa ]]; then return; fi
  rm -f "$image"/lib/server/*.jsa   # of another libjvm
  cp "$built" "$image/lib/server/libjvm.so.new"
  mv -f "$image/lib/server/libjvm.so.new" "$image/lib/server/libjvm.so"
  phase "CDS archives ($1)" "$LOGS/cds-$1.log" dump_archives "$image"
}

# The serviceability agent meets a Lull heap: its classes that are ours or have a patch, in a directory of their own, and a jhsdb that
# puts them before those of lib/modules.
replace_agent() {   # CONF
  local image classes=src/jdk.hotspot.agent/share/classes work=$BUILD/agent-$1 files file version sum
  image=$(image_of "$1")
  mapfile -t files < <(
    sed -n "s|^+++ b/$classes/||p" "$ROOT"/hotspot/patches/*.patch
    cd "$ROOT/hotspot/$classes" && find . -name '*.java' -printf '%P\n')
  ((${#files[@]})) || die "no patch and no file of ours is below $classes"
  version=$(cleanly "$image/bin/java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.vm.version = //p')
  sum=$(cd "$TREE/$classes" && { printf '%s\n' "$version"; cat "${files[@]}" "$SCRIPTS/jhsdb"; } | sha256sum)
  if [[ -f $image/.lull-agent && $(cat "$image/.lull-agent") == "$sum" ]]; then return; fi
  rm -rf "$image/.lull-agent" "$image/lib/lull-agent" "$work"
  for file in "${files[@]}"; do
    mkdir -p "$work/$(dirname "$file")" && cp "$TREE/$classes/$file" "$work/$file" || return 1
  done
  (cd "$work" && cleanly "$image/bin/javac" -nowarn -d "$image/lib/lull-agent" --patch-module jdk.hotspot.agent="$work" "${files[@]}") || return 1
  # Or the agent warns that it is of another version.
  printf 'sun.jvm.hotspot.runtime.VM.saBuildVersion=%s\n' "$version" > "$image/lib/lull-agent/sa.properties" || return 1
  rm -rf "$work"
  install -m 755 "$SCRIPTS/jhsdb" "$image/bin/jhsdb.new" && mv -f "$image/bin/jhsdb.new" "$image/bin/jhsdb" || return 1
  printf '%s\n' "$sum" > "$image/.lull-agent"
}

build_jdk() {   # CONF
  local conf=$1 image start=$SECONDS
  prepare "$conf"
  check_base
  image=$(image_of "$conf")
  if [[ -x $image/bin/java ]] && same_inputs "jdk-$conf" "$conf"; then
    say "$image is up to date"
    return
  fi
  inputs "$conf" > "$STATE/jdk-$conf.new"
  rm -f "$STATE/jdk-$conf"
  jdk_make "libjvm ($conf)" "$conf" hotspot
  copy_base "$conf"
  phase "the flight recorder's events ($conf)" "$LOGS/recorder-$conf.log" replace_recorder "$conf"
  replace_libjvm "$conf"
  phase "the serviceability agent ($conf)" "$LOGS/agent-$conf.log" replace_agent "$conf"
  check_image "$conf"
  mv "$STATE/jdk-$conf.new" "$STATE/jdk-$conf"
  say "$image is ready after $(minutes $((SECONDS - start)))"
}

build_hotspot() {   # CONF
  local conf=$1
  if [[ -x $(image_of "$conf")/bin/java ]]; then build_jdk "$conf"; return; fi
  prepare "$conf"
  jdk_make "libjvm ($conf)" "$conf" hotspot
  say "    there is no JDK yet to put it into (make jdk makes one): $TREE/build/$conf/support/modules_libs/java.base/server/libjvm.so"
}

build_image_full() {
  local image start=$SECONDS
  prepare full
  image=$(image_of full)
  if [[ -x $image/bin/java ]] && same_inputs jdk-full full; then
    say "$image is up to date"
    return
  fi
  inputs full > "$STATE/jdk-full.new"
  rm -f "$STATE/jdk-full"
  jdk_make "JDK (full)" full jdk-image
  rm -rf "$image.new"
  cp -a "$TREE/build/full/images/jdk" "$image.new"
  rm -rf "$image"
  mv -T "$image.new" "$image"
  phase "CDS archives (full)" "$LOGS/cds-full.log" dump_archives "$image"
  check_image full
  mv "$STATE/jdk-full.new" "$STATE/jdk-full"
  say "$image is ready after $(minutes $((SECONDS - start)))"
}

# With our tests only: upstream's are some three hundred files more.
build_gtest() {
  prepare fastdebug
  if same_inputs gtest fastdebug; then return; fi
  inputs fastdebug > "$STATE/gtest.new"
  local from=$TREE/test/hotspot/gtest to=$TREE/test/hotspot/gtest-lull
  rm -rf "$to"
  mkdir -p "$to/gc"
  cp -p "$from"/*.?pp "$to"
  cp -rp "$from/gc/lull" "$to/gc"
  jdk_make "gtest launcher (fastdebug)" fastdebug test-image-hotspot-gtest GTEST_TEST_SRC="$to"
  mv "$STATE/gtest.new" "$STATE/gtest"
}

# The native libraries of test/hotspot/jtreg or test/jdk, those under the given directories only: all of them are thousands.
build_natives() {
  local component=$1 top d dirs=() variable
  shift
  case $component in
    hotspot) top=$TREE/test/hotspot/jtreg; variable=HOTSPOT_JTREG_NATIVE_SRC ;;
    jdk) top=$TREE/test/jdk; variable=BUILD_JDK_JTREG_NATIVE_SRC ;;
    *) die "native test libraries exist for hotspot and jdk, not for '$component'" ;;
  esac
  [[ -f $TREE/build/fastdebug/spec.gmk ]] || die "build the debug image first:  make jdk-debug"
  for d in "$@"; do dirs+=("$top/$d"); done
  # Those of test/lib are for both.
  jdk_make "native test libraries (shared)" fastdebug test-image-lib-native
  jdk_make "native test libraries ($component: $*)" fastdebug "test-image-$component-jtreg-native" "$variable=${dirs[*]}"
}

conf=${2:-}
case ${1:-} in
  jdk | hotspot) image_of "$conf" > /dev/null; locked "build_$1" "$conf" ;;
  image-full) locked build_image_full ;;
  gtest) locked build_gtest ;;
  natives) shift; locked build_natives "$@" ;;
  *) die "build.sh knows jdk, hotspot, image-full, gtest and natives, not '${1:-}'" ;;
esac
