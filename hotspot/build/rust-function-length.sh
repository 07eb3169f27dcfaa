#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# rust-function-length.sh: no function of the Rust parts, native/, tests too, has more than 70 lines, from its head to the brace
# that closes it. Found by how rustfmt writes: of a function only its head and that brace stand at its margin. Closures, and functions
# within a function, are parts of it. Ends with how many functions there are, and how long the longest is.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

MOST=70

mapfile -t files < <(find "$ROOT/native" -name target -prune -o -type f -name '*.rs' -print | sort)
((${#files[@]})) || die "there are no sources in Rust below native/"

awk -v most="$MOST" -v root="$ROOT/" '
  FNR == 1 { head = 0 }
  !head && /^ *(pub(\([a-z: ]*\))? )?(const )?(async )?(unsafe )?(extern "C" )?fn / {
    # All in one line, or only declared.
    if (/[;}]$/) { functions++; next }
    head = FNR
    margin = match($0, /[^ ]/)
    next
  }
  head && match($0, /[^ ]/) == margin {
    if (/^ *\}/) { end(); head = 0 }
    else if (/;$/) { functions++; head = 0 }
  }

  function end(   lines, file) {
    lines = FNR - head + 1
    functions++
    if (lines > longest) longest = lines
    if (lines <= most) return
    file = FILENAME
    sub(root, "", file)
    print "error: " file ":" head ": a function of " lines " lines, which may have " most ": give its parts names"
    failed++
  }
  END {
    if (functions < 1000) { print "error: only " functions + 0 " functions were found: the sources are not understood"; failed++ }
    if (failed) { print "Rust function length: " failed " wrong"; exit 1 }
    print "Rust function length: " functions " functions, the longest has " longest " lines"
  }' "${files[@]}" || exit 1
