#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Compares two results files of bench.sh, for instance of two builds: ratios of B to A with their 95 % confidence intervals, for each
# service, collector and heap that both have with the same work on the same machine. Where a file has several builds or flags of one
# collector, the newest counts. Exit code 0; 1 if something became slower beyond noise, which is: the whole interval of the ratio is
# above BENCH_SLOWER, or B fails where A ran; 2 for a usage error. Of many ratios, one in forty looks slower by chance.
#
# Settings:
#   A=FILE B=FILE        results files, the older one first; both needed
#   BENCH_SLOWER=1.02    the ratio that is still noise
#   COLLECTORS="..."     compare only these
#   LULL_BASE_JDK        as for demo.sh

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"

for name in A B; do
  if [ -z "${!name:-}" ] || [ ! -f "${!name}" ]; then
    echo "$name is '${!name:-}', which is no file" >&2
    echo "usage: A=FILE B=FILE $(basename "$0")" >&2
    exit 2
  fi
done
export A B
find_base_jdk
build_bench
exec "$LULL_BASE_JDK/bin/java" -XX:+UseSerialGC -cp "$LULL_BUILD/bench/$SERVICE/lib/*" lull.bench.run.BenchCompare
