#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# counts.sh [DIRECTORY]: what can be counted of how the sources and the pages are kept, of this tree or of another one of
# the same layout: files per room, includes between rooms, the longest functions, flags, assertions, words of each
# page. What it has printed is in docs/measurements/source.md.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

tree=${1:-$ROOT}
lull=$tree/hotspot/src/hotspot/share/gc/lull
[[ -d $lull ]] || die "there are no sources of the collector below $tree"

# count NAME VALUE
count() { printf '%-28s %s\n' "$1" "$2"; }

mapfile -t sources < <(find "$lull" "$tree/hotspot/src/hotspot/cpu/x86/gc/lull" -type f \( -name '*.hpp' -o -name '*.cpp' \) | sort)
count "files of the collector" "${#sources[@]}"
while read -r files room; do
  count "  in $room" "$files"
done < <(printf '%s\n' "${sources[@]}" | sed "s#^$lull/##" |
  awk -F/ '{ room = NF > 1 ? $1 : "the top"; if (/^\//) room = "the part for x86"; print room }' | sort | uniq -c)

# The lines are all but those of licences.
count "assertions" "$(awk '
  FNR == 1 { head = /^\/\*/ }
  head { if (/\*\/$/) head = 0; next }
  { lines++; code = $0; sub(/\/\/.*/, "", code); found += gsub(/(^|[^A-Za-z_])(assert|guarantee|precond|assert_[a-z_]+)\(/, "", code) }
  END { printf "%d in %d lines: %.1f per 1,000", found, lines, 1000 * found / lines }' "${sources[@]}")"

flags=$lull/lull_globals.hpp
of_kind() { awk -v kind="$1" '/^ *(product|develop)\(/ { all = $0; if (kind == "plain" ? all ~ /product/ && all !~ /EXPERIMENTAL|DIAGNOSTIC/ : all ~ kind) n++ } END { print n + 0 }' "$flags"; }
count "flags for operators" "$(of_kind plain)"
count "flags to be unlocked" "$(($(of_kind EXPERIMENTAL) + $(of_kind DIAGNOSTIC)))"
count "flags of debug builds" "$(of_kind develop)"

if [[ $tree == "$ROOT" ]]; then
  for check in rooms function-length rust-function-length; do
    printed=$("$SCRIPTS/$check.sh")
    count "${printed%%:*}" "${printed#*: }"
  done
fi

count "words of README.md" "$(wc -w < "$tree/README.md")"
mapfile -t pages < <(find "$tree/docs" -name '*.md' | sort)
count "pages" "${#pages[@]}, of $(cat "${pages[@]}" | wc -w) words"
while read -r words page; do
  count "  ${page#"$tree/"}" "$words"
done < <(wc -w "${pages[@]}" | sort -rn | awk 'NR > 1')
