#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# dist.sh: what others install, into build/dist:
#
#   lull-jdk-V-linux-x64.tar.gz       the JDK, of the newest OpenJDK 25 that can be had, with src.zip, CDS archives, man pages
#                                     and legal notices
#   lull-native-V-linux-x64.tar.gz    the gate's agent, lull-far, lull-memd, lull-budget, lull-stall, the doctor
#   lull-java-V-maven.zip             java/ as a Maven repository
#   lull-jdk-25_V_amd64.deb, lull-native_V_amd64.deb
#   sbom/*.cdx.json                   what is in them, by CycloneDX
#   Dockerfile, service/              a container image of the JDK, and one with a service on it
#   NOTICE, SHA256SUMS
#
# Packed again from the same files it is the same, byte by byte: sorted, owned by root, dated by the commit.
#
#   LULL_DIST_JDK   package this JDK of ours instead of one of which all is built; it may be build/jdk, which has classes of
#                   the JDK that builds it
#   LULL_DIST       the directory   (default: build/dist)

# shellcheck source-path=SCRIPTDIR source=../hotspot/build/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../hotspot/build/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../hotspot/build/image.sh
. "$SCRIPTS/image.sh"
PACKAGING=$ROOT/packaging
# shellcheck source-path=SCRIPTDIR source=pack.sh
. "$PACKAGING/pack.sh"
# shellcheck source-path=SCRIPTDIR source=deb.sh
. "$PACKAGING/deb.sh"

CARGO_CYCLONEDX=0.5.9
MAVEN_CYCLONEDX=2.9.1
DIST=${LULL_DIST:-$BUILD/dist}
WORK=$BUILD/dist-work
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(source_epoch)}
export SOURCE_DATE_EPOCH

# Sets JDK: of the newest source. Where build/openjdk is that, the JDK is built there, else below build/newest.
build_newest_jdk() {
  local newest have_it=
  newest=$(LULL_NEWEST=1 "$SCRIPTS/fetch-source.sh" --newest | tail -n 1)
  if [[ -f $STATE/source ]]; then have_it=$(awk -F= '/^version=/ { v = $2 } /^build=/ { print v "+" $2 }' "$STATE/source"); fi
  if [[ -z $have_it || $have_it == "$newest" ]]; then
    LULL_NEWEST=1 "$SCRIPTS/build.sh" image-full
    JDK=$BUILD/jdk-full
  else
    say "==> OpenJDK $newest: build/openjdk is $have_it, so build/newest"
    LULL_NEWEST=1 LULL_BUILD=$BUILD/newest "$SCRIPTS/build.sh" image-full
    JDK=$BUILD/newest/jdk-full
  fi
}

# The Rust programs once more, without this machine's paths in them.
build_natives() {
  local target=$BUILD/native-dist cargo_home=${CARGO_HOME:-$HOME/.cargo}
  "$ROOT/native/build.sh" toolchain > /dev/null
  if [[ -x $cargo_home/bin/cargo ]]; then PATH=$cargo_home/bin:$PATH; fi
  CARGO_TARGET_DIR=$target RUSTFLAGS="--remap-path-prefix=$cargo_home=/cargo --remap-path-prefix=$ROOT=/lull" \
    phase "native parts" "$LOGS/native-dist.log" \
    cargo build --manifest-path "$ROOT/native/Cargo.toml" --release --locked \
    -p lull-gate -p lull-far-front -p lull-memd -p lull-budget -p lull-stall -p lull-far -p lull-far-preload
  NATIVES=$target/release
}

# java/, deployed to a directory, without the modules' tests for each other, and without the metadata: that has the time
# of the deployment, and tells which versions there are: one.
build_maven_repository() {
  rm -rf "$WORK/maven"
  MAVEN_OPTS="${MAVEN_OPTS:-} --sun-misc-unsafe-memory-access=allow" JAVA_HOME=$(boot_jdk) \
    phase "java/ as a Maven repository" "$LOGS/dist-maven.log" \
    mvn -q -B -Dstyle.color=never -f "$ROOT/java/pom.xml" -Dlull.build="$BUILD" -DskipTests \
    -DaltDeploymentRepository="dist::file://$WORK/maven" deploy \
    "org.cyclonedx:cyclonedx-maven-plugin:$MAVEN_CYCLONEDX:makeAggregateBom" \
    -DoutputFormat=json -DoutputName=lull-java.cdx -DoutputDirectory="$WORK/sbom-java" -Dcyclonedx.skipAttach=true
  find "$WORK/maven" \( -name 'maven-metadata.xml*' -o -name '*-tests.jar*' \) -delete
}

