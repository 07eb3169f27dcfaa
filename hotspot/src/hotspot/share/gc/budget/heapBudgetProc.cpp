/*
 * Copyright (c) 2026, the Lull authors. All rights reserved.
 * DO NOT ALTER OR REMOVE COPYRIGHT NOTICES OR THIS FILE HEADER.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation.  The Lull authors designate
 * this particular file as subject to the "Classpath" exception as provided
 * in the LICENSE file that accompanied this code.
 *
 * This code is distributed in the hope that it will be useful, but WITHOUT
 * ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
 * FITNESS FOR A PARTICULAR PURPOSE.  See the GNU General Public License
 * version 2 for more details (a copy is included in the LICENSE file that
 * accompanied this code).
 *
 * You should have received a copy of the GNU General Public License version
 * 2 along with this work; if not, write to the Free Software Foundation,
 * Inc., 51 Franklin St, Fifth Floor, Boston, MA 02110-1301 USA.
 */

#include "gc/budget/heapBudgetProc.hpp"
#include "runtime/os.hpp"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool HeapBudgetProc::read(const char* path, char* text, size_t size) {
  FILE* const file = os::fopen(path, "r");
  if (file == nullptr) {
    return false;
  }
  const size_t length = fread(text, 1, size - 1, file);
  const bool failed = ferror(file) != 0;
  fclose(file);
  text[length] = '\0';
  return !failed && length > 0;
}

bool HeapBudgetProc::number(const char* text, const char* name, uint64_t* value) {
  const size_t length = strlen(name);
  for (const char* line = text; line != nullptr; line = strchr(line, '\n')) {
    if (*line == '\n') {
      line++;
    }
    if (strncmp(line, name, length) == 0 && (line[length] == ' ' || line[length] == ':')) {
      const char* at = line + length + 1;
      while (*at == ' ' || *at == '\t') {
        at++;
      }
      if (isdigit((unsigned char)*at)) {
        *value = strtoull(at, nullptr, 10);
        return true;
      }
    }
  }
  return false;
}

bool HeapBudgetProc::stat_field(int field, uint64_t* value) {
  char text[1024];
  if (!read("/proc/self/stat", text, sizeof(text))) {
    return false;
  }
  // The second is the program's name in parentheses, which may have anything in it.
  const char* at = strrchr(text, ')');
  for (int i = 2; at != nullptr && i < field; i++) {
    at = strchr(at + 1, ' ');
  }
  if (at == nullptr || !isdigit((unsigned char)at[1])) {
    return false;
  }
  *value = strtoull(at + 1, nullptr, 10);
  return true;
}
