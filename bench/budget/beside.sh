# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Sourced by run.sh, after common.sh: a helper beside a JVM, the sensor or the controller, without which the run would be one of another name.

# beside RUN PROCESS LOG COMMAND...: runs the command for the process of the run, until it says where its numbers come from; leaves that in sensor, its
# own process in helper and at the end of pids, and what it says in helper_log.
beside() {
  local run=$1 process=$2 waited=0
  helper_log=$3
  shift 3
  : > "$helper_log"
  "$@" --pid "$process" > "$helper_log" 2>&1 &
  helper=$!
  pids+=("$helper")
  sensor=
  while [ -z "$sensor" ]; do
    if ! kill -0 "$helper" 2> /dev/null; then
      # If that has ended, too, who waits for it says why.
      kill -0 "$process" 2> /dev/null || return 0
      die "$run: ${1##*/} ended at once: $(tail -n 3 "$helper_log")"
    fi
    [ "$waited" -lt 300 ] || die "$run: ${1##*/} has not said for half a minute where its numbers come from: see $helper_log"
    sleep 0.1
    waited=$((waited + 1))
    sensor=$(sed -nE 's/^lull-(stall: process [0-9]+, source|budget: sensor:) ([a-z]+): .*/\2/p' "$helper_log")
  done
}

# was_beside RUN: dies if the helper has ended otherwise than with its process; to be asked as soon as that has ended.
was_beside() {
  kill -0 "$helper" 2> /dev/null || { wait "$helper" && ! grep -q 'told to stop' "$helper_log"; } \
    || die "$1: what was to run beside it ended before it: $(tail -n 3 "$helper_log")"
}
