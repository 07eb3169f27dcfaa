/* SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0 */
/*
 * What programs do with a mapped file beside reading and writing it, which must not cost a byte of it.
 *
 *   unusual FILE ACTION
 *
 *   fork      a child unmaps the range, maps and unmaps memory of its own, and ends by exit
 *   locked    the program locks all its memory, present and future, before it maps the file
 *   cut       parts of the range get another protection, and the old one again
 *   enclosed  a reservation with the file in its middle is unmapped as a whole; then the file is mapped again
 *   moved     mremap of the range is refused, and of other memory is not
 *   over      another file, and then the same, are mapped over the range
 *   signals   SIGBUS is sent, and comes from a file that is too short: handled, left by a jump, ignored, and the end of a child
 *
 * Prints one line; exits with 1 if something was not as it should be, with 77 if the system does not permit the action.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 8192, BYTES = PAGE * PAGES };

static int fd;

static void need(int holds, const char* what) {
  if (!holds) {
    fprintf(stderr, "unusual: %s: %s\n", what, strerror(errno));
    exit(1);
  }
}

static char* map_at(void* address, int flags) {
  char* memory = mmap(address, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);
  need(memory != MAP_FAILED, "mmap");
  return memory;
}

static uint64_t content(uint64_t page, uint64_t time) { return (page << 8 | time) * 0x9E3779B97F4A7C15ULL; }

static void fill(char* memory, uint64_t time) {
  for (uint64_t page = 0; page < PAGES; page++) {
    for (uint64_t i = 0; i < PAGE / 8; i++) ((volatile uint64_t*)memory)[page * PAGE / 8 + i] = content(page, time) + i;
  }
}

static void compare(char* memory, uint64_t time) {
  uint64_t wrong = 0;
  for (uint64_t page = 0; page < PAGES; page++) {
    for (uint64_t i = 0; i < PAGE / 8; i++) wrong += ((volatile uint64_t*)memory)[page * PAGE / 8 + i] != content(page, time) + i;
  }
  errno = 0;
  need(wrong == 0, "wrong words");
}

static void compare_zeros(char* memory) {
  for (uint64_t page = 0; page < PAGES; page++) need(memory[(uint64_t)page * PAGE] == 0, "a page that is not zero");
}

static char* far;
static volatile int handled;
static sigjmp_buf before_access;

static int blocks(int signal) {
  sigset_t mask;
  need(sigprocmask(SIG_BLOCK, NULL, &mask) == 0, "sigprocmask");
  return sigismember(&mask, signal);
}

static void on_sent(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)context;
  need(info->si_code <= 0, "not sent");
  need(blocks(SIGUSR1) && !blocks(SIGUSR2), "signals that the handler blocks");
  compare(far, 1);
  handled++;
}

static void on_access(int signal) {
  (void)signal;
  siglongjmp(before_access, 1);
}

static void expect_end(int status, const char* what) {
  errno = 0;
  need(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS, what);
}

static void send_signals(const char* file) {
  struct sigaction action = {0};
  action.sa_sigaction = on_sent;
  action.sa_flags = SA_SIGINFO | SA_RESETHAND;
  sigaddset(&action.sa_mask, SIGUSR1);
  need(sigaction(SIGBUS, &action, NULL) == 0, "sigaction");
  raise(SIGBUS);
  need(handled == 1 && !blocks(SIGUSR1), "a signal that was sent");
  need(sigaction(SIGBUS, NULL, &action) == 0 && action.sa_handler == SIG_DFL, "a handler for once");

  // A mapping beyond the end of a file that is not far, and a handler that does not return.
  char name[4096];
  snprintf(name, sizeof name, "/proc/self/fd/%d", memfd_create(file, 0));
  int empty = open(name, O_RDWR);
  volatile char* nothing = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, empty, 0);
  need(empty >= 0 && nothing != MAP_FAILED, "an empty file");
  memset(&action, 0, sizeof action);
  action.sa_handler = on_access;
  need(sigaction(SIGBUS, &action, NULL) == 0, "sigaction");
  for (int i = 0; i < 3; i++) {
    if (sigsetjmp(before_access, 0) == 0) {
      (void)nothing[0];
      need(0, "an access to nothing");
    }
    need(!blocks(SIGUSR2) && !blocks(SIGTERM), "signals that are blocked after the jump");
  }

  signal(SIGBUS, SIG_IGN);
  raise(SIGBUS);
  compare(far, 1);
  signal(SIGBUS, SIG_DFL);
  for (int sent = 0; sent < 2; sent++) {
    pid_t child = fork();
    need(child >= 0, "fork");
    if (child == 0) {
      if (sent) raise(SIGBUS);
      else (void)nothing[0];
      _exit(0);
    }
    int status = 0;
    need(waitpid(child, &status, 0) == child, "waitpid");
    expect_end(status, sent ? "a child that was sent the signal" : "a child that accesses nothing");
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const char* action = argv[2];
  fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  need(fd >= 0 && ftruncate(fd, BYTES) == 0, "the file");
  if (strcmp(action, "locked") == 0 && mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    fprintf(stderr, "unusual: mlockall: %s\n", strerror(errno));
    return 77;
  }
  char* reservation = NULL;
  if (strcmp(action, "enclosed") == 0) {
    reservation = mmap(NULL, 3 * (size_t)BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    need(reservation != MAP_FAILED, "reservation");
  }
  char* memory = reservation == NULL ? map_at(NULL, 0) : map_at(reservation + BYTES, MAP_FIXED);
  fill(memory, 1);
  if (strcmp(action, "fork") == 0) {
    pid_t child = fork();
    need(child >= 0, "fork");
    if (child == 0) {
      munmap(memory, BYTES);
      char* own = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      memset(own, 1, BYTES);
      munmap(own, BYTES);
      exit(7);
    }
    int status = 0;
    need(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7, "the child");
  } else if (strcmp(action, "cut") == 0) {
    for (int part = 0; part < 3; part++) {
      char* at = memory + (part * 1000 + 13) * (size_t)PAGE;
      need(mprotect(at, 100 * PAGE, PROT_READ) == 0, "mprotect");
      compare(memory, 1);
      need(mprotect(at + 50 * PAGE, 20 * PAGE, PROT_READ | PROT_WRITE) == 0, "mprotect");
      compare(memory, 1);
      need(mprotect(at, 100 * PAGE, PROT_READ | PROT_WRITE) == 0, "mprotect");
    }
  } else if (strcmp(action, "enclosed") == 0) {
    need(munmap(reservation + BYTES / 2, BYTES) != 0 && errno == ENOTSUP, "a part of the range was unmapped");
    compare(memory, 1);
    need(munmap(reservation, 3 * (size_t)BYTES) == 0, "munmap");
    char* other = mmap(reservation, 3 * (size_t)BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    need(other == reservation, "something is left of the reservation");
    memset(other, 3, 3 * (size_t)BYTES);
    memory = map_at(NULL, 0);
    compare_zeros(memory);
    fill(memory, 2);
    for (size_t i = 0; i < 3 * (size_t)BYTES; i++) need(other[i] == 3, "ordinary memory has changed");
    compare(memory, 2);
    memory = NULL;
  } else if (strcmp(action, "moved") == 0) {
    need(mremap(memory, BYTES, 2 * (size_t)BYTES, MREMAP_MAYMOVE) == MAP_FAILED && errno == ENOTSUP, "mremap of the range");
    char* own = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(own, 5, BYTES);
    need(mremap(own, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, memory + BYTES / 2) == MAP_FAILED && errno == ENOTSUP, "mremap over the range");
    own = mremap(own, BYTES, 2 * (size_t)BYTES, MREMAP_MAYMOVE);
    need(own != MAP_FAILED && own[BYTES - 1] == 5 && own[BYTES] == 0, "mremap of ordinary memory");
  } else if (strcmp(action, "over") == 0) {
    need(map_at(memory, MAP_FIXED) == memory, "mmap over itself");
    compare_zeros(memory);
    fill(memory, 2);
    compare(memory, 2);
    need(mmap(memory, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory, "ordinary memory over it");
    memset(memory, 9, BYTES);
    memory = map_at(NULL, 0);
    compare_zeros(memory);
    fill(memory, 1);
  } else if (strcmp(action, "signals") == 0) {
    far = memory;
    send_signals("empty");
  } else if (strcmp(action, "locked") != 0) {
    return 2;
  }
  if (memory != NULL) {
    for (int time = 0; time < 3; time++) compare(memory, 1);
  }
  printf("%s: as it should be\n", action);
  return 0;
}
