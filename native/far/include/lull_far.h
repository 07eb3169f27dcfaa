/* SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0 */
#ifndef LULL_FAR_H
#define LULL_FAR_H

/*
 * The pager: memory whose pages live on memory servers (lull-memd), with a hard bound on what is local.
 * Linux 6.7 or later, x86-64. Link with liblull_far.so, or with liblull_far.a and -lpthread -ldl -lm.
 *
 * One pager for each process. It lives until the process ends, also after a dlclose, which is not possible.
 * When the pages of a mapped range cannot be had any more (a server is lost and nobody else has them), the process writes one
 * line to standard error and ends at once with status LULL_FAR_EXIT_STATUS: no thread ever reads a wrong page.
 *
 * With LULL_FAR_IN_THREAD, the pager handles SIGBUS. Rules for the program then:
 *   - SIGBUS is blocked in no thread, and set by nobody behind the pager's back (liblull_far_preload.so sees to both);
 *   - no system call is given an address in paged memory, or it may fail with EFAULT;
 *   - a thread that uses paged memory has 16 KB of its own stack left, 24 KB with a key or LULL_FAR_SEAL: the handler does not run on
 *     an alternate signal stack;
 *   - the descriptors that the pager has opened are not closed, nor replaced by dup2 (liblull_far_preload.so sees to that, too).
 * A child of fork() has no paged memory: an access there ends it with SIGSEGV.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The status of a process whose pages are lost. */
#define LULL_FAR_EXIT_STATUS 86

enum {
  LULL_FAR_IN_THREAD = 0, /* a fault is served by the thread that has it, in a handler of SIGBUS: faster, needs no privilege */
  LULL_FAR_HANDLERS = 1   /* by threads of the pager: system calls may use paged memory; needs CAP_SYS_PTRACE or
                             vm.unprivileged_userfaultfd=1 */
};

enum {
  LULL_FAR_SEAL = 1, /* pages are sealed before they leave: servers, and who listens on the way, can neither read nor change them, nor give
                       back old ones unnoticed. 24 bytes for each page that has left, and the time to seal and to open it */
  LULL_FAR_PLAIN_FRAMES = 2 /* with a key: what passes between here and the servers is neither encrypted nor proven all the same. For
                               who has a tunnel; the servers must permit it */
};

struct lull_far_options {
  size_t      size;              /* sizeof(struct lull_far_options) */
  const char* servers;           /* "host:port,host:port", 1 to 64 of them */
  uint64_t    local_bytes;       /* the bound on local memory of all ranges together; 4 MB or more */
  uint64_t    capacity_bytes;    /* what may be mapped over the life of the process; 9 to 17 bytes of tables for each page of
                                    it in the long run, used or not */
  uint32_t    replicas;          /* servers that hold each page beside the first: 0, or 1 to survive the loss of any one server,
                                    at twice the remote memory and the traffic for writes */
  uint32_t    fault_mode;        /* LULL_FAR_IN_THREAD or LULL_FAR_HANDLERS */
  uint32_t    server_timeout_ms; /* a server that is silent for longer is lost; 0: 10000. Shorter ends waits sooner, and takes
                                    slow servers for lost ones */
  uint32_t    flags;             /* 0, or LULL_FAR_SEAL, LULL_FAR_PLAIN_FRAMES, or both */
  const char* key_file;          /* the file with the key that the servers have, too (lull-far new-key makes one); NULL: none.
                                    Options that end before this are taken, too */
  const char* spares;            /* "host:port,host:port": servers that take the places of lost ones, with replicas = 1; NULL: none.
                                    Options that end before this are taken, too */
};

/* Counts since the start. A page has 4096 bytes. */
struct lull_far_statistics {
  uint64_t local_pages;         /* now in local memory; never above the next */
  uint64_t local_pages_limit;
  uint64_t zero_faults;         /* first uses of pages */
  uint64_t fetch_faults;        /* faults that waited for a server */
  uint64_t second_chances;      /* faults on pages that were about to leave, but were still local */
  uint64_t pages_fetched;       /* with those read ahead */
  uint64_t pages_written;       /* acknowledged by the servers */
  uint64_t pages_dropped_clean; /* left local memory without being written */
  uint64_t replica_fetches;     /* fetches that a second server answered */
};

