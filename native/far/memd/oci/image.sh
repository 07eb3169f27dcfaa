#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# image.sh: builds lull-memd without libraries of its own to look for, and an OCI image of it, into build/native/oci. Needs no container
# engine. How to run it: docs/guides/far-memory.md.
#
#   LULL_BUILD   the build directory (default: build/)

# shellcheck source-path=SCRIPTDIR source=../../../build.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../../build.sh"

case ${1:-} in '') ;; *) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
toolchain
have python3 || die "the image is packed by python3, which is not there"
target=$(rustc -vV | sed -n 's/^host: //p')
out=$BUILD/native/oci
mkdir -p "$out"
# With a target, what the build itself runs is linked as ever.
RUSTFLAGS="-C target-feature=+crt-static" CARGO_TARGET_DIR=$out/target phase "lull-memd for its image" "$LOGS/memd-image.log" \
  cargo build --manifest-path "$NATIVE/Cargo.toml" --release --locked -p lull-memd --target "$target"
cp "$out/target/$target/release/lull-memd" "$out/lull-memd"
cp "$NATIVE"/far/memd/oci/seccomp*.json "$out"
"$NATIVE/far/memd/oci/image.py" "$out/lull-memd" "$out/lull-memd.tar"
say "$out/lull-memd.tar"
