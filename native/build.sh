#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Builds the Rust parts, optimised, and puts them into build/native/:
#
#   build.sh             everything
#   build.sh toolchain   only sees to it that there is a Rust toolchain that is new enough, and prints its version
#
# Without one, as root, it installs the distribution's if that is new enough, else the oldest that is by rustup; anybody else is
# told what to do. The crates come from crates.io, at the versions and hashes in native/Cargo.lock.
#
#   LULL_BUILD   the build directory (default: build/)
#   JOBS         processors to build with

# shellcheck source-path=SCRIPTDIR source=../hotspot/build/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../hotspot/build/lib.sh"

NATIVE=$ROOT/native

# The oldest Rust that the workspace says it builds with.
needed_rust() { sed -n 's/^rust-version = "\([0-9.]*\)"$/\1/p' "$NATIVE/Cargo.toml"; }

# The version of a rustc, or nothing.
rust_version() { "$1" --version 2> /dev/null | sed -n 's/^rustc \([0-9]*\.[0-9]*\).*/\1/p' || true; }

# at_least HAVE WANT: both MAJOR.MINOR.
at_least() { ((${1%%.*} > ${2%%.*} || (${1%%.*} == ${2%%.*} && ${1##*.} >= ${2##*.}))); }

install_by_distribution() {   # NEEDED; fails if it has none that is new enough
  local candidate
  have apt-get && have apt-cache || return 1
  apt-get update >> "$LOGS/rust-install.log" 2>&1 || true
  candidate=$(apt-cache policy rustc | sed -n 's/^ *Candidate: \([0-9]*\.[0-9]*\).*/\1/p')
  [[ -n $candidate ]] && at_least "$candidate" "$1" || return 1
  say "==> installing the distribution's Rust $candidate"
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends rustc cargo >> "$LOGS/rust-install.log" 2>&1
}

# rustup's installer, of a version and a hash.
fetch_rustup() {   # FILE
  local sum
  case $(uname -m) in
    x86_64) sum=20a06e644b0d9bd2fbdbfd52d42540bdde820ea7df86e92e533c073da0cdd43c ;;
    aarch64) sum=e3853c5a252fca15252d07cb23a1bdd9377a8c6f3efa01531109281ae47f841c ;;
    *) note "no rustup is known for $(uname -m)"; return 1 ;;
  esac
  curl --proto '=https' --tlsv1.2 -sSf "https://static.rust-lang.org/rustup/archive/1.28.2/$(uname -m)-unknown-linux-gnu/rustup-init" -o "$1" || return 1
  if ! echo "$sum  $1" | sha256sum --quiet --check -; then rm -f "$1"; return 1; fi
  chmod +x "$1"
}

install_by_rustup() {   # NEEDED: just that, whose lints are known
  if have rustup; then
    say "==> installing Rust $1 by rustup"
    rustup toolchain install "$1" --profile minimal --component rustfmt --component clippy >> "$LOGS/rust-install.log" 2>&1 &&
      rustup default "$1" >> "$LOGS/rust-install.log" 2>&1
    return
  fi
  if ! have curl; then
    have apt-get && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends curl ca-certificates >> "$LOGS/rust-install.log" 2>&1 || return 1
  fi
  say "==> installing rustup and Rust $1 into ~/.cargo and ~/.rustup"
  fetch_rustup "$BUILD/rustup-init" >> "$LOGS/rust-install.log" 2>&1 &&
    "$BUILD/rustup-init" -y --no-modify-path --default-toolchain "$1" --profile minimal --component rustfmt clippy >> "$LOGS/rust-install.log" 2>&1
}

toolchain() {
  local needed found
  needed=$(needed_rust)
  [[ -n $needed ]] || die "native/Cargo.toml names no rust-version"
  # Where rustup puts it, for shells that have not been told.
  if ! have cargo && [[ -x ${CARGO_HOME:-$HOME/.cargo}/bin/cargo ]]; then PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH; fi
  found=$(rust_version rustc)
  if [[ -z $found ]] || ! have cargo || ! at_least "$found" "$needed"; then
    if [[ $(id -u) != 0 ]]; then
      die "Rust $needed or later is needed, found ${found:-none}" "install it by rustup (https://rustup.rs), or the distribution's packages rustc and cargo"
    fi
    mkdir -p "$LOGS"
    install_by_distribution "$needed" || install_by_rustup "$needed" ||
      die "Rust $needed or later is needed, found ${found:-none}, and could not be installed" "the output of the attempts is in $LOGS/rust-install.log" \
        "install it by rustup (https://rustup.rs)"
    if [[ -x ${CARGO_HOME:-$HOME/.cargo}/bin/cargo ]]; then PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH; fi
    hash -r
    found=$(rust_version rustc)
    [[ -n $found ]] && at_least "$found" "$needed" || die "Rust $needed or later is needed, found ${found:-none} after installing it"
  fi
  # Rust links by the C compiler.
  have cc || have gcc || die "there is no C compiler to link with" "install gcc"
}

export CARGO_TARGET_DIR=$BUILD/native
if [[ -n ${JOBS:-} ]]; then export CARGO_BUILD_JOBS=$JOBS; fi

# Sourced by test.sh for the functions.
if [[ ${BASH_SOURCE[0]} != "$0" ]]; then return 0; fi

case ${1:-} in
  '' | toolchain) ;;
  --help | -h) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) die "unknown argument '$1' (toolchain)" ;;
esac
toolchain
if [[ ${1:-} == toolchain ]]; then rustc --version; exit 0; fi

phase "native parts" "$LOGS/native.log" cargo build --manifest-path "$NATIVE/Cargo.toml" --release --locked --workspace
cp "$CARGO_TARGET_DIR/release/liblull_gate.so" "$CARGO_TARGET_DIR/liblull_gate.so.new"
# A JVM that runs keeps the file that it has mapped.
mv -f "$CARGO_TARGET_DIR/liblull_gate.so.new" "$CARGO_TARGET_DIR/liblull_gate.so"
say "$CARGO_TARGET_DIR/liblull_gate.so"
