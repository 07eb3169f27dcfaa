#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Puts the source of OpenJDK 25 into build/openjdk, once: the newest 25.0.x that the distribution's package sources
# really hold, checked by the package system's signatures and hashes, or those of known-sources; or a copy of OPENJDK_SRC. Keeps upstream's own text
# of what we may patch in build/openjdk-pristine.
#
#   fetch-source.sh           does nothing if the tree is there
#   fetch-source.sh --list    lists the candidates, newest first
#   fetch-source.sh --newest  downloads the first that can be had, and prints its version (25.0.3+9); unpacks nothing
#   fetch-source.sh --pristine PATH...   adds upstream's text of these files to build/openjdk-pristine
#   fetch-source.sh --adopt   takes a tree that somebody else unpacked as it is; upstream's text still comes from the package

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=packages.sh
. "$SCRIPTS/packages.sh"

# What overlay.sh compares with. Other upstream files are added to it when a patch names them.
PRISTINE_PATHS=(src/hotspot src/jdk.hotspot.agent make/autoconf make/conf make/hotspot)

tree_version() {   # DIR: 25.0.3
  local v name
  [[ -r $1/make/conf/version-numbers.conf ]] || die "'$1' is no OpenJDK source tree: it has no make/conf/version-numbers.conf"
  v=$(version_number "$1" FEATURE)
  for name in INTERIM UPDATE PATCH EXTRA1 EXTRA2 EXTRA3; do v=$v.$(version_number "$1" "$name"); done
  while [[ $v == *.0 ]]; do v=${v%.0}; done
  printf '%s' "$v"
}

# The candidates, newest first, one per line: version, URI, file, hash. The version of the JDK that builds ours comes before
# all others, as its Java classes become ours; not where these are built, too (LULL_NEWEST=1).
candidates() {
  local base all
  base=$(jdk_version "$(boot_jdk)")
  if [[ -n ${LULL_NEWEST:-} ]]; then base=none; fi
  all=$({ listed_candidates; known_candidates; } | awk '!seen[$3, $4]++' | sort -rV)
  { grep -F " openjdk-25_$base+" <<< "$all" || true; grep -vF " openjdk-25_$base+" <<< "$all" || true; } | sed '/^$/d'
}

listed_candidates() {
  local version
  apt_private apt-cache showsrc --only-source openjdk-25 2> /dev/null | awk '$1 == "Version:" { print $2 }' | sort -u |
    grep '^25\.0\.' | sort -rV | while read -r version; do
      apt_private apt-get -q source --only-source --print-uris "openjdk-25=$version" 2> /dev/null |
        sed -n "s/^'\([^']*\)' \([^ ]*\.orig\.tar\.[a-z0-9]*\) [0-9]* \(SHA[0-9]*:[0-9a-f]*\)\$/\1 \2 \3/p" |
        sed "s/^/$version /"
    done
}

