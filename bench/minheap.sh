#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# minheap.sh: the smallest heap in which each collector runs each service. About three minutes for each of both, less if it was found before. Ends with a table,
# which is also in build/minheap/minheap.txt.
#
# Settings, all optional:
#   MINHEAP_SERVICES="compile lucene crud h2"
#   COLLECTORS="lull g1 parallel serial zgc shenandoah"   also of JDK 27: g1-27 and so on
#   LULL_DEMO_THREADS, LULL_DEMO_FLAGS, LULL_JAVA, LULL_BASE_JDK, OPENJDK_SRC: as for demo.sh

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"

export COLLECTORS=${COLLECTORS:-lull g1 parallel serial zgc shenandoah}
read -ra services <<< "${MINHEAP_SERVICES:-compile lucene crud h2}"
[ "${#services[@]}" -gt 0 ] || die "MINHEAP_SERVICES names no service"
for SERVICE in "${services[@]}"; do
  [ -f "$BENCH/$SERVICE/pom.xml" ] || die "MINHEAP_SERVICES: no service '$SERVICE': README.md has a list of them"
done
find_base_jdk
build_jdk_for "$COLLECTORS"
take_turn_of_benches
out=$LULL_BUILD/minheap
rm -rf "$out"
mkdir -p "$out"
code=0
for SERVICE in "${services[@]}"; do
  export SERVICE
  build_bench
  (exec_bench lull.bench.run.MinHeaps --to "$out/$SERVICE.csv") || code=$?
done
{
  echo "the smallest heaps, in MB:"
  awk -F, 'FNR > 1 || NR == 1 { for (i = 1; i <= NF; i++) printf "%-14s", $i; print "" }' "$out"/*.csv
} > "$out/minheap.txt"
cat "$out/minheap.txt"
exit "$code"
