/* SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0 */
#ifndef LULL_STALL_H
#define LULL_STALL_H

/*
 * The file between the sensor (lull-stall) and who reads it (a JVM, lull-budget): how long the threads of one process have been
 * stalled on I/O. The sensor writes it every period; readers map it read-only and read it without a system call.
 *
 * The file is a header and `row_capacity` rows of `row_size` bytes behind `header_size` bytes. Numbers are in the byte order of the machine.
 * Times are in nanoseconds and never decrease. What `fields` does not name is not measured by this source, and 0.
 *
 * To read: take `sequence`; if it is odd, take it again; copy what is wanted; if `sequence` has changed meanwhile, begin again. (Loads of
 * 8 bytes; acquire for the first load of `sequence`, an acquire fence before the second.)
 * The sensor is lost if `updated_ns` is more than 10 periods and more than one second old; the process has ended if LULL_STALL_ENDED is set.
 * A reader that finds another magic, version or start of the process does not use the file. Later versions append fields to the header
 * and to rows; a reader steps by `header_size` and `row_size`.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_STALL_MAGIC   UINT64_C(0x4c4c4154534c554c) /* "LULSTALL" in memory order */
#define LULL_STALL_VERSION 1

/* The sources, best first. Those from LULL_STALL_READS on are estimates. */
enum {
  LULL_STALL_BPF       = 1, /* eBPF on sched_switch: each sleep of each thread, without its wait for a processor */
  LULL_STALL_DELAYACCT = 2, /* the kernel's delay accounting, with the wait for a processor in it */
  LULL_STALL_READS     = 3, /* bytes that the process read from devices x what a byte took there, or PSI if that is more */
  LULL_STALL_PSI       = 4, /* pressure on I/O of its cgroup: time in which at least one task was stalled; at most the time itself */
  LULL_STALL_FAULTS    = 5  /* major faults x what a read took: mapped files only */
};

/* Bits of `fields`. */
enum {
  LULL_STALL_FIELD_IO           = 1 << 0, /* io_ns */
  LULL_STALL_FIELD_SLEEPS       = 1 << 1, /* io_sleeps */
  LULL_STALL_FIELD_REFAULT      = 1 << 2, /* refault_ns */
  LULL_STALL_FIELD_BLOCKED      = 1 << 3, /* blocked_ns */
  LULL_STALL_FIELD_ASYNC        = 1 << 4, /* async_ns */
  LULL_STALL_FIELD_RUNQUEUE     = 1 << 5, /* runqueue_ns */
  LULL_STALL_FIELD_READ_BYTES   = 1 << 6, /* read_bytes */
  LULL_STALL_FIELD_MAJOR_FAULTS = 1 << 7, /* major_faults */
  LULL_STALL_FIELD_ROWS         = 1 << 8  /* there is a row for each thread that has slept */
};

/* Bits of `flags`. */
enum {
  LULL_STALL_ENDED     = 1 << 0, /* the process has ended; the file is not written any more */
  LULL_STALL_ROWS_FULL = 1 << 1, /* more threads than rows: some have none and are not in the totals either */
  LULL_STALL_STOPPED   = 1 << 2  /* the sensor was told to stop */
};

/* What has been counted since the sensor's start, of one thread or of the whole process. */
struct lull_stall_counts {
  uint64_t io_ns;       /* asleep for I/O, uninterruptibly: reads, faults on mapped files, direct I/O, writes that wait */
  uint64_t io_sleeps;   /* how often */
  uint64_t refault_ns;  /* the part of io_ns for pages that were in the page cache not long ago. A hint: maps with MADV_RANDOM are not in it */
  uint64_t blocked_ns;  /* asleep uninterruptibly for something else: kernel locks, vfork, some network file systems */
  uint64_t async_ns;    /* asleep, interruptibly, while the kernel counts it as a wait for I/O: io_uring, even if only sockets are waited for */
  uint64_t runqueue_ns; /* ready to run, without a processor. In a row it is since the thread's start, as of when it left a processor the last time */
};

struct lull_stall_header {
  uint64_t magic;
  uint32_t version;
  uint32_t header_size;
  uint32_t row_size;
  uint32_t row_capacity;
  uint32_t pid;           /* as the sensor sees it */
  uint32_t source;
  uint64_t process_start; /* clock ticks from the boot to the start of the process: field 22 of /proc/PID/stat */
  uint64_t period_ns;     /* between two updates */
  uint32_t fields;
  uint32_t flags;
  uint64_t sequence;      /* odd while the sensor writes what follows, and flags */
  uint64_t updated_ns;    /* CLOCK_MONOTONIC */
  struct lull_stall_counts total;
  uint64_t read_bytes;    /* from devices, by the process: field read_bytes of /proc/PID/io */
  uint64_t major_faults;  /* of the process */
  uint32_t rows;          /* those that are in use come first */
  uint32_t reserved;
};

struct lull_stall_row {
  uint32_t host_tid; /* as the sensor sees it */
  uint32_t tid;      /* as the thread sees it: gettid() */
  struct lull_stall_counts counts;
};

#ifdef __cplusplus
}
#endif

#endif /* LULL_STALL_H */