# Those that were listed once, newest first, on the mirror of the first source of the private list.
known_candidates() {
  local mirror
  mirror=$(sed -n 's/^URIs: //p' "$APT_DIR/parts/lull.sources" | head -n 1)
  grep -v '^#' "$SCRIPTS/known-sources" | sort -rV | awk -v mirror="${mirror%/}" '
    { file = path = $2; sub(/.*\//, "", file); gsub(/\+/, "%2b", path); print $1, mirror "/" path, file, $3 }'
}

# Leaves the name of the tarball in TARBALL and upstream's version (25.0.3+9) in UPSTREAM.
fetch_tarball() {
  local list version uri file hash refused=()
  TARBALL=
  mkdir -p "$DOWNLOAD"
  update_private_list
  [[ -n $(listed_candidates) ]] || update_private_list again
  list=$(candidates)
  [[ -n $list ]] || die "the package sources list no openjdk-25 of version 25.0.x; what apt said is in $APT_DIR/update.log" \
    "(an old keyring package is a usual cause) or say where the source is:  make ... OPENJDK_SRC=/path"
  # For who wonders whether it is the newest.
  sort -rV <<< "$list" | sed -n '1s/.* openjdk-25_\(.*\)\.orig\.tar.*/\1/p' > "$DOWNLOAD/newest"
  while read -r version uri file hash; do
    UPSTREAM=${file#openjdk-25_}; UPSTREAM=${UPSTREAM%.orig.tar.*}
    if [[ -f $DOWNLOAD/$file ]] && printf '%s  %s\n' "${hash#*:}" "$DOWNLOAD/$file" | "${hash%%:*}sum" -c > /dev/null 2>&1 ||
       apt_private /usr/lib/apt/apt-helper -q download-file "$uri" "$DOWNLOAD/$file" "$hash" > "$DOWNLOAD/log" 2>&1; then
      TARBALL=$DOWNLOAD/$file
      break
    fi
    rm -f "$DOWNLOAD/$file"
    refused+=("$UPSTREAM")
  done <<< "$list"
  ((${#refused[@]} == 0)) || say "    listed but not to be had: ${refused[*]}"
  [[ -n $TARBALL ]] || die "none of the listed sources could be downloaded; the last answer:" "$(grep '^E:' "$DOWNLOAD/log" | head -n 2)" \
    "say where an OpenJDK 25 source is:  make ... OPENJDK_SRC=/path"
  say "    OpenJDK $UPSTREAM, ${hash%%:*} as listed"
}

# Upstream's text of the paths into PRISTINE.
pristine_from_tarball() {
  local top
  top=$(tar tf "$TARBALL" 2> /dev/null | head -n 1 || true)
  top=${top%%/*}
  tar xf "$TARBALL" -C "$PRISTINE" --strip-components=1 "${@/#/$top/}"
}
pristine_from_directory() { local dir=$1; shift; (cd "$dir" && tar cf - "$@") | tar xf - -C "$PRISTINE"; }

write_stamp() {   # VERSION BUILD-NUMBER FROM
  mkdir -p "$STATE"
  printf 'version=%s\nbuild=%s\nfrom=%s\n' "$1" "$2" "$3" > "$STATE/source.new"
  mv "$STATE/source.new" "$STATE/source"
}

fetch_package() {
  fetch_tarball
  local number=${UPSTREAM#*+}
  rm -rf "$PRISTINE"
  if [[ ${1:-} == adopt ]]; then
    [[ $(tree_version "$TREE") == "${UPSTREAM%%+*}" ]] ||
      die "$TREE is OpenJDK $(tree_version "$TREE"), the source package is ${UPSTREAM%%+*}" "remove the tree, and it is fetched anew"
    mkdir -p "$PRISTINE"
    pristine_from_tarball "${PRISTINE_PATHS[@]}"
  else
    rm -rf "$TREE.new"
    mkdir -p "$TREE.new" "$PRISTINE"
    tar xf "$TARBALL" -C "$TREE.new" --strip-components=1 --no-same-owner
    pristine_from_directory "$TREE.new" "${PRISTINE_PATHS[@]}"
    mv -T "$TREE.new" "$TREE"
  fi
  write_stamp "$(tree_version "$TREE")" "$number" "$TARBALL"
}

# What tells one state of a user's tree from another: the commit if it is a checkout, else its version.
source_identity() {
  local at
  at=$(git -C "$1" rev-parse HEAD 2> /dev/null) || at=$(tree_version "$1")
  printf '%s@%s' "$(cd "$1" && pwd -P)" "$at"
}

fetch_directory() {
  local tag number=
  rm -rf "$TREE.new" "$PRISTINE"
  mkdir -p "$TREE.new" "$PRISTINE"
  (cd "$OPENJDK_SRC" && tar cf - --exclude=./.git --exclude=./build .) | tar xf - -C "$TREE.new" --no-same-owner
  pristine_from_directory "$TREE.new" "${PRISTINE_PATHS[@]}"
  # The build number is in no file of the tree; a release's name or tag has it.
  tag=$(git -C "$OPENJDK_SRC" describe --tags --abbrev=0 --match 'jdk-25*' 2> /dev/null || basename "$(cd "$OPENJDK_SRC" && pwd -P)")
  [[ $tag =~ \+([0-9]+)$ ]] && number=${BASH_REMATCH[1]}
  mv -T "$TREE.new" "$TREE"
  write_stamp "$(tree_version "$TREE")" "$number" "$(source_identity "$OPENJDK_SRC")"
}

more_pristine() {
  local from
  from=$(sed -n 's/^from=//p' "$STATE/source")
  if [[ $from != *.tar.* ]]; then
    pristine_from_directory "${from%@*}" "$@"
  else
    if [[ -f $from ]]; then TARBALL=$from; else fetch_tarball; fi
    [[ ${TARBALL##*/} == "${from##*/}" ]] ||
      die "upstream's text of $* is needed, and ${from##*/} is neither in $DOWNLOAD nor to be had any more" \
        "remove $TREE, and the tree is made anew from ${TARBALL##*/}"
    pristine_from_tarball "$@"
  fi
}

main() {
  case ${1:-} in
    --list) update_private_list; candidates; return ;;
    --newest) fetch_tarball; say "$UPSTREAM"; return ;;
    --adopt)
      [[ -d $TREE ]] || die "there is no $TREE to adopt"
      [[ -e $STATE/source ]] && die "$TREE is already ours, see $STATE/source"
      say "==> taking over $TREE as it is"; fetch_package adopt; return ;;
    --pristine) shift; more_pristine "$@"; return ;;
    '') ;;
    *) die "fetch-source.sh knows --list, --newest and --adopt, not '$1'" ;;
  esac

  local from=
  [[ -e $STATE/source ]] && from=$(sed -n 's/^from=//p' "$STATE/source")
  if [[ -n ${OPENJDK_SRC:-} ]]; then
    # Before anything is removed for its sake.
    local version
    version=$(tree_version "$OPENJDK_SRC")
    [[ $version == 25 || $version == 25.* ]] || die "OPENJDK_SRC=$OPENJDK_SRC is OpenJDK $version; Lull needs 25"
    [[ $from == "$(source_identity "$OPENJDK_SRC")" ]] && return
    if [[ -d $TREE ]]; then
      [[ -n $from ]] || die "$TREE was not made by this build, and OPENJDK_SRC asks for another source" "move it away first"
      say "==> the source has changed from $from; the tree is made anew"
      rm -rf "$TREE"
    fi
    say "==> copying OpenJDK from $OPENJDK_SRC"
    fetch_directory
  elif [[ -n $from ]]; then
    return
  elif [[ -d $TREE ]]; then
    die "$TREE exists but was not made by this build" "to build from it as it is:  hotspot/build/fetch-source.sh --adopt" \
      "to fetch the source anew:  rm -r $TREE"
  else
    say "==> fetching the OpenJDK 25 source package"
    fetch_package
  fi
  say "    OpenJDK $(sed -n 's/^version=//p' "$STATE/source") is in $TREE"
}

locked main "$@"
