#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Compiles our sources, and upstream's that we patch, as the release build does, without making code: what compiles with
# assertions need not compile without. Minutes instead of a second build. Takes the commands of the debug build, which must
# be there.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

OBJECTS=$TREE/build/fastdebug/hotspot/variant-server/libjvm/objs
[[ -d $OBJECTS ]] || die "the debug build is not there: $OBJECTS" "build it first:  make jdk-debug"

# The files, without their directories: objects of all directories are in one.
sources() {
  (cd "$ROOT/hotspot/src" && find hotspot -name '*.cpp' -printf '%f\n')
  sed -n 's#^+++ b/src/hotspot/.*/\([^/]*\.cpp\)$#\1#p' "$ROOT"/hotspot/patches/*.patch
}

# Compiles one file; prints what is wrong with it.
check() {   # NAME.cpp
  local command
  command=$(cat "$OBJECTS/${1%.cpp}.o.cmdline")
  # Neither assertions nor the precompiled header, which was made with them, nor any output.
  # shellcheck disable=SC2001 # more than one substitution, and alternatives
  command=$(sed -E -e 's# /[^ ]*/?ccache # #' -e 's# -DASSERT( |$)# -DPRODUCT -DNDEBUG #' -e 's# -DCHECK_UNHANDLED_OOPS##' -e 's# -include precompiled\.hpp##; s# -fpch-preprocess##; s# -I[^ ]*/objs/precompiled##' \
    -e 's# -MMD##; s# -MF [^ ]+##; s# -o [^ ]+##; s# -c # -fsyntax-only #' <<< "$command")
  [[ $command == *-DPRODUCT* && $command == *-fsyntax-only* ]] || { printf '%s: the command of the debug build is not understood: %s\n' "$1" "$command"; return 1; }
  cleanly bash -c "$command" 2>&1
}

if [[ ${1:-} == --one ]]; then check "$2"; exit; fi

mapfile -t files < <(sources | sort -u)
# A file of another processor has no object here.
here=()
for f in "${files[@]}"; do if [[ -f $OBJECTS/${f%.cpp}.o.cmdline ]]; then here+=("$f"); fi; done
((${#here[@]} > 40)) || die "only ${#here[@]} of ${#files[@]} files have been compiled by the debug build"
status=0
printf '%s\0' "${here[@]}" | xargs -0 -P "${JOBS:-$(nproc)}" -n 1 "$0" --one || status=1
if ((status)); then say "product check: failed"; exit 1; fi
say "product check: ${#here[@]} files compile as in the release build"
