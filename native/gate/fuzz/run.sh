#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Fuzzes the gate's parsers with libFuzzer, each target in turn, from the seeds and what earlier runs have found. The last line is
# "N passed, N failed, N skipped"; what made a target fail is kept in build/native/fuzz/artifacts.
#
#   run.sh [TARGET...]   (default: all in fuzz_targets/)
#
#   LULL_FUZZ_SECONDS   for each target               (default: 60)
#   LULL_BUILD          the build directory           (default: build/)
#
# A stable Rust is enough: coverage comes from LLVM's own pass, and libFuzzer is compiled from its crate's C++ sources. There is no
# AddressSanitizer, which needs a nightly one: `cargo +nightly fuzz run TARGET` has it.

# shellcheck source-path=SCRIPTDIR source=../../build.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../build.sh"

FUZZ=$NATIVE/gate/fuzz
if [[ ${1:-} == --help || ${1:-} == -h ]]; then sed -n '4,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0; fi
seconds=${LULL_FUZZ_SECONDS:-60}
targets=("$@")
if ((${#targets[@]} == 0)); then
  for file in "$FUZZ"/fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi
for target in "${targets[@]}"; do
  [[ -f $FUZZ/fuzz_targets/$target.rs ]] || die "there is no fuzz target '$target'" "there are $(cd "$FUZZ/fuzz_targets" && echo ./*.rs)"
done

toolchain
OUT=$BUILD/native/fuzz
mkdir -p "$OUT/artifacts" "$LOGS"
# What cargo-fuzz passes, but for the sanitizer.
flags="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
flags+=" -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
RUSTFLAGS=$flags CARGO_TARGET_DIR=$OUT \
  phase "fuzz targets" "$LOGS/fuzz-build.log" \
  cargo build --manifest-path "$FUZZ/Cargo.toml" --release --locked --target x86_64-unknown-linux-gnu

passed=0 failed=0
for target in "${targets[@]}"; do
  mkdir -p "$OUT/corpus/$target"
  log=$LOGS/fuzz-$target.log
  if "$OUT/x86_64-unknown-linux-gnu/release/$target" -max_total_time="$seconds" -max_len=4096 -print_final_stats=1 -rss_limit_mb=1024 \
    -artifact_prefix="$OUT/artifacts/$target-" "$OUT/corpus/$target" "$FUZZ/seeds/$target" > "$log" 2>&1; then
    passed=$((passed + 1))
    say "fuzz $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s, none fails"
  else
    failed=$((failed + 1))
    say "FAILED: fuzz $target: see $log"
    grep -aE 'panicked|ERROR|Test unit written' -A 1 "$log" | head -n 8 || true
  fi
done
say "$passed passed, $failed failed, 0 skipped"
if ((failed > 0)); then exit 1; fi
