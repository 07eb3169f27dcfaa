// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// What HotSpot's assert() and its basic types call, for the unit tests that run without a VM (unit-tests.sh): a failed
// assertion says where and aborts.

#include "utilities/debug.hpp"
#include "utilities/globalDefinitions.hpp"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

[[noreturn]] static void die(const char* file, int line, const char* what, const char* format, va_list* args) {
  fprintf(stderr, "%s:%d: %s", file, line, what);
  if (format != nullptr) {
    fputs(": ", stderr);
    vfprintf(stderr, format, *args);
  }
  fputc('\n', stderr);
  abort();
}

[[noreturn]] static void die(const char* file, int line, const char* what) {
  die(file, line, what, nullptr, nullptr);
}

#ifdef CAN_SHOW_REGISTERS_ON_ASSERT
static char poison;
char* g_assert_poison = &poison;
const char* g_assert_poison_read_only = &poison;
#endif

int DebuggingContext::_enabled = 0;

// As in globalDefinitions.cpp, for a 64-bit VM with 8-byte object alignment.
int LogBytesPerHeapOop   = 2;
int LogBitsPerHeapOop    = 5;
int BytesPerHeapOop      = 4;
int BitsPerHeapOop       = 32;
int LogMinObjAlignment        = 0;
int LogMinObjAlignmentInBytes = 3;
int MinObjAlignment           = 1;
int MinObjAlignmentInBytes    = 8;
int MinObjAlignmentInBytesMask = 7;

void report_vm_error(const char* file, int line, const char* error_msg) { die(file, line, error_msg); }

void report_vm_error(const char* file, int line, const char* error_msg, const char* detail_fmt, ...) {
  va_list args;
  va_start(args, detail_fmt);
  die(file, line, error_msg, detail_fmt, &args);
}

void report_vm_status_error(const char* file, int line, const char* error_msg, int, const char*) { die(file, line, error_msg); }

void report_fatal(VMErrorType, const char* file, int line, const char* detail_fmt, ...) {
  va_list args;
  va_start(args, detail_fmt);
  die(file, line, "fatal error", detail_fmt, &args);
}

void report_vm_out_of_memory(const char* file, int line, size_t, VMErrorType, const char* detail_fmt, ...) {
  va_list args;
  va_start(args, detail_fmt);
  die(file, line, "out of memory", detail_fmt, &args);
}

void report_should_not_call(const char* file, int line)       { die(file, line, "should not be called"); }
void report_should_not_reach_here(const char* file, int line) { die(file, line, "should not be reached"); }
void report_unimplemented(const char* file, int line)         { die(file, line, "not implemented"); }
void report_untested(const char* file, int line, const char*) { die(file, line, "untested"); }

extern "C" void breakpoint() {}
