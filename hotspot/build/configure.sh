#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# configure.sh release|fastdebug|full: runs OpenJDK's configure for build/openjdk/build/<that>, if its arguments, its own
# scripts or the compiler have changed since it last succeeded. "full" is a release build whose Java and native libraries are
# built too, in the same directory: what was configured so serves a release build as it is.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

conf=$1
image_of "$conf" > /dev/null
out=$TREE/build/$(directory_of "$conf")
if [[ $conf == release && -f $out/.lull-full ]]; then conf=full; fi
number=$(sed -n 's/^build=//p' "$STATE/source")

# A release has all of OpenJDK's collectors, for those who compare. The debug build goes without ZGC and Shenandoah, which are a seventh of
# HotSpot's C++ files: CI has no room for them. JVMCI is in neither: its one user, the Graal compiler, knows no barrier of Lull's.
features=-jvmci
if [[ $conf == fastdebug ]]; then features=-shenandoahgc,-zgc,-jvmci; fi

# shellcheck disable=SC2054 # the commas belong to the options
args=(
  --with-conf-name="$(directory_of "$conf")"
  --with-debug-level="${conf/full/release}"
  --with-boot-jdk="$(boot_jdk)"
  --with-jvm-features="$features"
  --with-native-debug-symbols="${LULL_SYMBOLS:-none}"
  --with-source-date=version
  --with-version-pre=
  --with-version-opt="Lull-$LULL_VERSION"
  --with-vendor-name=Lull
  --with-vendor-version-string="Lull-$LULL_VERSION"
  # Compilers newer than this source have new warnings.
  --disable-warnings-as-errors
)
if [[ -n $number ]]; then args+=(--with-version-build="$number"); fi
if have ccache; then args+=(--enable-ccache); fi
if [[ $conf == fastdebug ]]; then
  # Inside the tree, so that the compiler sees relative paths and ccache hits from another clone.
  "$SCRIPTS/fetch-tools.sh" googletest
  if ! diff -rq "$BUILD/googletest" "$STATE/googletest" > /dev/null 2>&1; then
    rm -rf "$STATE/googletest"
    cp -a "$BUILD/googletest" "$STATE/googletest"
  fi
  args+=(--with-gtest="$STATE/googletest")
fi
if [[ $conf == full ]]; then
  # jlink links from the image itself (JEP 493): there are no jmods, which would be a second copy of all.
  args+=(--enable-linkable-runtime)
  # A distribution's source package may lack the libraries that OpenJDK bundles: then the system's.
  lib=$TREE/src/java.desktop/share/native
  while read -r option bundled; do
    if [[ ! -e $bundled ]]; then args+=("--with-$option=system"); fi
  done << END
zlib $TREE/src/java.base/share/native/libzip/zlib
freetype $lib/libfreetype/include
libjpeg $lib/libjavajpeg/jpeglib.h
giflib $lib/libsplashscreen/giflib
libpng $lib/libsplashscreen/libpng
lcms $lib/liblcms/lcms2.h
harfbuzz $lib/libharfbuzz/hb.h
END
  # There is no such option for PC/SC: its headers are put where the bundled ones would be.
  muscle=$TREE/src/java.smartcardio/unix/native/libj2pcsc/MUSCLE
  if [[ ! -e $muscle ]]; then ln -sfn /usr/include/PCSC "$muscle"; fi
fi
if [[ -n ${LULL_CONFIGURE:-} ]]; then read -ra extra <<< "$LULL_CONFIGURE"; args+=("${extra[@]}"); fi

inputs=$(
  printf '%s\n' "${args[@]}"
  g++ --version | head -n 1
  # With it there are man pages.
  if [[ $conf == full ]]; then command -v pandoc || true; fi
  (cd "$TREE" && find make/autoconf make/conf -type f | sort | xargs cat) | sha256sum
)
if [[ -f $out/spec.gmk && -f $out/.lull-configure && $inputs == "$(cat "$out/.lull-configure")" ]]; then exit 0; fi

rm -f "$out/.lull-configure"
cd "$TREE"
phase "configure ($conf)" "$LOGS/configure-$conf.log" cleanly bash configure "${args[@]}"
printf '%s\n' "$inputs" > "$out/.lull-configure"
if [[ $conf == full ]]; then touch "$out/.lull-full"; fi
