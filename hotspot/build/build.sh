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
# The JDK is a copy of the one that builds ours, which must be of the same version, with our libjvm in it, our name, and CDS archives
# (image.sh): the Java classes are the same, and compiling them would take longer than HotSpot.
#
# A JDK whose source, arguments and compiler are those of the last build is left alone. What it was built from is remembered
# in build/openjdk/.lull.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=image.sh
. "$SCRIPTS/image.sh"

CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-5G}
CCACHE_NOHASHDIR=1
export CCACHE_MAXSIZE CCACHE_NOHASHDIR

LINES_TO_SHOW='^(Creating (hotspot/variant-server/libjvm/.*(libjvm|gtestLauncher)|support/modules_libs/.*libjvm)|.*: error:|Building )'

# How far the compilation of libjvm is. Make compiles in the order of the objects' names, so the newest one's place among
# all says it: of a build that goes on, too, for it passes over what is there. HotSpot's own message counts what has changed.
libjvm_progress() {   # CONF SECONDS
  local out objects newest place all percent left=''
  out=$TREE/build/$(directory_of "$1")
  objects=$out/hotspot/variant-server/libjvm/objs
  # But the one with the version, which is compiled before each link.
  newest=$(find "$objects" -maxdepth 1 -name '*.o' ! -name abstract_vm_version.o -printf '%T@ %f\n' 2> /dev/null | sort -rn | sed -n '1s/.* //p') || true
  [[ -n $newest ]] || return 0
  # Linked: what comes then are other libraries and classes.
  if [[ $out/support/modules_libs/java.base/server/libjvm.so -nt $objects/$newest ]]; then return 0; fi
  read -r place all < <(libjvm_objects "$1" | awk -v newest="$newest" '$0 <= newest { place++ } END { print place + 0, NR }')
  ((place < all)) || return 0
  percent=$((100 * place / all))
  # The first look is where this build has begun, not always with the first file.
  if [[ -z ${FIRST_PLACE:-} ]]; then FIRST_PLACE=$place FIRST_SECONDS=$2; fi
  if ((place > FIRST_PLACE)); then
    left=", some $(minutes $(((all - place) * ($2 - FIRST_SECONDS) / (place - FIRST_PLACE) / 30 * 30 + 30))) left"
  fi
  printf '    %6s s  %s %% of libjvm compiled%s\n' "$2" "$percent" "$left"
}

# The objects of libjvm, in make's order: of the sources for this processor and system, without the collectors that are not
# in it, and of generated ones.
libjvm_objects() {   # CONF
  local left_out=(-path '*/jvmci/*' -o -path '*/adlc/*')
  if [[ $1 == fastdebug ]]; then left_out+=(-o -path '*/gc/z/*' -o -path '*/gc/shenandoah/*'); fi
  {
    (cd "$TREE/src/hotspot" &&
      find share os/linux os/posix cpu/x86 os_cpu/linux_x86 -name '*.cpp' -not \( "${left_out[@]}" \) -printf '%f\n')
    find "$TREE/build/$(directory_of "$1")/hotspot/variant-server/gensrc" -name '*.cpp' -printf '%f\n' 2> /dev/null || true
  } | sed 's/\.cpp$/.o/' | sort -u
}

jdk_make() {   # NAME CONF TARGET [VARIABLE=VALUE...]
  local name=$1 conf=$2 target=$3
  shift 3
  # gtest is built when asked for, not with every libjvm.
  if [[ $target != test-image-hotspot-gtest ]]; then set -- GTEST_FRAMEWORK_SRC= "$@"; fi
  local allow
  allow=$(printf '%s,' "${@%%=*}")
  PHASE_SHOW=$LINES_TO_SHOW PHASE_PROGRESS=${PROGRESS:-} phase "$name" "$LOGS/make-$target-$conf.log" \
    cleanly make -C "$TREE" CONF_NAME="$(directory_of "$conf")" ${JOBS:+JOBS=$JOBS} ALLOW="${allow%,}" "$@" "$target"
}

prepare() {   # CONF
  "$SCRIPTS/deps.sh" "$1"
  "$SCRIPTS/fetch-source.sh"
  "$SCRIPTS/overlay.sh"
  "$SCRIPTS/configure.sh" "$1"
}

# All that a build depends on: the source, what lies over it, the configuration.
inputs() {   # CONF
  cat "$STATE/source"
  printf 'configure %s\nname %s\n' "$(sha256sum < "$TREE/build/$(directory_of "$1")/.lull-configure")" "$(our_name)"
  cat "$SCRIPTS"/image.sh "$SCRIPTS"/*.java "$SCRIPTS/jhsdb" | sha256sum
  sort "$STATE/overlay"
}

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

# Which OpenJDK it is, and whether the distribution has a newer one.
say_version() {   # CONF
  local version newest=
  version=$(sed -n 's/^version=//p' "$STATE/source")+$(sed -n 's/^build=//p' "$STATE/source")
  if [[ -z ${OPENJDK_SRC:-} ]]; then newest=$(cat "$DOWNLOAD/newest" 2> /dev/null || true); fi
  printf 'OpenJDK %s of %s' "$version" "$(spec "$1" VERSION_DATE)"
  if [[ -n $newest && $newest != "$version" ]]; then
    printf '; %s is listed, and make dist takes the newest that can be had' "$newest"
  fi
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
  PROGRESS="libjvm_progress $conf" jdk_make "libjvm ($conf)" "$conf" hotspot
  copy_base "$conf"
  phase "image ($conf)" "$LOGS/image-$conf.log" make_image "$conf"
  check_image "$conf"
  mv "$STATE/jdk-$conf.new" "$STATE/jdk-$conf"
  say "$image is ready after $(minutes $((SECONDS - start))): $(say_version "$conf")"
}

build_hotspot() {   # CONF
  local conf=$1
  if [[ -x $(image_of "$conf")/bin/java ]]; then build_jdk "$conf"; return; fi
  prepare "$conf"
  PROGRESS="libjvm_progress $conf" jdk_make "libjvm ($conf)" "$conf" hotspot
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
  PROGRESS="libjvm_progress full" jdk_make "JDK (full)" full jdk-image
  phase "image (full)" "$LOGS/image-full.log" make_full_image full
  check_image full
  mv "$STATE/jdk-full.new" "$STATE/jdk-full"
  say "$image is ready after $(minutes $((SECONDS - start))): $(say_version full)"
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
