/* SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0 */
/*
 * Threads that read and write paged memory, and know what must be there.
 *
 *   workload SERVERS LOCAL_BYTES PAGES PATTERN THREADS OPERATIONS [MODE [REPLICAS [TIMEOUT_MS]]]
 *   workload map FILE PAGES PATTERN THREADS OPERATIONS
 *
 * The first form maps a range with the pager's own functions; the second maps a file, and knows nothing of the pager.
 * A page's words are a function of the page, the word, and how often the page was written, which ordinary memory remembers.
 *
 *   random      own pages of each thread, anywhere; 3 of 10 operations write a page
 *   settled     the same, but each page is written once, at the beginning, and only read from then on; "settled" is said then
 *   sequential  own run of pages of each thread, one after the other, over and over
 *   shared      every thread adds one to a word of any page, atomically: nothing may be lost
 *   together    the same, of one page after the other: threads go through the same memory in order
 *
 * SIGUSR1 ends the operations early. At the end every byte of every page is compared. Prints one line of counts; exits with 1 if a byte was wrong.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef WITH_PAGER
#include "lull_far.h"
#endif

enum { PAGE = 4096, WORDS = PAGE / 8 };

static volatile uint64_t* memory;
static uint32_t* version; /* how often each page was written; of one thread, or atomic in `shared` */
static uint64_t pages, threads, operations;
static enum { RANDOM, SEQUENTIAL, SHARED } pattern;
static int in_order, settled;
static uint64_t settling;
static uint64_t wrong;
static volatile sig_atomic_t enough;

static void stop(int signal) { enough = signal; }

static uint64_t mix(uint64_t x) {
  x ^= x >> 33; x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33; x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ x >> 33;
}

/* What word `i` of a page is when it was written so often. Never written: zeros. */
static uint64_t word_of(uint64_t page, uint64_t i, uint32_t v) {
  if (pattern == SHARED) return i == mix(page) % WORDS ? v : 0;
  return v == 0 ? 0 : mix(page * 1000003 + v) + i * 0x9E3779B97F4A7C15ULL;
}

static uint64_t expected(uint64_t page, uint64_t i) {
  return word_of(page, i, __atomic_load_n(&version[page], __ATOMIC_RELAXED));
}

/* Which older version of a page has that word; -1: none. */
static int64_t older(uint64_t page, uint64_t i, uint64_t there) {
  int64_t v = version[page];
  while (--v >= 0 && word_of(page, i, v) != there) {}
  return v;
}

static void check(uint64_t page, uint64_t i) {
  uint64_t there = memory[page * WORDS + i], want = expected(page, i);
  if (there != want && __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED) < 10) {
    fprintf(stderr, "page %lu word %lu is %016lx and should be %016lx (written %u times; of version %ld)\n", page, i, there, want, version[page],
            older(page, i, there));
  }
}

static void write_page(uint64_t page) {
  version[page]++;
  for (uint64_t i = 0; i < WORDS; i++) memory[page * WORDS + i] = expected(page, i);
}

static void* work(void* argument) {
  uint64_t me = (uint64_t)argument, state = mix(me + 17), own = pages / threads;
  for (uint64_t n = 0; n < operations && !enough; n++) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    uint64_t random = state >> 24;
    if (pattern == SHARED) {
      uint64_t page = (in_order ? n : random) % pages;
      __atomic_fetch_add(&memory[page * WORDS + mix(page) % WORDS], 1, __ATOMIC_RELAXED);
      __atomic_fetch_add(&version[page], 1, __ATOMIC_RELAXED);
      continue;
    }
    uint64_t page = pattern == RANDOM ? random % own * threads + me : me * own + n % own;
    if (settled && n < own) {
      write_page(n * threads + me);
      if (n == own - 1 && __atomic_sub_fetch(&settling, 1, __ATOMIC_RELAXED) == 0) fprintf(stderr, "settled\n");
      continue;
    }
    check(page, random % WORDS);
    check(page, WORDS - 1);
    if (!settled && random % 10 < 3) write_page(page);
  }
  return NULL;
}

static void* map_file(const char* name) {
  int fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0 || ftruncate(fd, pages * PAGE) != 0) { perror(name); exit(2); }
  void* base = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) { perror("mmap"); exit(2); }
  close(fd);
  unlink(name);
  return base;
}

int main(int count, char** arguments) {
  if (count < 7) return 2;
  int file = strcmp(arguments[1], "map") == 0;
  pages = strtoull(arguments[3], NULL, 0);
  const char* name = arguments[4];
  in_order = strcmp(name, "together") == 0;
  pattern = in_order || strcmp(name, "shared") == 0 ? SHARED : strcmp(name, "sequential") == 0 ? SEQUENTIAL : RANDOM;
  settled = strcmp(name, "settled") == 0;
  settling = threads = strtoull(arguments[5], NULL, 0);
  operations = strtoull(arguments[6], NULL, 0);
  version = calloc(pages, sizeof *version);
  if (file) {
    memory = map_file(arguments[2]);
  } else {
#ifdef WITH_PAGER
    struct lull_far_options options = { .size = sizeof options, .servers = arguments[1], .key_file = getenv("LULL_FAR_KEY"),
      .spares = getenv("LULL_FAR_SPARES"),
      .flags = (getenv("LULL_FAR_SEAL") != NULL) * LULL_FAR_SEAL + (getenv("LULL_FAR_PLAIN_FRAMES") != NULL) * LULL_FAR_PLAIN_FRAMES,
      .local_bytes = strtoull(arguments[2], NULL, 0), .capacity_bytes = pages * PAGE,
      .fault_mode = count > 7 ? atoi(arguments[7]) : 0, .replicas = count > 8 ? atoi(arguments[8]) : 0,
      .server_timeout_ms = count > 9 ? atoi(arguments[9]) : 0 };
    char error[512];
    if (lull_far_start(&options, error, sizeof error) != 0 ||
        (memory = lull_far_map(pages * PAGE, NULL, error, sizeof error)) == NULL) {
      fprintf(stderr, "%s\n", error);
      return 2;
    }
#else
    return 2;
#endif
  }
  signal(SIGUSR1, stop);
  printf("started\n");
  fflush(stdout);
  pthread_t* thread = calloc(threads, sizeof *thread);
  for (uint64_t i = 0; i < threads; i++) pthread_create(&thread[i], NULL, work, (void*)i);
  for (uint64_t i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  for (uint64_t page = 0; page < pages; page++) {
    for (uint64_t i = 0; i < WORDS; i++) check(page, i);
  }
  printf("bytes compared %lu wrong words %lu", pages * PAGE, wrong);
#ifdef WITH_PAGER
  if (!file) {
    struct lull_far_statistics s;
    lull_far_get_statistics(&s);
    printf(" local %lu of %lu zero_faults %lu fetch_faults %lu second_chances %lu fetched %lu written %lu dropped_clean %lu replica_fetches %lu",
           s.local_pages, s.local_pages_limit, s.zero_faults, s.fetch_faults, s.second_chances, s.pages_fetched, s.pages_written,
           s.pages_dropped_clean, s.replica_fetches);
    lull_far_leave();
  }
#endif
  printf("\n");
  return wrong != 0;
}
