#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Makes a site that can be searched of the pages in docs/ and of those beside README.md, at build/docs/index.html. The pages are
# checked before (check.sh), and the links of the site after it. mdBook comes from crates.io as a library, at the versions and
# hashes in book/mdbook/Cargo.lock, and is compiled once: some three minutes.
#
#   LULL_BUILD   the build directory (default: build/)

# shellcheck source-path=SCRIPTDIR source=check.sh
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

book=$BUILD/book
generator=$book/target/release/lull-book

"$ROOT/native/build.sh" toolchain > /dev/null
if ! have cargo; then PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH; fi
mkdir -p "$book" "$LOGS"
say "==> mdBook"
cargo build --release --locked --quiet --manifest-path "$ROOT/book/mdbook/Cargo.toml" --target-dir "$book/target" > "$LOGS/mdbook.log" 2>&1 ||
  die "mdBook could not be had: there is no site without it" "$(tail -n 3 "$LOGS/mdbook.log")" "the whole output is in $LOGS/mdbook.log" \
    "the pages themselves can be read without a site: docs/README.md"

check_pages
say "==> the site"
rm -rf "$book/src" "$BUILD/docs"
mkdir -p "$book/src"
pages stage "$ROOT" "$book/src"
cp "$ROOT/book/book.toml" "$ROOT/book/lull.css" "$book/"
RUST_LOG=${RUST_LOG:-warn} "$generator" "$book"
pages site "$BUILD/docs"
say "    $BUILD/docs/index.html"
