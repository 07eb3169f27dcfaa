#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Builds with OpenJDK's own makefiles, in build/openjdk.
#
#   build.sh jdk release|fastdebug        the whole image, linked to as build/jdk or build/jdk-debug
#   build.sh hotspot release|fastdebug    libjvm alone, put into that image if there is one
#   build.sh gtest                        the gtest launcher and its libjvm (fastdebug)
#   build.sh natives hotspot|jdk [DIR...] the native libraries of jtreg tests in these directories (fastdebug)
#
# An image whose source, arguments and compiler are those of the last build is left alone. If only HotSpot has changed, its
# libjvm is built and replaced in the image, and the CDS archives are dumped anew; that takes a minute or two. What the image
# was built from is remembered in build/openjdk/.lull.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-5G}
CCACHE_NOHASHDIR=1
export CCACHE_MAXSIZE CCACHE_NOHASHDIR

LINES_TO_SHOW='^(Compiling up to .* for (java\.base|java\.desktop|jdk\.compiler|jdk\.hotspot\.agent)$|Creating (hotspot/variant-server/libjvm/.*(libjvm|gtestLauncher)|support/modules_libs/.*libjvm|jdk image|CDS|support/interim-jmods|images/jmods/(java\.base|java\.desktop))|Optimizing|.*: error:|Building )'

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
  "$SCRIPTS/deps.sh"
  "$SCRIPTS/fetch-source.sh"
  "$SCRIPTS/overlay.sh"
  "$SCRIPTS/configure.sh" "$1"
}

# All that a build depends on: the source, what lies over it, the configuration.
inputs() { cat "$STATE/source"; printf 'configure %s\n' "$(sha256sum < "$TREE/build/$1/.lull-configure")"; sort "$STATE/overlay"; }

same_inputs() { [[ -z ${LULL_FORCE:-} && -f $STATE/$1 ]] && cmp -s "$STATE/$1" <(inputs "$2"); }

# Have only HotSpot's own files changed since RECORD was written? Some of them shape other modules too, and tests shape none.
only_hotspot_changed() {
  local record=$STATE/$1 conf=$2
  [[ -z ${LULL_FORCE:-} && -f $record ]] || return 1
  { comm -3 <(sort "$record") <(inputs "$conf" | sort) | sed 's/^\t//'; } |
    awk '$3 ~ /^test\// { next }
         $3 !~ /^src\/hotspot\// || $3 ~ /^src\/hotspot\/share\/(jfr\/metadata|include|prims\/jvmti)/ || $3 ~ /\/include\/jvm_md\.h$/ { other = 1 }
         END { exit other }'
}

check_image() {   # CONF
  local image said
  image=$(image_of "$1")
  said=$(cleanly "$image/bin/java" -Xshare:on -version 2>&1) || die "the JDK just built does not run: $image/bin/java -Xshare:on -version" "$said"
  [[ $said == *"Lull-$LULL_VERSION"* ]] || die "the JDK just built does not say Lull-$LULL_VERSION in java -version" "$said"
  [[ -s $image/lib/server/classes.jsa ]] || die "the JDK just built has no CDS archive $image/lib/server/classes.jsa"
  printf '%s\n' "$said" | sed 's/^/    /'
}

link_image() { ln -sfn "openjdk/build/$1/images/jdk" "$(image_of "$1")"; }

# Puts the newest libjvm into the image. Running JVMs keep the file they have open.
replace_libjvm() {
  local conf=$1 image built name flags
  image=$(readlink -f "$(image_of "$conf")")
  built=$TREE/build/$conf/support/modules_libs/java.base/server/libjvm.so
  [[ -f $built ]] || die "the build has left no libjvm at $built"
  cmp -s "$built" "$image/lib/server/libjvm.so" && return
  cp "$built" "$image/lib/server/libjvm.so.new"
  mv -f "$image/lib/server/libjvm.so.new" "$image/lib/server/libjvm.so"
  # shellcheck disable=SC2317 # phase calls it
  dump_archives() {
    for name in classes classes_nocoops classes_coh classes_nocoops_coh; do
      if [[ ! -f $image/lib/server/$name.jsa ]]; then continue; fi
      flags=(-XX:+UnlockExperimentalVMOptions)
      if [[ $name == *_nocoops* ]]; then flags+=(-XX:-UseCompressedOops); fi
      if [[ $name == *_coh ]]; then flags+=(-XX:+UseCompactObjectHeaders); else flags+=(-XX:-UseCompactObjectHeaders); fi
      rm -f "$image/lib/server/$name.jsa"
      # As OpenJDK's make/Images.gmk does; only G1 dumps heap objects.
      cleanly "$image/bin/java" -Xshare:dump "${flags[@]}" -Xmx128M -Xms128M -XX:+UseG1GC \
        -XX:SharedArchiveFile="$image/lib/server/$name.jsa" || return 1
    done
  }
  phase "CDS archives ($conf)" "$LOGS/cds-$conf.log" dump_archives
}

build_hotspot() {
  local conf=$1 image
  prepare "$conf"
  image=$(image_of "$conf")
  inputs "$conf" > "$STATE/hotspot-$conf.new"
  jdk_make "libjvm ($conf)" "$conf" hotspot
  if [[ -x $image/bin/java ]]; then
    replace_libjvm "$conf"
    check_image "$conf"
    if only_hotspot_changed "jdk-$conf" "$conf"; then mv "$STATE/hotspot-$conf.new" "$STATE/jdk-$conf"; fi
  else
    say "    there is no image yet to put it into (make jdk makes one): $TREE/build/$conf/support/modules_libs/java.base/server/libjvm.so"
  fi
  rm -f "$STATE/hotspot-$conf.new"
}

build_jdk() {
  local conf=$1 image start=$SECONDS
  prepare "$conf"
  image=$(image_of "$conf")
  if [[ -x $image/bin/java ]] && same_inputs "jdk-$conf" "$conf"; then
    say "$image is up to date"
    return
  fi
  if [[ -x $image/bin/java ]] && only_hotspot_changed "jdk-$conf" "$conf"; then
    build_hotspot "$conf"
  else
    inputs "$conf" > "$STATE/jdk-$conf.new"
    rm -f "$STATE/jdk-$conf"
    jdk_make "JDK image ($conf)" "$conf" jdk-image
    link_image "$conf"
    check_image "$conf"
    mv "$STATE/jdk-$conf.new" "$STATE/jdk-$conf"
  fi
  say "$image is ready after $(minutes $((SECONDS - start)))"
}

build_gtest() {
  prepare fastdebug
  if same_inputs gtest fastdebug; then return; fi
  inputs fastdebug > "$STATE/gtest.new"
  jdk_make "gtest launcher (fastdebug)" fastdebug test-image-hotspot-gtest
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
  jdk_make "native test libraries ($component: $*)" fastdebug "test-image-$component-jtreg-native" "$variable=${dirs[*]}"
}

conf=${2:-}
case ${1:-} in
  jdk | hotspot) image_of "$conf" > /dev/null; locked "build_$1" "$conf" ;;
  gtest) locked build_gtest ;;
  natives) shift; locked build_natives "$@" ;;
  *) die "build.sh knows jdk, hotspot, gtest and natives, not '${1:-}'" ;;
esac
