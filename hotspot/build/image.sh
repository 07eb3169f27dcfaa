# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# shellcheck shell=bash
#
# A JDK of ours from the files of another one of the same version, or from those that were all built here: libjvm, what
# the Java half has to know of it, our name, and at the end a lib/modules with right sums for jlink, and CDS archives.
# Sourced after lib.sh.
#
# A step that finds its result there leaves it; marks of what is there are in the JDK (.lull-*), so that who removes
# that removes them.

# Of what runs as a phase each command says itself that a failure is one: the shell does not, where the phase's status
# is looked at.

# marked FILE SUM: the mark is there, and says just that.
marked() { [[ -f $1 && $(cat "$1") == "$2" ]]; }

# What changes in a JDK when our files do: the last commit that touched what is built, and whether something was changed
# since. LULL_COMMIT names another one: of a tree without git, or of what is packed again.
our_commit() {
  if [[ -n ${LULL_COMMIT:-} ]]; then printf '%s' "$LULL_COMMIT"; return; fi
  local commit paths=(hotspot/src hotspot/patches hotspot/build/image.sh hotspot/build/jhsdb)
  commit=$(git -C "$ROOT" log -1 --format=%H -- "${paths[@]}" 2> /dev/null | cut -c1-12) || commit=
  if [[ -z $commit ]]; then printf unknown; return; fi
  if [[ -n $(git -C "$ROOT" status --porcelain -- "${paths[@]}" 2> /dev/null) ]]; then commit+=-modified; fi
  printf '%s' "$commit"
}

# What java -version says in front of the build, and the release file as the implementor's version: one word, which
# tools take it for.
our_name() { printf 'Lull-%s-%s-not-certified' "$LULL_VERSION" "$(our_commit)"; }

# A variable of the configuration.
spec() { sed -n "s/^$2 *:= *//p" "$TREE/build/$(directory_of "$1")/spec.gmk" | head -n 1; }   # CONF NAME

# The time that files of ours have in archives: the commit's, else the update's.
source_epoch() {
  git -C "$ROOT" log -1 --format=%ct 2> /dev/null ||
    date -u -d "$(sed -n 's/^DEFAULT_VERSION_DATE=//p' "$TREE/make/conf/version-numbers.conf")" +%s
}

# Copies the JDK that builds ours, unless it is there already.
copy_base() {   # CONF
  local image base link target
  image=$(image_of "$1")
  base=$(boot_jdk)
  if [[ -f $image/.lull-base && $(cat "$image/.lull-base") == "$base $(cksum < "$base/release")" ]]; then return; fi
  rm -rf "$image" "$image.new"
  # Not its archives: they are another libjvm's. Nor its jmods, from which jlink would take that libjvm.
  mkdir -p "$image.new"
  (cd "$base" && tar cf - --exclude='./lib/server/*.jsa' --exclude=./jmods .) | tar xf - -C "$image.new" --no-same-owner
  # A distribution's package has links into /etc: ours is to be copied anywhere.
  find "$image.new" -type l -lname '/*' | while read -r link; do
    target=$(readlink -f "$link") && [[ -e $target ]] ||
      die "$link of the JDK that builds ours leads nowhere" "install what it belongs to (ca-certificates-java, for cacerts)"
    rm "$link" && cp -rL "$target" "$link"
  done
  if [[ -d $base/jmods ]]; then
    note "$base has jmods: jlink and jpackage do not work in the copy; make image-full, or take a JDK without (JEP 493)"
  fi
  printf '%s %s\n' "$base" "$(cksum < "$base/release")" > "$image.new/.lull-base"
  mv -T "$image.new" "$image"
}

