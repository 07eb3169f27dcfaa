/* SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0 */

/*
 * The gate's beacon: whether a JVM is stopped, for load balancers and clients on the same host that rather ask before they send.
 *
 * The file that the agent's option beacon=PATH names holds one struct lull_gate_beacon, to be mapped shared and read-only. It is put in
 * place whole (by rename), so that a file that is there is complete; after a restart of the JVM the path names another file, and
 * the old one says LULL_GATE_ENDED.
 */

#ifndef LULL_GATE_H
#define LULL_GATE_H

#include <stdint.h>

#define LULL_GATE_MAGIC UINT64_C(0x455441474c4c554c) /* "LULLGATE" in memory, on a little-endian machine */
#define LULL_GATE_VERSION 1

#define LULL_GATE_RUNS UINT64_C(0)
#define LULL_GATE_ENDED UINT64_MAX

struct lull_gate_beacon {
  uint64_t magic;      /* LULL_GATE_MAGIC */
  uint32_t version;    /* LULL_GATE_VERSION; readers refuse others */
  uint32_t size;       /* of this struct, bytes; later versions only grow */
  uint64_t process;    /* the JVM's process id, in its own namespace */

  /*
   * The word: LULL_GATE_RUNS, LULL_GATE_ENDED, or the time until which the pause that is under way is expected to last:
   * CLOCK_MONOTONIC, nanoseconds. While it is not LULL_GATE_RUNS, the JVM answers nothing, also when that time has passed: then the
   * pause is longer than expected, and the next time is about to be written. Written by the gate's thread only, by a system call;
   * read it with one atomic load, relaxed, for nothing else depends on it. Whoever must never act on a word that is half written loads until
   * two loads one after the other are equal.
   */
  uint64_t busy_until;

  /* How many pauses have been announced. A reader that saw the word change between two looks may compare. Atomic, relaxed. */
  uint64_t pauses;
};

#endif /* LULL_GATE_H */
