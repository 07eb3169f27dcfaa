# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# shellcheck shell=bash
#
# A private package-source list: the releases of this distribution that carry openjdk-25, on the mirrors that the system is
# configured with, in a directory of ours. The system's own lists and installed packages are not touched; apt checks
# signatures and hashes as it does for them. Sourced after lib.sh.

APT_DIR=$BUILD/apt

apt_private()  { local tool=$1; shift; "$tool" -c "$APT_DIR/apt.conf" "$@"; }

# The system's package sources, one per line: URI, suite, components, keyring; '|' between. Reads both of apt's formats.
system_sources() {
  local files=() f etc=${LULL_APT_ETC:-/etc/apt}
  for f in "$etc"/sources.list "$etc"/sources.list.d/*.list "$etc"/sources.list.d/*.sources; do
    [[ -r $f ]] && files+=("$f")
  done
  ((${#files[@]})) || return 0
  awk '
    function emit(   u, s, nu, ns, us, ss) {
      if (types ~ /(^| )deb( |$)/ && tolower(enabled) != "no") {
        nu = split(uris, us, " "); ns = split(suites, ss, " ")
        for (u = 1; u <= nu; u++) for (s = 1; s <= ns; s++) print us[u] "|" ss[s] "|" components "|" key
      }
      types = uris = suites = components = key = enabled = field = ""
    }
    FNR == 1 { emit() }
    /^[ \t]*#/ { next }
    FILENAME ~ /\.sources$/ {
      if ($0 ~ /^[ \t]*$/) { emit(); next }
      if ($0 ~ /^[A-Za-z-]+:/) { field = tolower($0); sub(/:.*/, "", field); value = $0; sub(/^[^:]*:[ \t]*/, "", value) }
      else { value = $0; sub(/^[ \t]+/, " ", value) }
      if (field == "types") types = types value
      if (field == "uris") uris = uris value
      if (field == "suites") suites = suites value
      if (field == "components") components = components value
      if (field == "enabled") enabled = enabled value
      if (field == "signed-by") key = key value
      next
    }
    $1 == "deb" {
      line = $0; sub(/^deb[ \t]+/, "", line)
      if (match(line, /^\[[^]]*\][ \t]*/)) {
        opts = substr(line, 1, RLENGTH); line = substr(line, RLENGTH + 1)
        if (match(opts, /signed-by=[^] \t]*/)) key = substr(opts, RSTART + 10, RLENGTH - 10)
      }
      n = split(line, w, /[ \t]+/); types = "deb"; uris = w[1]; suites = w[2]
      for (i = 3; i <= n; i++) components = components (i > 3 ? " " : "") w[i]
      emit()
    }
    END { emit() }' "${files[@]}"
}

# source_for SUITE PREFERRED: "URI|keyring" of the configured source of a suite. Other vendors' archives name their suites
# after the distribution's too; the distribution's own is the one that has all of PREFERRED (a list of suites) as well.
source_for() {
  local suite=$1 preferred=$2
  system_sources | awk -F'|' -v suite="$suite" -v preferred="$preferred" '
    (" " $3 " ") !~ / main / { next }
    { has[$1, $2] = 1; key[$1] = $4; if ($2 == suite) uris[++n] = $1 }
    END {
      np = split(preferred, p, " ")
      for (i = 1; i <= n; i++) {
        score = 1
        for (j = 1; j <= np; j++) score += (uris[i], p[j]) in has
        if (score > best) { best = score; uri = uris[i] }
      }
      if (best) print uri "|" key[uri]
    }'
}

