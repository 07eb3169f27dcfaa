#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# check.sh: does what the pages say exist? Each link leads to a file and a heading, each address of the web is well-formed, and each
# command that a page shows is there: targets of make, flags of the VM, scripts, options of our programs, commands of jcmd,
# events, settings, names. Lines have 100 columns. Nothing is fetched. Needs a JDK of 24 or 25, as the build does.
#
# The check itself is in check/; test.sh sees that each kind of it can fail.

# shellcheck source-path=SCRIPTDIR source=../hotspot/build/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../hotspot/build/lib.sh"

# pages ARGUMENT...: what check/Main.java says that it does.
pages() {
  local classes=$BUILD/book/classes java
  java=$(boot_jdk)
  if [[ ! -f $classes/Main.class || -n $(find "$ROOT/book/check" -newer "$classes/Main.class" -print -quit) ]]; then
    rm -rf "$classes"
    mkdir -p "$classes" "$LOGS"
    cleanly "$java/bin/javac" -Xlint:all -Werror -d "$classes" "$ROOT"/book/check/*.java
  fi
  cleanly "$java/bin/java" -Xshare:auto -cp "$classes" Main "$@"
}

check_pages() {
  local openjdk=()
  if [[ -f $TREE/src/hotspot/share/jfr/metadata/metadata.xml ]]; then openjdk=("$TREE"); fi
  say "==> the pages"
  pages check "$ROOT" "${openjdk[@]}" || die "the pages show what is not there" "each line above names page, line and reason"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then check_pages; fi
