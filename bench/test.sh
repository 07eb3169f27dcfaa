#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Runs the unit tests of the benches (about two minutes) and those of the allocator study, and ends with a line "N passed, N failed, N skipped".
# The reports are in build/bench/*/target/surefire-reports.

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"

find_base_jdk
rm -rf "$LULL_BUILD"/bench/*/target/surefire-reports
code=0
allocator=$("$BENCH/allocator/test.sh" | tee /dev/stderr | tail -n 1) || code=$?
[[ $allocator =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || allocator="0 passed, 1 failed"
# All modules, also after a failure; a module that does not compile has no report, but mvn's exit code.
bench_mvn --fail-at-end test || code=$?
cat "$LULL_BUILD"/bench/*/target/surefire-reports/*.txt 2>/dev/null | awk -v allocator="$allocator" '
  BEGIN { split(allocator, n, /[^0-9]+/); run = n[1] + n[2]; failed = n[2] }
  /^Tests run:/ { gsub(/[^0-9 ]/, ""); run += $1; failed += $2 + $3; skipped += $4 }
  END { printf "%d passed, %d failed, %d skipped\n", run - failed - skipped, failed, skipped }'
exit "$code"