# Puts the newest libjvm into the JDK. Running JVMs keep the file they have open.
put_libjvm() {   # CONF
  local image built
  image=$(image_of "$1")
  built=$TREE/build/$1/support/modules_libs/java.base/server/libjvm.so
  [[ -f $built ]] || { say "the build has left no libjvm at $built"; return 1; }
  if cmp -s "$built" "$image/lib/server/libjvm.so"; then return; fi
  rm -f "$image"/lib/server/*.jsa   # of another libjvm
  cp "$built" "$image/lib/server/libjvm.so.new" && mv -f "$image/lib/server/libjvm.so.new" "$image/lib/server/libjvm.so"
}

# The flight recorder's Java half knows events by numbers that are made from metadata.xml, as libjvm does: both must
# come from the same. lib/jfr may hold links into the system's own configuration.
put_recorder() {   # CONF WORK
  local image description=$TREE/src/hotspot/share/jfr/metadata settings=$TREE/src/jdk.jfr/share/conf/jfr sum
  image=$(image_of "$1")
  sum=$(cat "$description"/* "$settings"/*.jfc | sha256sum)
  if [[ -s $2/metadata.bin ]] && marked "$image/.lull-recorder" "$sum"; then return; fi
  rm -f "$image/.lull-recorder"
  # What OpenJDK's makefiles run for the module's resources.
  cleanly "$(boot_jdk)/bin/java" "$TREE/make/src/classes/build/tools/jfr/GenerateJfrFiles.java" --mode metadata \
    --xml "$description/metadata.xml" --xsd "$description/metadata.xsd" --output "$2/metadata.bin" || return 1
  rm -rf "$image/lib/jfr"
  mkdir "$image/lib/jfr" && cp "$settings"/*.jfc "$image/lib/jfr" || return 1
  printf '%s\n' "$sum" > "$image/.lull-recorder"
}

# The serviceability agent meets a Lull heap: its classes that are ours or have a patch, in a directory of their own,
# and a jhsdb that puts them before those of lib/modules.
put_agent() {   # CONF WORK
  local image classes=src/jdk.hotspot.agent/share/classes work=$2/agent files file version sum
  image=$(image_of "$1")
  mapfile -t files < <(
    sed -n "s|^+++ b/$classes/||p" "$ROOT"/hotspot/patches/*.patch
    cd "$ROOT/hotspot/$classes" && find . -name '*.java' -printf '%P\n')
  ((${#files[@]})) || { say "no patch and no file of ours is below $classes"; return 1; }
  version=$(cleanly "$image/bin/java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.vm.version = //p')
  sum=$(cd "$TREE/$classes" && { printf '%s\n' "$version"; cat "${files[@]}" "$SCRIPTS/jhsdb"; } | sha256sum)
  if marked "$image/.lull-agent" "$sum"; then return; fi
  rm -rf "$image/.lull-agent" "$image/lib/lull-agent" "$work"
  for file in "${files[@]}"; do
    mkdir -p "$work/$(dirname "$file")" && cp "$TREE/$classes/$file" "$work/$file" || return 1
  done
  (cd "$work" && cleanly "$(boot_jdk)/bin/javac" -nowarn -d "$image/lib/lull-agent" \
    --patch-module jdk.hotspot.agent="$work" "${files[@]}") || return 1
  # Or the agent warns that it is of another version.
  printf 'sun.jvm.hotspot.runtime.VM.saBuildVersion=%s\n' "$version" > "$image/lib/lull-agent/sa.properties" || return 1
  put_sources "$image" jdk.hotspot.agent "$work" || return 1
  rm -rf "$work"
  install -m 755 "$SCRIPTS/jhsdb" "$image/bin/jhsdb.new" && mv -f "$image/bin/jhsdb.new" "$image/bin/jhsdb" || return 1
  printf '%s\n' "$sum" > "$image/.lull-agent"
}

# Our text of classes in the place of the base's, in src.zip.
put_sources() {   # IMAGE MODULE DIRECTORY
  local work
  if [[ ! -f $1/lib/src.zip ]]; then return; fi
  work=$(mktemp -d "$BUILD/sources.XXXXXX") && mkdir "$work/$2" && cp -r "$3/." "$work/$2" || return 1
  find "$work/$2" -exec touch -h -d "@$(source_epoch)" {} + || return 1
  (cd "$work" && find "$2" -type f | sort | TZ=UTC zip -q -X "$1/lib/src.zip" -@) || return 1
  rm -rf "$work"
}

# The class from which java -version and the system properties have their words, with ours in the place of the base's.
put_version() {   # CONF WORK
  local template=$TREE/src/java.base/share/classes/java/lang/VersionProps.java.template image name value script='' sum
  image=$(image_of "$1")
  mkdir -p "$2/version/java/lang" || return 1
  while read -r name; do
    case $name in
      VENDOR) value=Lull ;;
      VENDOR_URL) value=https://openjdk.org/ ;;
      VENDOR_VERSION_STRING) value=$(our_name) ;;
      # Nobody at OpenJDK is to hear of our faults: no address is better than theirs.
      VENDOR_URL_BUG | VENDOR_URL_VM_BUG) value= ;;
      RUNTIME_NAME) value="OpenJDK Runtime Environment" ;;
      *) value=$(spec "$1" "$name") ;;
    esac
    script+="s|@@$name@@|$value|g;"
  done < <(grep -o '@@[A-Z_]*@@' "$template" | tr -d @ | sort -u)
  sed "$script" "$template" > "$2/version/java/lang/VersionProps.java" || return 1
  sum=$(sha256sum < "$2/version/java/lang/VersionProps.java")
  if [[ -s $2/VersionProps.class ]] && marked "$image/.lull-version" "$sum"; then return; fi
  (cd "$2/version" && cleanly "$(boot_jdk)/bin/javac" -nowarn -d "$2/classes" --patch-module java.base=. \
    java/lang/VersionProps.java) || return 1
  cp "$2/classes/java/lang/VersionProps.class" "$2/VersionProps.class" || return 1
  put_sources "$image" java.base "$2/version" || return 1
  printf '%s\n' "$sum" > "$image/.lull-version"
}

# The release file, which tools and scanners read.
release_file() {   # CONF MODULES
  local variable
  for variable in IMPLEMENTOR=Lull "IMPLEMENTOR_VERSION=$(our_name)" "JAVA_RUNTIME_VERSION=$(spec "$1" VERSION_STRING)" \
    "JAVA_VERSION=$(spec "$1" VERSION_NUMBER)" "JAVA_VERSION_DATE=$(spec "$1" VERSION_DATE)" LIBC=gnu "MODULES=$2" \
    OS_ARCH=x86_64 OS_NAME=Linux "SOURCE=.:git:$(our_commit)" IMAGE_TYPE=JDK JVM_VARIANT=Hotspot \
    "LULL_VERSION=$LULL_VERSION" "LULL_OPENJDK_SOURCE=$(basename "$(sed -n 's/^from=//p' "$STATE/source")")" \
    "LULL_CERTIFIED=no: it has not been tested with the TCK, and must not be called Java-compatible"; do
    printf '%s="%s"\n' "${variable%%=*}" "${variable#*=}"
  done
}

notice() {   # CONF FILES-OF
  cat << END
Lull $LULL_VERSION, commit $(our_commit): a JDK with the Lull collector,
from the source of OpenJDK $(spec "$1" VERSION_NUMBER) ($(spec "$1" VERSION_DATE)).

It has not been tested with the TCK of Java SE, and must not be called Java-compatible.

Licence: the GNU General Public License, version 2, with the Classpath Exception; see legal/, which has the notices of
what third parties have written, too.
OpenJDK is a trademark of Oracle, as Java is.

The source of what is changed is Lull's repository: hotspot/src and hotspot/patches at that commit, over OpenJDK's own
source.
END
  if [[ $2 != own ]]; then
    cat << END

Changed are lib/server/libjvm.so, lib/modules (the version, the flight recorder's events, the sums for jlink), lib/jfr,
lib/lull-agent, lib/src.zip and bin/jhsdb. All other files are those of $2, whose maker has nothing to do with
Lull.
END
  fi
}

# Who has made it. The licences below legal/ stay as they are.
put_name() {   # CONF FILES-OF
  local image modules
  image=$(image_of "$1")
  modules=$(sed -n 's/^MODULES="\(.*\)"$/\1/p' "$image/release")
  release_file "$1" "$modules" > "$image/release.new" && mv -f "$image/release.new" "$image/release" || return 1
  notice "$1" "$2" > "$image/NOTICE.new" && mv -f "$image/NOTICE.new" "$image/NOTICE"
}

# The archive without a suffix is the last: where it is, all are.
dump_archives() {   # IMAGE
  local name flags
  for name in classes_nocoops classes_coh classes_nocoops_coh classes; do
    flags=(-XX:+UnlockExperimentalVMOptions)
    if [[ $name == *_nocoops* ]]; then flags+=(-XX:-UseCompressedOops); fi
    if [[ $name == *_coh ]]; then flags+=(-XX:+UseCompactObjectHeaders); else flags+=(-XX:-UseCompactObjectHeaders); fi
    # As OpenJDK's make/Images.gmk does; only G1 dumps heap objects.
    cleanly "$1/bin/java" -Xshare:dump "${flags[@]}" -Xmx128M -Xms128M -XX:+UseG1GC \
      -XX:SharedArchiveFile="$1/lib/server/$name.jsa.new" || return 1
    mv -f "$1/lib/server/$name.jsa.new" "$1/lib/server/$name.jsa" || return 1
  done
}

# The last step: a lib/modules that has our classes and knows the files that are there now, and archives, which are
# bound to it.
seal() {   # CONF MODULES WORK ARGUMENT-OF-SealImage...
  local image modules=$2 sum
  image=$(image_of "$1")
  sum=$(
    cd "$image" || exit 1
    stat -c '%s %Y' "$modules"
    printf '%s\n' "${@:4}"
    sha256sum "$3"/*.class "$SCRIPTS"/*.java lib/server/libjvm.so lib/jfr/* bin/jhsdb
    cat .lull-agent .lull-recorder 2> /dev/null
  )
  sum=$(sha256sum <<< "$sum")
  if [[ -s $image/lib/server/classes.jsa ]] && marked "$image/.lull-sealed" "$sum"; then return; fi
  rm -f "$image/.lull-sealed" "$image"/lib/server/*.jsa
  cleanly "$(boot_jdk)/bin/java" --add-exports java.base/jdk.internal.jimage=ALL-UNNAMED "$SCRIPTS/SealImage.java" \
    "$image" "$modules" "$image/lib/modules.new" "${@:4}" || return 1
  mv -f "$image/lib/modules.new" "$image/lib/modules" || return 1
  dump_archives "$image" || return 1
  printf '%s\n' "$sum" > "$image/.lull-sealed"
}

# A JDK of the base's files. The archives are dumped by libjvm as it is now.
make_image() {   # CONF
  local work=$BUILD/image-$1 base of
  base=$(boot_jdk)
  of=$(sed -n 's/^IMPLEMENTOR_VERSION="\(.*\)"$/\1/p' "$base/release")
  of=${of:-$(sed -n 's/^IMPLEMENTOR="\(.*\)"$/\1/p' "$base/release")}
  mkdir -p "$work" && put_libjvm "$1" && put_recorder "$1" "$work" && put_agent "$1" "$work" &&
    put_version "$1" "$work" || return 1
  put_name "$1" "${of:-another JDK}" || return 1
  seal "$1" "$base/lib/modules" "$work" "/java.base/java/lang/VersionProps.class=$work/VersionProps.class" \
    "/jdk.jfr/jdk/jfr/internal/types/metadata.bin=$work/metadata.bin" jdk.hotspot.agent:lib/lull-agent
}

# A JDK of which all was built here.
make_full_image() {   # CONF
  local work=$BUILD/image-$1 built=$TREE/build/release/images/jdk image
  image=$(image_of "$1")
  rm -rf "$image.new"
  mkdir -p "$work" && cp -a "$built" "$image.new" && rm -rf "$image" && mv -T "$image.new" "$image" || return 1
  put_version "$1" "$work" && put_name "$1" own || return 1
  seal "$1" "$built/lib/modules" "$work" "/java.base/java/lang/VersionProps.class=$work/VersionProps.class"
}
