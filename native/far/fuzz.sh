#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# fuzz.sh [SECONDS [TARGET...]]: each fuzz target of far/fuzz for so many seconds (default: 60), with the stable compiler and LLVM's
# libFuzzer, whose instrumentation rustc has. What is found stays in build/native/fuzz. The last line is "N passed, N failed, N skipped".
#
#   decode     frames               requests   a memory server against a client's frames
#   answers    the pager's fault path against a server's answers
#   trace      what is said about tracing, and the tracer    metrics    the server's metrics port
#   keys       files of keys, what they grant, networks
#   sealed     sealed pages against a server that gives back whatever it was ever given
#   encrypted  encrypted frames against somebody on the way: the pager's fault path, and a memory server

# shellcheck source-path=SCRIPTDIR source=../build.sh
. "$(dirname "${BASH_SOURCE[0]}")/../build.sh"

case ${1:-} in --help | -h) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "'$seconds' is no number of seconds"
targets=("${@:2}")
if ((${#targets[@]} == 0)); then targets=(decode requests answers trace metrics keys sealed encrypted); fi
toolchain

have c++ || die "libFuzzer needs a C++ compiler" "install g++"
host=$(rustc -vV | sed -n 's/^host: //p')
work=$BUILD/native/fuzz
mkdir -p "$work"
# As cargo-fuzz does it, without the address sanitizer, which needs a nightly compiler. With a target, programs that the build itself
# runs are not instrumented.
instrument="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
RUSTFLAGS=$instrument CARGO_TARGET_DIR=$work/target phase "fuzz targets" "$LOGS/far-fuzz.log" \
  cargo build --manifest-path "$NATIVE/far/fuzz/Cargo.toml" --release --locked --target "$host"

passed=0 failed=0
for target in "${targets[@]}"; do
  corpus=$work/corpus/$target
  mkdir -p "$corpus"
  status=0
  "$work/target/$host/release/$target" -max_total_time="$seconds" -max_len=20000 -len_control=50 -timeout=25 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$work/$target-" "$corpus" > "$LOGS/far-fuzz-$target.log" 2>&1 || status=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$LOGS/far-fuzz-$target.log")
  coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$LOGS/far-fuzz-$target.log" | tail -n 1)
  if ((status == 0)) && [[ -n $runs ]]; then
    say "$target: ${runs} inputs, ${coverage:-0} edges"
    passed=$((passed + 1))
  else
    say "FAILED: $target, exit status $status; the input is in $work, the end of $LOGS/far-fuzz-$target.log:"
    tail -n 20 "$LOGS/far-fuzz-$target.log" | sed 's/^/    | /'
    failed=$((failed + 1))
  fi
done
say "$passed passed, $failed failed, 0 skipped"
((failed == 0))
