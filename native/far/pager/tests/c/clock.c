/* SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0 */
/*
 * A wall clock that a test sets, for programs that are started with this library before the others. The file that FAKE_CLOCK names has two words:
 * how many seconds are added to the time, and how often somebody has asked for it since they were set. The machine's own clock is never changed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t* words;

__attribute__((constructor)) static void begin(void) {
  const char* path = getenv("FAKE_CLOCK");
  int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void* mapped = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped != MAP_FAILED) words = mapped;
}

static int64_t ahead(void) {
  if (words == NULL) return 0;
  __atomic_fetch_add(&words[1], 1, __ATOMIC_RELAXED);
  return __atomic_load_n(&words[0], __ATOMIC_RELAXED);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead();
  return result;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  int result = (int)syscall(SYS_gettimeofday, now, zone);
  if (result == 0) now->tv_sec += ahead();
  return result;
}

time_t time(time_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != NULL) *to = now.tv_sec;
  return now.tv_sec;
}
