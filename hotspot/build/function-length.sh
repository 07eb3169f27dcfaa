#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# function-length.sh: no function of our parts of the VM, gc/lull and gc/budget, has more than 70 lines, from its head to
# the brace that closes it. Found by how we write: of a function only its head and that brace stand at its margin.
# Ends with how many functions there are, and how long the longest is.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

SOURCES=$ROOT/hotspot/src/hotspot
MOST=70

mapfile -t files < <(find "$SOURCES" \( -path '*/gc/lull/*' -o -path '*/gc/budget/*' \) -type f \( -name '*.hpp' -o -name '*.cpp' \) | sort)
((${#files[@]})) || die "there are no sources below ${SOURCES#"$ROOT/"}"

awk -v most="$MOST" -v root="$ROOT/" -v least=100 -v what="function length" -f "$SCRIPTS/function-length.awk" -f <(cat <<'END'
  FNR == 1 { head = 0; member = 0; in_class = 0 }
  /^#/ || /\\$/ || /^ *\/\// || /^ *(public|private|protected):/ { next }
  # What stands at the margin begins something, or ends it.
  /^[^ }]/ {
    head = FNR
    in_class = /^(class|struct|union) / || (in_class && /^\{/)
    counts = !/^(class|struct|union|enum|namespace|extern|typedef) / && !/= \{$/
    member = 0
  }
  in_class && /^  [^ }]/ { member = FNR; counts = !/^  (class|struct|union|enum|typedef) / && !/= \{$/ }
  /^\}/ && head && !in_class && counts { end_function(head) }
  in_class && /^  \}/ && member && counts { end_function(member); member = 0 }
  /^\}/ { head = 0; in_class = 0 }
END
) "${files[@]}" || exit 1