# The tree that the archive and the package of the native parts have in common: bin, lib, include.
lay_natives() {   # DIRECTORY
  local name
  rm -rf "$1"
  mkdir -p "$1/bin" "$1/lib/lull" "$1/lib/systemd/system" "$1/lib/tmpfiles.d" "$1/include/lull"
  for name in lull-far lull-memd lull-budget lull-stall; do install -m 755 "$NATIVES/$name" "$1/bin/$name"; done
  for name in gate far far_preload; do install -m 644 "$NATIVES/liblull_$name.so" "$1/lib/lull/liblull_$name.so"; done
  strip --strip-unneeded "$1"/bin/* "$1"/lib/lull/*.so
  install -m 755 "$ROOT/java/report/lull" "$1/lib/lull/lull"
  install -m 644 "$BUILD/doctor/lull-report.jar" "$1/lib/lull/lull-report.jar"
  ln -s ../lib/lull/lull "$1/bin/lull"
  install -m 644 "$ROOT"/native/far/memd/systemd/*.service "$1/lib/systemd/system"
  install -m 644 "$PACKAGING/tmpfiles.d/lull.conf" "$1/lib/tmpfiles.d/lull.conf"
  install -m 644 "$ROOT"/native/*/include/*.h "$1/include/lull"
}

lay_jdk() {   # DIRECTORY
  rm -rf "$1"
  mkdir -p "$(dirname "$1")"
  cp -a "$JDK" "$1"
  # What the build remembers of it.
  rm -f "$1"/.lull-*
  [[ -s $1/lib/src.zip ]] || die "$JDK has no lib/src.zip"
  [[ -s $1/lib/server/classes_coh.jsa ]] || die "$JDK has no CDS archives"
  [[ -s $1/man/man1/java.1 ]] || note "$JDK has no man pages: pandoc was not there when it was built"
}

write_sboms() {
  local crate name
  rm -rf "$WORK/native-source" "$DIST/sbom"
  mkdir -p "$DIST/sbom" "$BUILD/tools"
  if [[ ! -x $BUILD/tools/cargo/bin/cargo-cyclonedx ]]; then
    phase "cargo-cyclonedx $CARGO_CYCLONEDX" "$LOGS/cargo-cyclonedx.log" \
      cargo install cargo-cyclonedx --version "$CARGO_CYCLONEDX" --locked --root "$BUILD/tools/cargo"
  fi
  # It writes beside each Cargo.toml.
  cp -a "$ROOT/native" "$WORK/native-source"
  rm -rf "$WORK/native-source/target"
  PATH=$BUILD/tools/cargo/bin:$PATH phase "bills of materials" "$LOGS/dist-sbom.log" \
    cargo cyclonedx -q --manifest-path "$WORK/native-source/Cargo.toml" --format json --spec-version 1.5 --no-build-deps \
    --override-filename bom.cdx
  for crate in gate far/front far/memd far/pager far/preload budget stall; do
    name=$(sed -n 's/^name = "\(.*\)"$/\1/p' "$ROOT/native/$crate/Cargo.toml" | head -n 1)
    cp "$WORK/native-source/$crate/bom.cdx.json" "$DIST/sbom/lull-native-$name.cdx.json"
  done
  cp "$WORK/sbom-java/lull-java.cdx.json" "$DIST/sbom/lull-java.cdx.json"
  cleanly "$(boot_jdk)/bin/java" "$PACKAGING/Sbom.java" "$JDK" "$(our_commit)" "$SOURCE_DATE_EPOCH" "$(source_sum)" \
    > "$DIST/sbom/lull-jdk.cdx.json"
  # The same for all who package this commit.
  sed -i "s|$WORK/native-source|/lull/native|g; s|$ROOT|/lull|g" "$DIST"/sbom/*.json
}

# The hash of the source's package, as the distribution's signed list has it.
source_sum() {
  local from
  from=$(sed -n 's/^from=//p' "$(dirname "$JDK")/openjdk/.lull/source" 2> /dev/null || true)
  if [[ -f $from ]]; then sha256sum < "$from" | cut -d' ' -f1; fi
}

pack_all() {
  local jdk_name=lull-jdk-$VERSION native_name=lull-native-$LULL_VERSION
  lay_jdk "$WORK/$jdk_name"
  pack_tar "$DIST/$jdk_name-linux-x64.tar.gz" "$WORK" "$jdk_name"
  lay_natives "$WORK/$native_name"
  cp "$ROOT/LICENSE" "$WORK/$native_name"
  pack_tar "$DIST/$native_name-linux-x64.tar.gz" "$WORK" "$native_name"
  pack_zip "$DIST/lull-java-$LULL_VERSION-maven.zip" "$WORK/maven"
  deb_jdk "$WORK/$jdk_name"
  deb_native
  mkdir -p "$DIST/service"
  cp "$PACKAGING"/service/*.java "$DIST/service"
  sed "s|@VERSION@|$VERSION|" "$PACKAGING/Dockerfile" > "$DIST/Dockerfile"
  cp "$JDK/NOTICE" "$DIST/NOTICE"
  (cd "$DIST" && find . -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum > SHA256SUMS)
}

main() {
  local start=$SECONDS
  "$SCRIPTS/deps.sh" dist
  if [[ -n ${LULL_DIST_JDK:-} ]]; then
    JDK=$(cd "$LULL_DIST_JDK" && pwd -P)
    grep -qs '^LULL_VERSION=' "$JDK/release" ||
      die "LULL_DIST_JDK is $LULL_DIST_JDK, whose release file does not say that it is a JDK of ours"
  else
    build_newest_jdk
  fi
  # Lull's version comes behind: a later Lull of the same update is newer.
  VERSION=$(jdk_version "$JDK")-$LULL_VERSION
  build_natives
  "$ROOT/java/report/build.sh"
  rm -rf "$DIST"
  mkdir -p "$DIST" "$WORK"
  printf '%s\n' "$JDK" > "$WORK/jdk"
  printf '%s\n' "$SOURCE_DATE_EPOCH" > "$WORK/epoch"
  our_commit > "$WORK/commit"
  build_maven_repository
  write_sboms
  phase "packing" "$LOGS/dist-pack.log" pack_all
  (cd "$DIST" && find . -type f -printf '    %10s  %P\n' | sort -k2)
  say "$DIST is ready after $(minutes $((SECONDS - start)))"
}

case ${1:-} in
  '') main ;;
  --help | -h) sed -n '4,/^$/s/^# \{0,1\}//p' "$0" ;;
  *) die "dist.sh takes no arguments, not '$1'" ;;
esac
