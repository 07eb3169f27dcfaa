# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Sourced by common.sh, and by what measures without a service: the flags of each collector, by the name that all settings give it.

# shellcheck disable=SC2034 # for those who source this
COLLECTOR_NAMES="lull, marking, stopping, g1, parallel, serial, zgc, shenandoah, genshen"

# flags_of NAME: leaves the flags in the array flags; false if no collector has that name. marking and stopping are Lull with and without concurrent
# marking, whatever is the default; genshen is generational.
flags_of() {
  case $1 in
    lull) flags=(-XX:+UseLullGC) ;;
    marking) flags=(-XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking) ;;
    stopping) flags=(-XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullConcurrentMarking) ;;
    g1) flags=(-XX:+UseG1GC) ;;
    parallel) flags=(-XX:+UseParallelGC) ;;
    serial) flags=(-XX:+UseSerialGC) ;;
    zgc) flags=(-XX:+UseZGC) ;;
    shenandoah) flags=(-XX:+UseShenandoahGC) ;;
    genshen) flags=(-XX:+UseShenandoahGC -XX:ShenandoahGCMode=generational) ;;
    *) return 1 ;;
  esac
}
