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
 *   broken    SIGBUS tells of broken memory, which is the program's to handle
 *   old       handlers and masks are set by the functions of System V and BSD
 *   vforked   a child of vfork has handlers and descriptors of its own
 *   blocked   the program is started with SIGBUS blocked
 *   cleared   the environment is empty before the file is mapped
 *   small     a small file is mapped first
 *   transfer  a read with room for more than there is memory, a write of more than goes at once
 *   closed    everything that is open is closed, and replaced, again and again
 *   forbidden the same where the kernel refuses close_range
 *   without   two files are mapped while standard input, output and error are closed
 *   threads   the pager's threads take no signal
 *   advice    advice that would free pages of the file, or give them to children
 *   places    the file at a place that must be free, and over the range what cannot be mapped
 *
 * Prints one line; exits with 1 if something was not as it should be, with 77 if the system does not permit the action.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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
  // What is ignored does not end a system call.
  int ends[2];
  need(pipe(ends) == 0, "pipe");
  pid_t sender = fork();
  need(sender >= 0, "fork");
  if (sender == 0) {
    for (int i = 0; i < 5; i++) {
      usleep(20000);
      kill(getppid(), SIGBUS);
    }
    usleep(20000);
    _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
  }
  char byte;
  need(read(ends[0], &byte, 1) == 1, "a read while an ignored signal comes");
  need(waitpid(sender, NULL, 0) == sender, "waitpid");
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

static volatile int code;

static void on_broken(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)context;
  code = info->si_code;
}

static void on_signal(int signal) {
  (void)signal;
  compare(far, 1);
  handled++;
}

// Only to itself may a process send what else the kernel says.
static void say_broken(int how, char* where) {
  siginfo_t info = {0};
  info.si_signo = SIGBUS;
  info.si_code = how;
  info.si_addr = where;
  need(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGBUS, &info) == 0, "rt_tgsigqueueinfo");
}