stanza() {   # TYPES SOURCE SUITE COMPONENTS
  local uri=${2%%|*} key=${2#*|}
  printf 'Types: %s\nURIs: %s\nSuites: %s\nComponents: %s\n' "$1" "$uri" "$3" "$4"
  # A key written out in the system's file cannot be passed on in one line; a keyring can.
  if [[ $key == /* ]]; then printf 'Signed-By: %s\n' "$key"; fi
  printf '\n'
}

# Leaves the distribution's own source in MAIN, as "URI|keyring", and what the machine runs in ID and CODENAME.
find_distribution() {
  [[ -x /usr/lib/apt/apt-helper && -r /etc/os-release ]] ||
    die "this machine has no apt, so the build cannot fetch a source package" \
      "get the source of OpenJDK 25 (a release or the 25u repository) and say where:  make ... OPENJDK_SRC=/path"
  local suite
  ID=$(. /etc/os-release; printf '%s %s' "$ID" "${ID_LIKE:-}")
  CODENAME=$(. /etc/os-release; printf '%s' "${UBUNTU_CODENAME:-${VERSION_CODENAME:-}}")
  for suite in "$CODENAME" stable oldstable testing sid unstable; do
    MAIN=$(source_for "$suite" "$suite-updates $suite-backports")
    [[ -n $MAIN ]] && break
  done
  [[ -n $MAIN ]] || die "no package source of $CODENAME (component main) found in /etc/apt/sources.list or /etc/apt/sources.list.d" \
    "add the distribution's own, or say where an OpenJDK 25 source is:  make ... OPENJDK_SRC=/path"
}

write_private_list() {
  local security suite
  find_distribution
  security=$(source_for "$CODENAME-security" "")
  mkdir -p "$APT_DIR/parts"
  case " $ID " in
    *" ubuntu "*)
      # Suites that do not exist (yet, or any more) do no harm: what apt does not find, it leaves out.
      for suite in $CODENAME $CODENAME-updates devel resolute questing; do stanza "deb deb-src" "$MAIN" "$suite" "main universe"; done
      stanza "deb deb-src" "${security:-$MAIN}" "$CODENAME-security" "main universe" ;;
    *" debian "*)
      stanza "deb deb-src" "$MAIN" trixie main
      case $CODENAME in bullseye | bookworm | trixie | sid) ;; *) stanza "deb deb-src" "$MAIN" "$CODENAME" main ;; esac
      stanza deb-src "$MAIN" sid main
      if [[ -n $security ]]; then stanza deb-src "$security" trixie-security main; fi ;;
    *) die "the build knows the package sources of Debian and Ubuntu, not of '${ID% }'" \
         "say where an OpenJDK 25 source is:  make ... OPENJDK_SRC=/path" ;;
  esac | write_if_changed "$APT_DIR/parts/lull.sources"
  write_private_configuration
}

# Of an apt that has these lists alone.
write_private_configuration() {
  mkdir -p "$APT_DIR/lists/partial" "$APT_DIR/cache/archives/partial"
  write_if_changed "$APT_DIR/apt.conf" << CONF
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$APT_DIR/parts";
Dir::State::Lists "$APT_DIR/lists";
Dir::Cache "$APT_DIR/cache";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "srcpkgcache.bin";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::CNF::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
CONF
  # As root apt would change to its own user, who may not be able to enter this directory.
  if [[ $(id -u) == 0 ]]; then printf 'APT::Sandbox::User "root";\n' >> "$APT_DIR/apt.conf"; fi
}

# Fetches the index of the private list, unless that was done within a day. Some suite may be missing; what counts is
# whether the package we look for is found.
update_private_list() {
  write_private_list
  local stamp=$APT_DIR/updated
  if [[ ${1:-} != again && -n $(find "$stamp" -newer "$APT_DIR/parts/lull.sources" -mmin -1440 2> /dev/null) ]]; then return; fi
  if apt_private apt-get -q update > "$APT_DIR/update.log" 2>&1 || [[ -n $(find "$APT_DIR/lists" -name '*_Sources*' -newer "$APT_DIR/update.log") ]]; then
    touch "$stamp"
  fi
}

# The newest version of a binary package of the private list that is older than another one, or nothing.
newest_version() {   # NAME BELOW
  local version best=
  while read -r version; do
    if dpkg --compare-versions "$version" lt "$2" && { [[ -z $best ]] || dpkg --compare-versions "$version" gt "$best"; }; then best=$version; fi
  done < <(apt_private apt-cache madison "$1" | awk -F' *\\| *' '$3 ~ /Packages/ { print $2 }')
  printf '%s' "$best"
}

# The newest binary package NAME of the private list, or that version (NAME=VERSION), downloaded, checked and unpacked to DIR. Not installed.
unpack_package() {
  local name=$1 dir=$2 tmp
  tmp=$(mktemp -d "$BUILD/unpack.XXXXXX")
  (cd "$tmp" && apt_private apt-get -q download "$name" > log 2>&1) ||
    { update_private_list again; (cd "$tmp" && apt_private apt-get -q download "$name" > log 2>&1); } ||
    die "the package '$name' could not be had" "$(tail -n 2 "$tmp/log")" "what apt said of the lists is in $APT_DIR/update.log"
  name=${name%%=*}
  mkdir "$tmp/root"
  dpkg-deb -x "$tmp/$name"_*.deb "$tmp/root"
  dpkg-deb -f "$tmp/$name"_*.deb Version > "$tmp/root/version"
  rm -rf "$dir"
  mkdir -p "$(dirname "$dir")"
  mv "$tmp/root" "$dir"
  rm -rf "$tmp"
}
