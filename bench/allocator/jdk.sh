#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# The JDK of the allocator study: the collector with the study's heap of segregated lists in it, which no other build
# has. Lays hotspot/ and its study.patch over a copy of the project's hotspot tree, in build/allocator/vm, and builds a
# release JDK there.
#
#   jdk.sh           builds build/allocator/vm/build/jdk
#   jdk.sh --lay     only lays the copy, and fails if the patch does not apply
#   jdk.sh --check   lays it, and compiles what it adds or changes without making code, by the commands of the debug
#                    build
#
# Settings: LULL_BUILD, and those of hotspot/build

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
case ${1:-} in --lay | --check) ;; *) usage_if_asked "$0" "$@" ;; esac
# shellcheck source=bench/allocator/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

OVERLAY=$ALLOCATOR/hotspot

lay() {
  rm -rf "$VM/hotspot"
  mkdir -p "$VM"
  cp -a "$ROOT/hotspot" "$VM/hotspot"
  cp -a "$OVERLAY/src" "$OVERLAY/test" "$VM/hotspot/"
  patch -d "$VM/hotspot" -p1 -N -f --no-backup-if-mismatch -r - < "$OVERLAY/study.patch" > "$VM/patch.log" 2>&1 ||
    die "$OVERLAY/study.patch does not apply to hotspot/:" "$(grep FAILED "$VM/patch.log")" "refresh it where the collector has changed"
}

# One download of OpenJDK's source is enough.
build_jdk() {
  mkdir -p "$VM/build" "$LULL_BUILD/download"
  [ -e "$VM/build/download" ] || ln -s "$LULL_BUILD/download" "$VM/build/download"
  LULL_BUILD=$VM/build "$VM/hotspot/build/build.sh" jdk release
  echo "the JDK is $VM/build/jdk"
}

# compile FILE.cpp: below gc/lull. A file that the debug build has not is compiled as the heap is.
compile() {
  local objects=$1 file=$2 object command
  object=$objects/$(basename "${file%.cpp}").o.cmdline
  [ -e "$object" ] || object=$objects/lullHeap.o.cmdline
  command=$(sed -E -e 's# /[^ ]*/?ccache # #' -e 's# -include precompiled\.hpp##; s# -fpch-preprocess##; s# -I[^ ]*/objs/precompiled##' \
    -e 's# -MMD##; s# -MF [^ ]+##; s# -o [^ ]+##; s# -c # -fsyntax-only #' \
    -e "s# [^ ]*/gc/lull/[^ ]*\.cpp# $VM/hotspot/src/hotspot/share/gc/lull/$file#" "$object")
  [[ $command == *-fsyntax-only* && $command == *"$VM"* ]] || die "the command of the debug build is not understood: $command"
  # Its headers come before those of the debug build.
  bash -c "${command/ -I/ -I$VM/hotspot/src/hotspot/share -I}"
}

check() {
  local objects=$LULL_BUILD/openjdk/build/fastdebug/hotspot/variant-server/libjvm/objs file count=0
  [ -d "$objects" ] || die "the debug build is not there: $objects" "build it first: make jdk-debug"
  while read -r file; do
    compile "$objects" "$file"
    count=$((count + 1))
  done < <({
    (cd "$OVERLAY/src/hotspot/share/gc/lull" && find . -name '*.cpp' -printf '%P\n')
    sed -n 's#^+++ b/src/hotspot/share/gc/lull/\(.*\.cpp\)$#\1#p' "$OVERLAY/study.patch"
  } | sort)
  echo "allocator study: $count files compile"
}

lay
case ${1:-} in
  --lay) ;;
  --check) check ;;
  *) build_jdk ;;
esac
