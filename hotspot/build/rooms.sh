#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# rooms.sh: may each file of the collector include what it includes? The rooms, what each may include, and the
# exceptions are the two tables of hotspot/src/hotspot/share/gc/lull/README.md. Ends with how many includes lead from
# one room to another.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

SOURCES=$ROOT/hotspot/src/hotspot
LULL=$SOURCES/share/gc/lull
TABLE=$LULL/README.md
MOST_EXCEPTIONS=5

[[ -f $TABLE ]] || die "there is no table of rooms at ${TABLE#"$ROOT/"}" "write one: room, what it is for, what it may include"

# Lines "room A", "is DIRECTORY A", "may A B", "except FILE HEADER" of the tables.
rules() {
  awk -F'|' '
    function bare(s) { gsub(/[` ]/, "", s); return s }
    NF == 5 && /^\| *room *\|/ { table = "rooms"; next }
    NF == 5 && /^\| *file *\|/ { table = "exceptions"; next }
    !/^\|/ { table = ""; next }
    /^\|-/ { next }
    table == "rooms" {
      n = split($2, names, " ")
      room = bare(names[1])
      print "room", room
      for (i = 1; i <= n; i++) print "is", bare(names[i]), room
      n = split($4, names, " ")
      for (i = 1; i <= n; i++) print "may", room, bare(names[i])
    }
    table == "exceptions" { print "except", bare($2), bare($3) }' "$TABLE"
}

# Lines "FILE DIRECTORY HEADER" of all includes, the header below gc/lull; and one "FILE DIRECTORY -" for each file.
includes() {
  local f file directory
  while IFS= read -r f; do
    case $f in
      "$LULL"/*/*) file=${f#"$LULL/"} directory=${f#"$LULL/"}; directory=${directory%%/*} ;;
      "$LULL"/*) file=${f#"$LULL/"} directory=. ;;
      *) file=cpu/${f##*/cpu/} directory=mutator ;;
    esac
    printf '%s %s -\n' "$file" "$directory"
    sed -nE "s|^ *# *include \"gc/lull/([^\"]*)\".*|$file $directory \1|p" "$f"
  done < <(find "$LULL" "$SOURCES"/cpu/*/gc/lull -type f \( -name '*.hpp' -o -name '*.cpp' -o -name '*.ad' \) 2> /dev/null | sort)
}

{ rules; echo --; includes; } | awk -v most="$MOST_EXCEPTIONS" '
  function wrong(what) { print "error: " what; failed++ }
  $1 == "--" { reading = 1; next }
  !reading && $1 == "room" { number[$2] = ++rooms; next }
  !reading && $1 == "is"   { room_of[$2] = $3; next }
  !reading && $1 == "may" {
    may[$2, $3] = 1
    if (!($3 in number)) wrong("the table lets the room " $2 " include " $3 ", which is no room above its row")
    next
  }
  !reading { except[$2, $3] = 1; exceptions++; next }
  !($2 in room_of) {
    if ($3 == "-") wrong($1 " is in no room: give its directory, " $2 ", a row of the table, or move the file")
    next
  }
  {
    from = room_of[$2]
    if ($3 == "-") { files++; files_in[from]++; next }
    if ($3 == "lull_globals.hpp" || $3 ~ /_(x86|aarch64)\.hpp$/) next
    to = $3 ~ /\// ? substr($3, 1, index($3, "/") - 1) : "."
    to = to in room_of ? room_of[to] : to
    if (to == from) next
    between++
    if ((from, to) in may) next
    if (($1, $3) in except) { used[$1, $3] = 1; next }
    wrong($1 " includes " $3 ": the room " from " may not include " to "; move what it needs, or pass it in")
  }
  END {
    for (r in number) if (!files_in[r]) wrong("the room " r " has no file: take its row out of the table")
    for (e in except) if (!(e in used)) {
      split(e, part, SUBSEP)
      wrong("the exception that lets " part[1] " include " part[2] " is not needed any more: take it out of the table")
    }
    if (exceptions > most) wrong(exceptions " exceptions, more than " most ": cut one of them")
    if (failed) { print "rooms: " failed " wrong"; exit 1 }
    printf "rooms: %d files in %d rooms, %d includes between rooms, %d exceptions\n", files, rooms, between, exceptions
  }' || exit 1
