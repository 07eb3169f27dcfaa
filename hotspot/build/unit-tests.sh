#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Builds and runs the tests of what needs no VM, data structures and policies: test/hotspot/gtest/gc/*/unit/*.cpp, against the
# source tree's headers and googletest, with HotSpot's assertions on. Seconds, no JDK build. (The same files are part of
# the gtest launcher of the debug build too.) Before that, what is checked of the sources as text: rooms.sh,
# function-length.sh, rust-function-length.sh, and that the allocator study's patch applies.
#
# A test that needs a source file of ours linked says so in a line of its own:   // Links: gc/lull/heap/lullGeometry.cpp
# Arguments go to googletest, for instance --gtest_filter=LullRunTable*

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# The allocator study's space needs no VM, either.
STUDY=$ROOT/bench/allocator
if [[ -n ${LULL_UNIT_TESTS:-} ]]; then dirs=("$LULL_UNIT_TESTS"); else dirs=({"$ROOT","$STUDY"}/hotspot/test/hotspot/gtest/gc/*/unit); fi
OUT=$BUILD/unit

mapfile -t tests < <(find "${dirs[@]}" -maxdepth 1 -name '*.cpp' 2> /dev/null | sort)
((${#tests[@]})) || die "there are no unit tests in ${dirs[*]}"

"$SCRIPTS/rooms.sh"
"$SCRIPTS/function-length.sh"
"$SCRIPTS/rust-function-length.sh"
"$STUDY/jdk.sh" --lay

"$SCRIPTS/fetch-source.sh"
"$SCRIPTS/overlay.sh"
"$SCRIPTS/fetch-tools.sh" googletest
mkdir -p "$OUT/include"
# The one generated header that HotSpot's basic types include.
sed -e "s/@@VERSION_CLASSFILE_MAJOR@@/$(version_number "$TREE" CLASSFILE_MAJOR)/" -e "s/@@VERSION_CLASSFILE_MINOR@@/$(version_number "$TREE" CLASSFILE_MINOR)/" \
  "$TREE/src/java.base/share/native/include/classfile_constants.h.template" | write_if_changed "$OUT/include/classfile_constants.h"

case $(uname -m) in
  x86_64) cpu=x86; flags=(-DAMD64 -DTARGET_ARCH_x86) ;;
  aarch64) cpu=aarch64; flags=(-DAARCH64 -DTARGET_ARCH_aarch64) ;;
  *) die "no unit test flags for the processor $(uname -m)" ;;
esac
GTEST=$BUILD/googletest
# As OpenJDK's build compiles HotSpot (make/hotspot/lib/JvmFlags.gmk), without a precompiled header.
flags+=(-std=c++14 -O1 -g -fno-rtti -fno-exceptions -fno-strict-aliasing -pipe -ffunction-sections -fdata-sections
  -DASSERT -DLINUX -D_LP64=1 -DVM_LITTLE_ENDIAN -DTARGET_COMPILER_gcc -DCOMPILER1 -DCOMPILER2
  -DINCLUDE_JVMCI=0 -DINCLUDE_ZGC=0 -DINCLUDE_SHENANDOAHGC=0 -D_GNU_SOURCE -D_REENTRANT
  -D__STDC_FORMAT_MACROS -D__STDC_LIMIT_MACROS -D__STDC_CONSTANT_MACROS
  "-DINCLUDE_SUFFIX_OS=_linux" "-DINCLUDE_SUFFIX_CPU=_$cpu" "-DINCLUDE_SUFFIX_COMPILER=_gcc"
  -Wall -Wno-unused-function -Wno-unknown-pragmas)
for d in share os/linux os/posix "cpu/$cpu" "os_cpu/linux_$cpu" share/include os/posix/include; do
  flags+=("-I$TREE/src/hotspot/$d")
done
flags+=("-I$STUDY/hotspot/src/hotspot/share" "-I$OUT/include" "-I$TREE/src/java.base/share/native/include" "-I$TREE/src/java.base/unix/native/include"
  "-I$TREE/test/hotspot/gtest" "-isystem" "$GTEST/googletest/include" "-isystem" "$GTEST/googlemock/include")

links=()
while IFS= read -r f; do
  [[ -f $TREE/src/hotspot/share/$f ]] || die "a unit test asks to link $f, which is not in src/hotspot/share" \
    "$(grep -lF "$f" "${tests[@]}")"
  links+=("$TREE/src/hotspot/share/$f")
done < <(sed -n 's|^// Links: *||p' "${tests[@]}" | tr -s ', ' '\n' | sort -u | sed '/^$/d')

compile() {   # SOURCE OBJECT EXTRA...
  local source=$1 object=$2 cxx=(g++)
  shift 2
  if have ccache; then cxx=(ccache g++); fi
  "${cxx[@]}" "${flags[@]}" "$@" -c "$source" -o "$object"
}

build() {
  local s o objects=() jobs=() j failed=0
  if [[ ! -f $OUT/gtest_main.o || $GTEST/version -nt $OUT/gtest_main.o ]]; then
    compile "$GTEST/googletest/src/gtest-all.cc" "$OUT/gtest.o" "-I$GTEST/googletest" -w || return 1
    compile "$GTEST/googletest/src/gtest_main.cc" "$OUT/gtest_main.o" "-I$GTEST/googletest" -w || return 1
  fi
  rm -rf "$OUT/objects"
  mkdir "$OUT/objects"
  for s in "$SCRIPTS/unit-shim.cpp" "${links[@]}" "${tests[@]}"; do
    o=$OUT/objects/$(basename "${s%.cpp}").o
    objects+=("$o")
    compile "$s" "$o" &
    jobs+=($!)
    if ((${#jobs[@]} >= $(nproc))); then wait "${jobs[0]}" || failed=1; jobs=("${jobs[@]:1}"); fi
  done
  for j in "${jobs[@]}"; do wait "$j" || failed=1; done
  if ((failed)); then return 1; fi
  g++ -Wl,--gc-sections -o "$OUT/unit-tests" "${objects[@]}" "$OUT/gtest.o" "$OUT/gtest_main.o" -lpthread
}

phase "unit tests: build" "$LOGS/unit-build.log" build
say "==> unit tests: run"
mkdir -p "$BUILD/test-results"
exec "$OUT/unit-tests" --gtest_brief=1 --gtest_output="xml:$BUILD/test-results/unit.xml" "$@"
