#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Unpacks a test tool from the distribution's packages under build/, without installing it.
#
#   fetch-tools.sh googletest   the sources (1.14 to 1.16: from 1.17 on it needs a newer C++ than HotSpot's) into build/googletest
#   fetch-tools.sh jtreg        jtreg 8 into build/jtreg

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=packages.sh
. "$SCRIPTS/packages.sh"

googletest() {
  local dir=$BUILD/googletest tmp=$BUILD/googletest.package version
  [[ -r $dir/version ]] && return
  say "==> fetching googletest"
  update_private_list
  version=$(newest_version googletest 1.17)
  [[ -n $version ]] || { update_private_list again; version=$(newest_version googletest 1.17); }
  [[ -n $version ]] && dpkg --compare-versions "$version" ge 1.14 ||
    die "no package googletest of version 1.14 to 1.16 could be had, but ${version:-none}" "what apt said of the lists is in $APT_DIR/update.log"
  unpack_package "googletest=$version" "$tmp"
  version=$(cat "$tmp/version")
  [[ -s $tmp/usr/src/googletest/googletest/include/gtest/gtest.h ]] ||
    die "the package googletest $version holds no usr/src/googletest/googletest/include/gtest/gtest.h"
  rm -rf "$dir"
  mv "$tmp/usr/src/googletest" "$dir"
  mv "$tmp/version" "$dir/version"
  rm -rf "$tmp"
  say "    googletest $version is in $dir"
}

jtreg() {
  local dir=$BUILD/jtreg tmp=$BUILD/jtreg.package version jar
  [[ -r $dir/version ]] && return
  say "==> fetching jtreg"
  update_private_list
  unpack_package jtreg8 "$tmp"
  version=$(cat "$tmp/version")
  for jar in jtreg javatest asmtools testng junit-platform-console-standalone; do
    [[ -s $tmp/usr/share/jtreg/lib/$jar.jar ]] || die "the package jtreg8 $version holds no usr/share/jtreg/lib/$jar.jar"
  done
  rm -rf "$dir"
  mv "$tmp/usr/share/jtreg" "$dir"
  mv "$tmp/version" "$dir/version"
  rm -rf "$tmp"
  say "    jtreg $version is in $dir"
}

case ${1:-} in
  # What is there already needs no turn: tests may run beside a build.
  googletest | jtreg) [[ -r $BUILD/$1/version ]] || locked "$1" ;;
  *) die "fetch-tools.sh knows googletest and jtreg, not '${1:-}'" ;;
esac