static void break_memory(void) {
  struct sigaction action = {0};
  action.sa_sigaction = on_broken;
  action.sa_flags = SA_SIGINFO;
  need(sigaction(SIGBUS, &action, NULL) == 0, "sigaction");
  int codes[] = {BUS_MCEERR_AR, BUS_MCEERR_AO};
  for (int i = 0; i < 2; i++) {
    code = 0;
    say_broken(codes[i], far + 7 * PAGE);
    errno = 0;
    need(code == codes[i], "broken memory that is handled");
  }
  signal(SIGBUS, SIG_IGN);
  say_broken(BUS_MCEERR_AO, far);
  compare(far, 1);
  signal(SIGBUS, SIG_DFL);
  pid_t child = fork();
  need(child >= 0, "fork");
  if (child == 0) {
    say_broken(BUS_MCEERR_AO, far);
    _exit(0);
  }
  int status = 0;
  need(waitpid(child, &status, 0) == child, "waitpid");
  expect_end(status, "a child that is told of broken memory");
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static int bit(int signal) { return 1 << (signal - 1); }

static void old_functions(void) {
  errno = 0;
  need(sysv_signal(SIGBUS, on_signal) == SIG_DFL, "sysv_signal");
  raise(SIGBUS);
  need(handled == 1, "a signal for once");
  struct sigaction now;
  need(sigaction(SIGBUS, NULL, &now) == 0 && now.sa_handler == SIG_DFL, "a handler for once");
  need(sigset(SIGBUS, on_signal) == SIG_DFL, "sigset");
  need(sigset(SIGBUS, SIG_HOLD) == on_signal && !blocks(SIGBUS), "sigset that holds");
  raise(SIGBUS);
  need(handled == 2, "a handler of sigset");
  need(sigset(SIGUSR1, SIG_HOLD) == SIG_DFL && blocks(SIGUSR1), "sigset that holds another");
  need(sighold(SIGBUS) == 0 && sighold(SIGUSR2) == 0 && !blocks(SIGBUS) && blocks(SIGUSR2), "sighold");
  need(sigblock(bit(SIGBUS) | bit(SIGHUP)) >= 0 && !blocks(SIGBUS) && blocks(SIGHUP), "sigblock");
  need((sigsetmask(bit(SIGBUS) | bit(SIGINT)) & bit(SIGHUP)) != 0 && !blocks(SIGBUS) && blocks(SIGINT), "sigsetmask");
  compare(far, 1);
  need(sigignore(SIGBUS) == 0, "sigignore");
  raise(SIGBUS);
  need(signal(SIGBUS, SIG_DFL) == SIG_IGN && handled == 2, "a signal that is ignored");
}

static int count_open(void) {
  int count = 0;
  for (int i = 3; i < 1000; i++) count += fcntl(i, F_GETFD) >= 0;
  return count;
}

// Calls a function for each other thread, all of which are the pager's.
static int each_other_thread(void (*look)(const char* directory)) {
  DIR* tasks = opendir("/proc/self/task");
  need(tasks != NULL, "/proc/self/task");
  int count = 0;
  for (struct dirent* task; (task = readdir(tasks)) != NULL;) {
    if (task->d_name[0] == '.' || atoi(task->d_name) == gettid()) continue;
    char directory[300];
    snprintf(directory, sizeof directory, "/proc/self/task/%s", task->d_name);
    look(directory);
    count++;
  }
  closedir(tasks);
  return count;
}

static void take_no_signal(const char* directory) {
  char name[400], line[400];
  unsigned long long blocked = 0;
  snprintf(name, sizeof name, "%s/status", directory);
  FILE* status = fopen(name, "r");
  need(status != NULL, name);
  while (fgets(line, sizeof line, status) != NULL) sscanf(line, "SigBlk: %llx", &blocked);
  fclose(status);
  // All but those with which the C library changes the user of all threads, and ends one.
  need((blocked & bit(SIGBUS)) != 0 && (blocked & bit(SIGTERM)) != 0 && (blocked >> 31 & 3) == 0, "signals that a thread takes");
}

static void see_descriptor(const char* directory) {
  char name[400];
  snprintf(name, sizeof name, "%s/fd/600", directory);
  need(access(name, F_OK) == 0, "a descriptor that another thread has not");
}

static void close_all(int forbidden) {
  int before = count_open();
  need(before > 2, "descriptors");
  // What is not far memory's goes, whatever the way.
  for (int way = 0; way < 4; way++) {
    if (way >= 2 && forbidden) {
      need(close_range(3, ~0U, 0) != 0 && errno == EPERM, "close_range that is forbidden");
      break;
    }
    int own = dup3(0, 500 + way, O_CLOEXEC);
    need(own == 500 + way, "dup3");
    for (int i = 3; way == 0 && i < 1000; i++) close(i);
    if (way == 1) closefrom(3);
    if (way == 2) need(close_range(3, ~0U, 0) == 0, "close_range");
    if (way == 3) {
      need(close_range(3, ~0U, CLOSE_RANGE_UNSHARE) == 0, "close_range that unshares");
      need(dup3(0, 600, O_CLOEXEC) == 600 && each_other_thread(see_descriptor) > 1 && close(600) == 0, "descriptors of all threads");
    }
    need(fcntl(own, F_GETFD) < 0 && errno == EBADF, "a descriptor that is closed");
    compare(far, 1);
  }
  int refused = 0;
  for (int i = 3; i < 1000; i++) {
    if (fcntl(i, F_GETFD) < 0) continue;
    need(dup2(1, i) < 0 && errno == EBADF && dup3(1, i, 0) < 0 && errno == EBADF, "dup2 over far memory's");
    refused++;
  }
  errno = 0;
  need(refused > 2 && refused < before, "far memory's descriptors");
  compare(far, 1);
  // A child of vfork may do what it likes with its copies; one of fork has none.
  for (int vforked = 0; vforked < 2; vforked++) {
    pid_t child = vforked ? vfork() : fork();
    need(child >= 0, "fork");
    if (child == 0) {
      int placed = 0;
      for (int i = 3; i < 1000; i++) placed += fcntl(i, F_GETFD) >= 0 && dup2(1, i) == i;
      closefrom(3);
      _exit(placed == (vforked ? refused : 0) && count_open() == 0 ? 9 : 1);
    }
    int status = 0;
    need(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 9, "a child that closes");
    compare(far, 1);
  }
}

static void forbid_close_range(void) {
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "a filter");
}

static char* map_small(const char* name) {
  char longer[4096];
  snprintf(longer, sizeof longer, "%s-small", name);
  int small = open(longer, O_RDWR | O_CREAT, 0600);
  need(small >= 0 && ftruncate(small, 1 << 20) == 0, "the small file");
  char* memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, small, 0);
  need(memory != MAP_FAILED, "mmap of the small file");
  return memory;
}

