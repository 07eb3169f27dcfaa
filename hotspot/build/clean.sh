#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# clean.sh      removes what was built, and keeps the source tree, the downloads and the unpacked tools
# clean.sh all  removes the build directory's whole contents

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

case ${1:-} in
  '')
    rm -rf "$TREE/build/release" "$TREE/build/fastdebug" "$TREE/build/full" "$TREE/build/.configure-support" "$STATE"/jdk-* "$STATE/gtest" "$BUILD"/image-* "$BUILD/jdk" \
      "$BUILD/jdk-debug" "$BUILD/jdk-full" "$BUILD/unit" "$BUILD/native" "$BUILD/java" "$BUILD/doctor" "$BUILD/dist" "$BUILD"/dist-* \
      "$BUILD/native-dist" "$BUILD/newest" "$BUILD/bench" "$BUILD/book" "$BUILD/docs" "$BUILD/test-results" "$BUILD/test-work" "$LOGS" ;;
  all)
    # By name: LULL_BUILD may be a directory with other things in it.
    for d in allocator agent-fastdebug agent-release apt barrier-cost barrier-instructions barrier-pairs bench bench-results book budget-bench compare demo dist docs \
      dist-root-bookworm.tar dist-test dist-work doctor \
      doctor-bench download gate-bench gate-cassandra googletest googletest.package image-fastdebug image-full image-release java jdk jdk.new jdk-debug jdk-debug.new jdk-full jdk-full.new jtreg \
      jtreg.package logs native native-dist newest openjdk openjdk.new openjdk-edited openjdk-patched openjdk-pristine pairs rustup-init.sh soak test-results test-work tools unit \
      where .test-lock .lock; do
      rm -rf "${BUILD:?}/$d"
    done
    rmdir --ignore-fail-on-non-empty "$BUILD" ;;
  *) die "clean.sh knows nothing or 'all', not '$1'" ;;
esac
