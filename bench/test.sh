#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Runs the tests of the scripts, those of the allocator study, and the unit tests of the benches (about two minutes), and ends with a line "N passed, N failed, N skipped".
# The reports are in build/bench/*/target/surefire-reports.

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"

find_base_jdk
rm -rf "$LULL_BUILD"/bench/*/target/surefire-reports
code=0
sums=
for tests in scripts-test.sh allocator/test.sh; do
  # Not to /dev/stderr by name: that opens it once more, and truncates the log that it is.
  sum=$("$BENCH/$tests" | tee >(cat >&2) | tail -n 1) || code=$?
  [[ $sum =~ ^[0-9]+\ passed,\ [0-9]+\ failed$ ]] || sum="0 passed, 1 failed"
  sums+="$sum "
done
# All modules, also after a failure; a module that does not compile has no report, but mvn's exit code.
bench_mvn --fail-at-end test || code=$?
cat "$LULL_BUILD"/bench/*/target/surefire-reports/*.txt 2>/dev/null | awk -v sums="$sums" '
  BEGIN { for (i = split(sums, n, /[^0-9]+/) - 2; i > 0; i -= 2) { run += n[i] + n[i + 1]; failed += n[i + 1] } }
  /^Tests run:/ { gsub(/[^0-9 ]/, ""); run += $1; failed += $2 + $3; skipped += $4 }
  END { printf "%d passed, %d failed, %d skipped\n", run - failed - skipped, failed, skipped }'
exit "$code"
