#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# The JDK that was built, as somebody else's tools take it: jlink and jpackage make images of it that have Lull, and it
# says that it is ours and nobody else's. A line for each check that passes; the first failure ends it.
#
#   LULL_TEST_JDK   the JDK   (default: build/jdk-debug)

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../build/lib.sh"

compile_programs image jdk-debug "$ROOT/hotspot/test/image/WhoCollects.java"
cd "$work"

passed() { say "image check: $1"; }

# On the JDK's default collector.
tool() { cleanly "$jdk/bin/$1" "${@:2}"; }

check_collectors() {   # WHAT COMMAND...
  local said
  said=$("${@:2}" 2>&1) || die "$1 does not run: ${*:2}" "$said"
  [[ $said == *"[Lull "* ]] || die "$1 does not collect with Lull, but says: $said"
}

check_jlink() {
  tool jlink --add-modules java.base,java.management,jdk.jfr,jdk.hotspot.agent --output linked ||
    die "jlink of $jdk fails"
  check_collectors "what jlink has made" linked/bin/java -XX:+UseLullGC -cp . WhoCollects
  cmp linked/lib/server/libjvm.so "$jdk/lib/server/libjvm.so"
  cmp linked/lib/jfr/default.jfc "$jdk/lib/jfr/default.jfc"
  cmp linked/bin/jhsdb "$jdk/bin/jhsdb"
  if [[ -d $jdk/lib/lull-agent ]]; then diff -r linked/lib/lull-agent "$jdk/lib/lull-agent"; fi
  [[ $(linked/bin/java -version 2>&1) == *Lull-"$LULL_VERSION"* ]] ||
    die "what jlink has made does not say Lull-$LULL_VERSION in java -version"
  rm -rf linked
  passed "jlink makes an image that has Lull, its events and its view for debuggers"
}

check_jpackage() {
  mkdir input
  tool jar --create --file input/who.jar --main-class WhoCollects WhoCollects.class
  tool jpackage --type app-image --input input --main-jar who.jar --name who --java-options -XX:+UseLullGC \
    --add-modules java.management || die "jpackage of $jdk fails"
  check_collectors "what jpackage has made" who/bin/who
  rm -rf who
  passed "jpackage makes an application that runs with Lull"
}

# The words for whoever has made the JDK that builds ours: of its release file.
names_of_base() {
  sed -n 's/^IMPLEMENTOR\(_VERSION\)\{0,1\}="\(.*\)"$/\2/p' "$(boot_jdk)/release" |
    sed 's/[0-9].*//; s/-$//' | tr ' ' '\n' | awk 'length($0) > 3' | sort -u
}

check_name() {
  local said name found
  said=$(
    tool java -XshowSettings:properties -version 2>&1
    cat "$jdk/release"
    if [[ -f $jdk/lib/src.zip ]]; then unzip -p "$jdk/lib/src.zip" java.base/java/lang/VersionProps.java; fi
  )
  for name in 'java.vendor = Lull' 'java.vm.vendor = Lull' 'IMPLEMENTOR="Lull"' "IMPLEMENTOR_VERSION=\"Lull-$LULL_VERSION-" \
    not-certified 'LULL_CERTIFIED="no' "openjdk version \"$(jdk_version "$jdk")\" 20"; do
    [[ $said == *"$name"* ]] ||
      die "$jdk does not say '$name' in java -XshowSettings:properties -version, nor in its release file"
  done
  while read -r name; do
    if [[ $name == Lull ]]; then continue; fi
    [[ ${said,,} != *"${name,,}"* ]] ||
      die "$jdk says '$name', who has not made it:" "$(grep -i "$name" <<< "$said" | head -n 3)"
    # NOTICE says whose files are in it unchanged, and the licences are everybody's.
    found=$(grep -rIli --exclude=NOTICE --exclude='.lull-*' --exclude-dir=legal -e "$name" "$jdk" | head -n 3 || true)
    [[ -z $found ]] || die "these files say '$name', who has not made them:" "$found"
  done < <(names_of_base)
  passed "version, vendor and release file are ours"
}

check_name
if "$jdk/bin/jlink" --help | grep -qi 'linking from run-time image enabled'; then
  check_jlink
  check_jpackage
else
  [[ -d $(boot_jdk)/jmods ]] || die "$jdk does not link from its own files, and the JDK that builds it has no jmods"
  say "skipped: jlink and jpackage, which do not work in a copy of a JDK with jmods ($(boot_jdk))"
fi
