#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# budget/record.sh: records what the heap budget measures of Lucene's service (budget/run.sh) in each second, with G1's heap at several fixed sizes, and writes
# it into the tables with which the policy is tested: hotspot/test/hotspot/gtest/gc/budget/unit/recordedService.inc. Root, on a machine that does
# nothing else; ten minutes. To be run again when what is measured changes, not when the policy does.
#
# Settings, all optional, beside those of budget/run.sh:
#   BUDGET_SIZES="320 360 400 500 700 1000 1400 1800"   megabytes

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
usage_if_asked "$0" "$@"

read -ra sizes <<< "${BUDGET_SIZES:-320 360 400 500 700 1000 1400 1800}"
names=() files=()
for size in "${sizes[@]}"; do
  names+=("recorded-$size")
  files+=("$LULL_BUILD/budget-bench/recorded-$size.json")
done
find_base_jdk
export BUDGET_IOPS=${BUDGET_IOPS:-8000}
BUDGET_RUNS="${names[*]}" BUDGET_PHASES=${BUDGET_PHASES:-search:32,mixed:42} "$BENCH/budget/run.sh"
"$LULL_BASE_JDK/bin/java" -XX:+UseSerialGC -cp "$LULL_BUILD/bench/budget/lib/*" lull.bench.budget.RecordMain --runs "$(IFS=,; echo "${files[*]}")" \
  --settings "Lucene in a memory group of ${BUDGET_MEMORY:-2560} MB, $BUDGET_IOPS reads a second, $(nproc) processors, $(date +%F)" \
  --out "$ROOT/hotspot/test/hotspot/gtest/gc/budget/unit/recordedService.inc"