// Nobody but this program may have the numbers of what it has closed: it writes to them what it says.
static char* map_without_standard_error(const char* name) {
  int saved[3];
  for (int i = 0; i < 3; i++) saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 200);
  // The file is open already, so that these are free when the pager starts.
  for (int i = 0; i < 3; i++) close(i);
  char* memory = map_at(NULL, 0);
  int small = memfd_create("small", 0);
  close(small);
  int taken = 0;
  for (int i = 0; i < 3; i++) taken += fcntl(i, F_GETFD) >= 0 || write(i, "words", 5) >= 0;
  for (int i = 0; i < 2; i++) dup2(saved[i], i);
  char* second = map_small(name);
  // That of the small file itself is this program's.
  close(2);
  char* third = mmap(NULL, BYTES / 2, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  taken += fcntl(2, F_GETFD) >= 0 || write(2, "words", 5) >= 0;
  dup2(saved[2], 2);
  need(small == 0 && taken == 0, "standard input, output or error is far memory's");
  need(second[0] == 0 && third != MAP_FAILED && third[0] == 0 && munmap(third, BYTES / 2) == 0, "far memory that is not zero");
  return memory;
}

static void transfer(void) {
  int ends[2];
  need(pipe(ends) == 0 && write(ends[1], far + 3 * PAGE, 3) == 3, "pipe");
  need(read(ends[0], far + 3 * PAGE, (size_t)64 << 30) == 3, "a read with much room");
  enum { WRITTEN = 9 << 20 };
  pid_t child = fork();
  need(child >= 0, "fork");
  if (child == 0) {
    close(ends[1]);
    uint64_t words[512], count = 0, wrong = 0;
    for (size_t had = 0;;) {
      ssize_t got = read(ends[0], (char*)words + had, sizeof words - had);
      if (got <= 0) break;
      had += got;
      if (had < sizeof words) continue;
      for (uint64_t i = 0; i < 512; i++) wrong += words[i] != content(count / 512, 1) + i, count++;
      had = 0;
    }
    _exit(wrong == 0 && count == WRITTEN / 8 ? 9 : 1);
  }
  close(ends[0]);
  need(write(ends[1], far, WRITTEN) == WRITTEN, "a long write");
  close(ends[1]);
  int status = 0;
  need(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 9, "what was written");
}

static void* map_with(void* address, int protection, int flags, int file, off_t offset) {
  return mmap(address, BYTES, protection, flags, file, offset);
}