/*
 * The functions return 0 for success and -1 for failure, if nothing else is said. `error` gets one line of at most
 * `error_size` - 1 bytes that says what was wrong, and a zero; it may be NULL.
 */

/* Whether this machine permits a fault mode. */
int lull_far_probe(uint32_t fault_mode, char* error, size_t error_size);

/* Connects to all servers and starts the pager's threads. Once for each process. */
int lull_far_start(const struct lull_far_options* options, char* error, size_t error_size);

/*
 * Maps a range of zeros: rounded up to whole pages, at an address of the kernel's choice, or at `fixed`, where it replaces what is
 * mapped; a range of far memory must be unmapped before. The servers have reserved memory for all of it when this returns. NULL for
 * failure. 64 ranges at most.
 */
void* lull_far_map(size_t bytes, void* fixed, char* error, size_t error_size);

/* Unmaps a whole range. What was in it is gone, and its memory is free again, here and on the servers. No other thread may use it any more. */
int lull_far_unmap(void* address);

/* 1 if the address lies in a mapped range, else 0. Async-signal-safe. */
int lull_far_contains(const void* address);

int lull_far_get_statistics(struct lull_far_statistics* out);

/*
 * What a program knows of its pages, and the pager does not: for a collector, which knows what is garbage, and what is young. Of one part of one
 * range. All of it is of use only if the program can say it without looking at paged memory.
 */
enum {
  LULL_FAR_OTHER = 0, /* nothing is known of it: what was not used for longest leaves */
  LULL_FAR_YOUNG = 1, /* what is in it is used now, or garbage soon: it stays for as long as anything else can leave */
  LULL_FAR_UNUSED = 2 /* nobody needs what is in it: it leaves without being sent, and is zeros when it is used again */
};

/*
 * What a page is, by its first address. Called by a thread of the pager, at any time from the attaching on, until the process has ended. Takes no
 * lock, and touches no paged memory.
 *
 * LULL_FAR_UNUSED is exact: true at the moment of the answer. Whoever is about to use such a page makes the function answer otherwise before his
 * first access. All other answers are hints.
 */
typedef uint32_t (*lull_far_use)(const void* page);

/* Counts since the start, but for what is now. Later versions have more at the end. */
struct lull_far_owner_statistics {
  uint64_t local_pages;          /* as in struct lull_far_statistics: now in local memory; never above the next */
  uint64_t local_pages_limit;
  uint64_t pages_fetched;
  uint64_t pages_written;
  uint64_t pages_dropped_clean;
  uint64_t pages_dropped_unused; /* left local memory without being sent, because they were of no use */
  uint64_t pages_forgotten;      /* had left, and need not be fetched any more */
  uint64_t young_pages_passed;   /* how often a young page was passed over, so that another one left */
  uint64_t young_pages_written;  /* of the pages written: those that were young */
  uint64_t held_pages_left;      /* held pages that had to leave: there was no other */
  uint64_t zero_faults;          /* as in struct lull_far_statistics, as the next three */
  uint64_t fetch_faults;
  uint64_t second_chances;
  uint64_t replica_fetches;
  uint64_t pages_copied;         /* lost copies that were made again */
  uint64_t lost_servers;         /* now: servers whose pages, or some of them, are on one other server only; 0 without replicas */
};

struct lull_far_owner {
  size_t size; /* of this structure, as the library knows it. Later versions have more at the end */

  /* From now on the pager asks what pages from `start` on are, whole pages of one range. Once. Refused with lull-far run --no-owner. */
  int (*attach)(void* start, size_t bytes, lull_far_use function, char* error, size_t error_size);

  /*
   * What is in these bytes is of no use any more, and nobody has begun to use them again: whole pages of them that have left are not fetched when
   * that is done. Cheap: no system call. Parts of pages stay.
   */
  void (*forget)(void* start, size_t bytes);

  /* The program has given up much: what is local and LULL_FAR_UNUSED is dropped now, instead of when room is needed. Returns at once. */
  void (*trim)(void);

  /*
   * The kernel is about to be given these addresses. Returns when their pages are there; they stay for as long as anything that is not held can
   * leave, until they are released as often. Does nothing with LULL_FAR_HANDLERS, as system calls wait for pages then.
   */
  void (*hold)(const void* start, size_t bytes);
  void (*release)(const void* start, size_t bytes);

