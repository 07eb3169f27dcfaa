#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# The soak: a service answers many requests on one Java, every answer checked against a stock collector's.
# Nothing is timed, so soaks of different services may run side by side. Exit code 0 if all answers were right, 1 if not.
#
# Settings, all optional:
#   SOAK_JAVA=PROGRAM     default: build/jdk-debug/bin/java
#   SOAK_FLAGS="..."      default: -XX:+UseLullGC -XX:+UnlockDiagnosticVMOptions -XX:+VerifyAfterGC
#   SOAK_REQUESTS=100000  how many; or
#   SOAK_SECONDS=N        for how long
#   SOAK_HEAP=256         in MB
#   SOAK_HOURS=24         the most that so many requests may take
#   SOAK_PROGRESS=10      seconds between lines of progress
#   SERVICE=compile, LULL_DEMO_OPTIONS, LULL_DEMO_SEED, LULL_DEMO_THREADS, LULL_BASE_JDK, OPENJDK_SRC: as for demo.sh

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"

find_base_jdk
build_bench
mkdir -p "$LULL_BUILD/soak"
take_turn "$LULL_BUILD/soak/.$SERVICE-lock" "soak of $SERVICE"
exec_bench lull.bench.run.Soak