static char* take_places(const char* name) {
  int readable = PROT_READ | PROT_WRITE;
  need(map_with(far, readable, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0) == MAP_FAILED && errno == EEXIST, "a place that is taken");
  need(map_with(far, readable, MAP_SHARED | MAP_FIXED | MAP_FIXED_NOREPLACE, fd, 0) == MAP_FAILED && errno == EEXIST, "the same");
  // What fails leaves the range as it was.
  int read_only = open(name, O_RDONLY);
  need(read_only >= 0, "open");
  need(map_with(far, PROT_READ, MAP_PRIVATE | MAP_FIXED, 999, 0) == MAP_FAILED && errno == EBADF, "no file");
  need(map_with(far, PROT_READ, MAP_PRIVATE | MAP_FIXED, read_only, 7) == MAP_FAILED && errno == EINVAL, "a crooked offset");
  need(map_with(far, readable, MAP_SHARED | MAP_FIXED, fd, PAGE) == MAP_FAILED && errno == ENOTSUP, "the middle of the file");
  need(mmap(far, 0, readable, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED && errno == EINVAL, "nothing");
  need(mmap(far, BYTES, readable, MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED && errno == EINVAL, "neither shared nor private");
  // Where no huge page begins, large or small.
  char* crooked = (uintptr_t)far % (2 << 20) == 0 ? far - PAGE : far;
  need(mmap(crooked, BYTES + PAGE, readable, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_FIXED, -1, 0) == MAP_FAILED, "huge pages");
  compare(far, 1);
  // A part of the range is not replaced by a shared file, also if it is said in the newer way.
  int other = memfd_create("other", 0);
  need(other >= 0 && ftruncate(other, BYTES) == 0, "memfd_create");
  need(mmap(far + PAGE, PAGE, readable, MAP_SHARED_VALIDATE | MAP_FIXED, other, 0) == MAP_FAILED && errno == ENOTSUP, "a part");
  compare(far, 1);
  // The file in the newer way, at a place that must be free and is.
  char* place = map_with(NULL, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  need(place != MAP_FAILED && munmap(place, BYTES) == 0 && munmap(far, BYTES) == 0, "munmap");
  char* again = map_with(place, readable, MAP_SHARED_VALIDATE | MAP_FIXED_NOREPLACE, fd, 0);
  need(again == place, "a place that is free");
  compare_zeros(again);
  fill(again, 1);
  return again;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const char* action = argv[2];
  if (strcmp(action, "blocked") == 0) {
    uint64_t mask = 1 << (SIGBUS - 1);
    uint64_t before = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, &before, sizeof mask);
    if ((before & mask) == 0 && getenv("STARTED") == NULL) {
      setenv("STARTED", "1", 1);
      execv("/proc/self/exe", argv);
    }
    need((before & mask) == 0, "SIGBUS is blocked");
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, sizeof mask);
  }
  if (strcmp(action, "cleared") == 0) clearenv();
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
  if (strcmp(action, "small") == 0) {
    memset(map_small(argv[1]), 1, 1 << 20);
  }
  char* memory;
  if (strcmp(action, "without") == 0) memory = map_without_standard_error(argv[1]);
  else memory = reservation == NULL ? map_at(NULL, 0) : map_at(reservation + BYTES, MAP_FIXED);
  fill(memory, 1);
  far = memory;
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
    send_signals("empty");
  } else if (strcmp(action, "broken") == 0) {
    break_memory();
  } else if (strcmp(action, "old") == 0) {
    old_functions();
  } else if (strcmp(action, "vforked") == 0) {
    need(signal(SIGBUS, on_signal) == SIG_DFL, "signal");
    pid_t child = vfork();
    need(child >= 0, "vfork");
    if (child == 0) {
      signal(SIGBUS, SIG_DFL);
      raise(SIGBUS);
      _exit(0);
    }
    int status = 0;
    need(waitpid(child, &status, 0) == child, "waitpid");
    expect_end(status, "a child that was sent the signal");
    raise(SIGBUS);
    need(handled == 1, "the parent's handler");
  } else if (strcmp(action, "transfer") == 0) {
    transfer();
  } else if (strcmp(action, "closed") == 0) {
    close_all(0);
  } else if (strcmp(action, "forbidden") == 0) {
    forbid_close_range();
    close_all(1);
  } else if (strcmp(action, "threads") == 0) {
    need(each_other_thread(take_no_signal) > 1, "the pager's threads");
    // The C library waits for each of them.
    need(setuid(getuid()) == 0, "setuid");
  } else if (strcmp(action, "advice") == 0) {
    need(madvise(memory + PAGE, PAGE, MADV_REMOVE) != 0 && errno == ENOTSUP, "MADV_REMOVE");
    need(madvise(memory, BYTES, MADV_DOFORK) != 0 && errno == ENOTSUP, "MADV_DOFORK");
    need(madvise(memory, BYTES, MADV_DONTNEED) == 0, "MADV_DONTNEED");
    need(madvise(memory + PAGE, 0, MADV_REMOVE) == 0, "MADV_REMOVE of nothing");
    need(munmap(memory + PAGE, 0) != 0 && errno == EINVAL, "munmap of nothing");
    int other = memfd_create("other", 0);
    need(other >= 0 && ftruncate(other, PAGE) == 0, "memfd_create");
    char* own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);
    need(own != MAP_FAILED, "mmap");
    own[0] = 1;
    need(madvise(own, PAGE, MADV_REMOVE) == 0 && own[0] == 0, "MADV_REMOVE of other memory");
  } else if (strcmp(action, "places") == 0) {
    memory = take_places(argv[1]);
  } else if (strcmp(action, "locked") != 0 && strcmp(action, "blocked") != 0 && strcmp(action, "cleared") != 0 && strcmp(action, "small") != 0
             && strcmp(action, "without") != 0) {
    return 2;
  }
  if (memory != NULL) {
    for (int time = 0; time < 3; time++) compare(memory, 1);
  }
  printf("%s: as it should be\n", action);
  return 0;
}
