// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

// parent FILE: maps a file, uses it, and ends in order. Its child, of fork without exec, lives until its standard input ends, and then says so.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES (8 << 20)

int main(int count, char** arguments) {
  if (count != 2) return 2;
  int file = open(arguments[1], O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, BYTES) != 0) return perror("the file"), 1;
  char* far = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (far == MAP_FAILED) return perror("mmap"), 1;
  memset(far, 1, BYTES);
  pid_t child = fork();
  if (child < 0) return perror("fork"), 1;
  if (child == 0) {
    char byte;
    if (read(0, &byte, 1) != 0) _exit(1);
    static const char said[] = "the child ends\n";
    _exit(write(1, said, sizeof(said) - 1) == sizeof(said) - 1 ? 0 : 1);
  }
  return 0;
}
