#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# jdk27.sh: puts a JDK 27 into build/jdk27, for the collectors of its name: g1-27, parallel-27, serial-27, zgc-27, shenandoah-27.
# It is Debian's package of the unstable suite, which needs a newer C library than stable releases have. So it comes with
# the C and C++ libraries of its own suite, in its directory lib, and its programs name their loader there: bin/java is a
# program as any other, but the directory cannot be moved. Nothing is installed, and no other program sees these libraries.
#
# Takes the packages of jdk27-packages, which are checked by their hashes there. A mirror drops old versions: where one is
# gone, all are taken in the versions of the signed index of today, and that is said.
#
# Settings, all optional:
#   JDK27_MIRROR=URI   of a mirror that still has these versions, as an archive of old ones does
#   JDK27_NEWEST=1     the versions of today, whatever jdk27-packages says
#   LULL_BUILD=DIR     default: build/

# shellcheck source-path=SCRIPTDIR source=../hotspot/build/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../hotspot/build/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../hotspot/build/packages.sh
. "$SCRIPTS/packages.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  sed -n '3,/^$/s/^# \{0,1\}//p' "$0"
  exit 0
fi
[[ $# == 0 ]] || die "jdk27.sh takes no argument, and was given '$*'" "its settings are environment variables: bench/jdk27.sh --help"

PINNED=$ROOT/bench/jdk27-packages
HOME27=$BUILD/jdk27
APT_DIR=$BUILD/apt-unstable

pinned() { grep -v '^#' "$PINNED"; }

# The same lines, of the index of today.
listed() {
  local name _
  stanza deb "$MAIN" sid main | write_if_changed "$APT_DIR/parts/lull.sources"
  apt_private apt-get -q update > "$APT_DIR/update.log" 2>&1 ||
    die "the index of the unstable suite cannot be had: $(grep '^[EW]:' "$APT_DIR/update.log" | head -n 1)" "what apt said is in $APT_DIR/update.log"
  while read -r name _; do
    apt_private apt-cache show --no-all-versions "$name" | awk '
      /^Package: / { name = $2 } /^Version: / { version = $2 } /^Filename: / { file = $2 } /^SHA256: / { hash = $2 }
      END { if (hash == "") exit 1; print name, version, file, hash }' ||
      die "the unstable suite has no package $name today" "with JDK27_MIRROR, say where the versions of $PINNED are"
  done < <(pinned)
}

# download LINES MIRROR: of each package its file below DOWNLOAD; fails at the first that is not to be had.
download() {
  local name version path hash file
  while read -r name version path hash; do
    file=$DOWNLOAD/${path##*/}
    if [[ -f $file ]] && sha256sum --status -c <<< "$hash  $file"; then continue; fi
    rm -f "$file"
    apt_private /usr/lib/apt/apt-helper -q download-file "${2%/}/${path//+/%2b}" "$file" "SHA256:$hash" > "$DOWNLOAD/log" 2>&1 || {
      MISSING="$name $version"
      return 1
    }
  done <<< "$1"
}

# Leaves the lines of what has been downloaded in LINES.
fetch() {
  mkdir -p "$DOWNLOAD" "$APT_DIR/parts"
  find_distribution
  write_private_configuration
  LINES=$(pinned)
  if [[ -z ${JDK27_NEWEST:-} ]]; then
    if download "$LINES" "${JDK27_MIRROR:-${MAIN%%|*}}"; then return; fi
    note "the mirror does not have $MISSING any more; all packages are taken in the versions of today"
  fi
  [[ " $ID " == *" debian "* ]] || die "this machine's package sources are not Debian's, whose packages $PINNED names" \
    "name a mirror of Debian's:  JDK27_MIRROR=URI bench/jdk27.sh"
  LINES=$(listed)
  download "$LINES" "${MAIN%%|*}" || die "the mirror does not have $MISSING, which its index lists: $(grep '^E:' "$DOWNLOAD/log" | head -n 1)"
}

# What the package keeps below /etc, in place of the links that lead there.
take_configuration() {   # HOME ROOT
  local link target
  find "$1" -type l -lname '/etc/java-27-openjdk/*' | while read -r link; do
    target=$(readlink "$link")
    if [[ -e $2$target ]]; then cp --remove-destination "$2$target" "$link"; fi
  done
}

# The libraries beside the JDK's own, where its programs look first: they have an rpath of $ORIGIN/../lib, which holds for all
# libraries of the process. Its other programs have none.
take_libraries() {   # HOME ROOT
  local library program
  local -r loader=ld-linux-x86-64.so.2
  for library in "$2"/usr/lib/x86_64-linux-gnu/lib*.so.* "$2/usr/lib/x86_64-linux-gnu/$loader"; do cp -L "$library" "$1/lib/"; done
  patchelf() { "$1/lib/$loader" --library-path "$1/lib" "$2/usr/bin/patchelf" "${@:3}"; }
  for program in "$1"/bin/* "$1/lib/jspawnhelper" "$1/lib/jexec"; do
    [[ $(head -c 4 "$program") == $'\x7fELF' ]] || continue
    patchelf "$1" "$2" --set-interpreter "$HOME27/lib/$loader" "$program"
  done
  patchelf "$1" "$2" --set-rpath "\$ORIGIN" "$1/lib/jspawnhelper" "$1/lib/jexec"
}

# Does it run, with each of its collectors?
try() {
  local collector
  for collector in G1 Parallel Serial Z Shenandoah; do
    "$HOME27/bin/java" "-XX:+Use${collector}GC" -version > "$HOME27/version" 2>&1 ||
      die "$HOME27/bin/java does not run with ${collector}GC: $(head -n 1 "$HOME27/version")" "remove $HOME27, and try with JDK27_NEWEST=1"
  done
}

main() {
  local root path _
  if [[ -z ${JDK27_NEWEST:-} && -s $HOME27/packages ]] && "$HOME27/bin/java" -version > /dev/null 2>&1; then return; fi
  say "==> JDK 27"
  fetch
  root=$(mktemp -d "$BUILD/unpack.XXXXXX")
  while read -r _ _ path _; do dpkg-deb -x "$DOWNLOAD/${path##*/}" "$root"; done <<< "$LINES"
  rm -rf "$HOME27"
  # Not what nobody here needs, half of its size.
  mv "$root/usr/lib/jvm/java-27-openjdk-amd64" "$HOME27"
  rm -rf "$HOME27"/{jmods,docs,man,lib/src.zip}
  take_configuration "$HOME27" "$root"
  take_libraries "$HOME27" "$root"
  rm -rf "$root"
  try
  printf '%s\n' "$LINES" > "$HOME27/packages"
  say "    $(head -n 1 "$HOME27/version")"
}

locked main
