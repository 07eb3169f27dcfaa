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

awk -v most="$MOST" -v root="$ROOT/" -v least=1000 -v what="Rust function length" -f "$SCRIPTS/function-length.awk" -f <(cat <<'END'
  FNR == 1 { head = 0 }
  !head && /^ *(pub(\([a-z: ]*\))? )?(const )?(async )?(unsafe )?(extern "C" )?fn / {
    # All in one line, or only declared.
    if (/[;}]$/) { functions++; next }
    head = FNR
    margin = match($0, /[^ ]/)
    next
  }
  head && match($0, /[^ ]/) == margin {
    if (/^ *\}/) { end_function(head); head = 0 }
    else if (/;$/) { functions++; head = 0 }
  }
END
) "${files[@]}" || exit 1