  /* Of the first `size` bytes of the structure. What this library does not know of them stays as it was. */
  int (*get_statistics)(struct lull_far_owner_statistics* out, size_t size);

  /* How many pages of who has attached are on servers, and not in local memory. Looks at each: a millisecond for some gigabytes. Structures that
     end before this are older. */
  uint64_t (*count_remote_pages)(void);
};

/* Never NULL. To be looked up by dlsym, by a program that may run without a pager. */
const struct lull_far_owner* lull_far_get_owner(void);

/*
 * What servers can do for a collector: mark the objects of its heap, whose pages they have, while the program runs. For heaps with compressed
 * references and class pointers, headers of 12 bytes, and objects aligned to 8 bytes. One cycle at a time; the functions are called by one thread
 * at a time, which may wait for servers, and touches no paged memory that they might need. What must hold so that the marks are right is the
 * collector's business: gc/lull/concurrent/lullFarMarker.hpp.
 *
 * A bitmap has a bit for each 8 bytes of the heap, 64 in a word, the lowest first: an object begins there. Words are numbered from the begin of the
 * heap. A line has 256 bytes, a block 32 KB. Functions return 0 or what is said, and -1 if a server has failed: then the cycle can only be ended.
 */
typedef void (*lull_far_words)(void* argument, uint64_t first, const uint64_t* words, size_t count);

enum {
  LULL_FAR_TRACING = 0, /* servers are at it */
  LULL_FAR_TRACED = 1,  /* nothing is left to do, and nothing is on its way between them */
  LULL_FAR_LAYOUTS = 2  /* they go on when they have the layouts of some classes */
};

struct lull_far_tracer {
  size_t size; /* of this structure, as the library knows it. Later versions have more at the end */

  /* Starts a cycle, of a heap that is a range of far memory from its begin on. A compressed reference is shifted by `narrow_shift` and added to
     `narrow_base`. */
  int (*begin)(void* start, size_t bytes, uint64_t narrow_base, uint32_t narrow_shift);

  /* These objects are old. A reference to anything else is not followed, and nothing else is looked at but roots. Before the first root. */
  int (*old)(uint64_t first_word, const uint64_t* words, size_t count);

  /* Sends what is dirty here of blocks from this one on, a byte for each, 0 if nobody needs it. Pages stay local. What the servers have of a page afterwards it
     was at some moment since the call, or became later. Returns how many pages were sent. */
  int64_t (*clean)(uint64_t first_block, const uint8_t* blocks, size_t count);

  /* Addresses of objects to mark, whose pages are clean or were not written to since they were cleaned. At any time. */
  int (*roots)(const uint64_t* objects, size_t count);

  /* LULL_FAR_TRACING, LULL_FAR_TRACED or LULL_FAR_LAYOUTS: then `classes` has compressed class pointers, `room` at most, and `count` how many. */
  int (*poll)(uint32_t* classes, size_t room, size_t* count);

  /* Layouts as in the frame LAYOUT of the protocol, without their number. */
  int (*layouts)(const uint8_t* layouts, size_t bytes);

  /* If all is traced: objects that servers have listed since the last call, `room` at most. References, whose referents were not followed, and what
     was said to be like them; and mirrors of which no server can read how long they are. Returns how many. */
  int64_t (*listed)(uint64_t* objects, size_t room);

  /* If all is traced: what is marked; the lines of that but for what is listed; and how many words of each block that takes, 16 bits for each of four
     blocks in a word. `visit` gets pieces in any order, to be put together: marks and lines by or, words of blocks by adding. */
  int (*marks)(lull_far_words visit, void* argument);
  int (*lines)(lull_far_words visit, void* argument);
  int (*live)(lull_far_words visit, void* argument);

  /* Ends the cycle. */
  void (*end)(void);

  /* Why the last function that has failed did: one line. */
  void (*failure)(char* text, size_t size);
};

/* NULL if the program was not started with lull-far run --trace. To be looked up by dlsym, after the heap was mapped. */
const struct lull_far_tracer* lull_far_get_tracer(void);

/* Gives all regions back to the servers, instead of when the servers' --linger is over. For the end of the process. */
void lull_far_leave(void);

#ifdef __cplusplus
}
#endif

#endif /* LULL_FAR_H */
