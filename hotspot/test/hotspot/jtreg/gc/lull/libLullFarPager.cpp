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
 *
 */

#include <jni.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

// Plays the pager for TestFarHeap, in the process, as native/far/include/lull_far.h describes it: it is loaded before
// the program, has the two functions that the VM looks up, and asks what pages are, as often as it can. All pages stay;
// so it can compare what is said of them with what becomes of them:
//
//   Gone      what is of no use is made zeros when a pause begins and when it ends, as by the worst pager that is
//             permitted. What is needed all the same is missed by the heap's verifier, or by the program.
//   Written   a page that is of no use, was not forgotten and is of no use still has the contents that it had, in the
//             same epoch.
//   Taken     whoever forgets has taken the blocks, all of them; or has given them back, and trims.
//   Held      what is released was held; nothing held is of no use.
//
// An epoch is what lies between two wipings: a pause, or what is between two pauses.

static const size_t PAGE = 4096;

enum : uint32_t { OTHER = 0, YOUNG = 1, UNUSED = 2 };

typedef uint32_t (*Use)(const void* page);

// The VM's copy of this is lullFarPager.hpp.
struct Statistics {
  uint64_t counts[16];
};

struct Pager {
  size_t size;
  int  (*attach)(void* start, size_t bytes, Use function, char* error, size_t error_size);
  void (*forget)(void* start, size_t bytes);
  void (*trim)(void);
  void (*hold)(const void* start, size_t bytes);
  void (*release)(const void* start, size_t bytes);
  int  (*get_statistics)(Statistics* out, size_t size);
  uint64_t (*count_remote)(void);
};

// Of one page.
struct Seen {
  std::atomic<uint32_t> forgotten;   // how often; by who takes or gives back its block
  std::atomic<int32_t>  held;        // by who pins an array
  bool                  is_unused;   // the rest is the asking thread's: what it has last seen
  uint32_t              forgotten_then;
  uint32_t              epoch;
  uint64_t              contents;
};

// Set by attach, while the VM starts.
static char* base;
static size_t pages;
static Use use_of;
static Seen* seen;

static std::atomic<uint32_t> epoch;         // odd while pages are wiped; by the VM thread
static std::atomic<uint64_t> wiped;
static std::atomic<uint64_t> forgotten;     // pages
static std::atomic<uint64_t> trims;
static std::atomic<uint64_t> answers[3];    // of the asking thread
static std::atomic<bool>     asking;
static pthread_t             asking_thread;
static thread_local bool     must_trim;     // the thread has given blocks back

static pthread_mutex_t complaints = PTHREAD_MUTEX_INITIALIZER;
static char complaint[256];                 // the first one

static void complain(const char* format, ...) {
  pthread_mutex_lock(&complaints);
  if (complaint[0] == '\0') {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(complaint, sizeof(complaint), format, arguments);
    va_end(arguments);
    fprintf(stderr, "The pager complains: %s\n", complaint);
  }
  pthread_mutex_unlock(&complaints);
}

static char* address_of(size_t page) {
  return base + page * PAGE;
}

static uint32_t ask(size_t page) {
  const uint32_t use = use_of(address_of(page));
  if (use > UNUSED) {
    complain("Answers: page %zu is %u", page, use);
    return OTHER;
  }
  return use;
}

// The pages of which these bytes have any: false, and a complaint, if they are not of the heap.
static bool range_of(const void* start, size_t bytes, size_t* first, size_t* end) {
  const char* const at = (const char*)start;
  if (at < base || at + bytes > base + pages * PAGE) {
    complain("Range: %zu bytes at %p", bytes, start);
    return false;
  }
  *first = (at - base) / PAGE;
  *end = (at - base + bytes + PAGE - 1) / PAGE;
  return true;
}

// ---- What the VM calls

static int attach(void* start, size_t bytes, Use function, char* error, size_t error_size) {
  base = (char*)start;
  pages = bytes / PAGE;
  seen = (Seen*)calloc(pages, sizeof(Seen));
  use_of = function;
  return 0;
}

static void forget(void* start, size_t bytes) {
  size_t first, end;
  if (must_trim) {
    complain("Taken: blocks were given back without being trimmed");
  }
  if (!range_of(start, bytes, &first, &end)) {
    return;
  }
  size_t unused = 0;
  for (size_t page = first; page < end; page++) {
    unused += ask(page) == UNUSED ? 1 : 0;
    seen[page].forgotten.fetch_add(1);
  }
  if (unused != 0 && unused != end - first) {
    complain("Taken: %zu of the %zu pages from %zu on are of no use, and are taken", unused, end - first, first);
  }
  must_trim = unused != 0;
  forgotten += end - first;
}

static void trim() {
  must_trim = false;
  trims++;
}

static void hold(const void* start, size_t bytes) {
  size_t first, end;
  if (!range_of(start, bytes, &first, &end)) {
    return;
  }
  for (size_t page = first; page < end; page++) {
    seen[page].held++;
    if (ask(page) == UNUSED) {
      complain("Held: page %zu is held, and of no use", page);
    }
  }
}

static void release(const void* start, size_t bytes) {
  size_t first, end;
  if (!range_of(start, bytes, &first, &end)) {
    return;
  }
  for (size_t page = first; page < end; page++) {
    if (--seen[page].held < 0) {
      complain("Held: page %zu was not held, and is released", page);
    }
  }
}

// As a pager of before: its structures are shorter.
static bool is_old() {
  return getenv("LULL_TEST_OLD_PAGER") != nullptr;
}

// Each is another one, so that the VM cannot take one for another: 2560 pages local, of 7680; 25600 + 2560 i of the
// others. But for the fetched ones, and the waits for them: some more at each call.
static int get_statistics(Statistics* out, size_t size) {
  static std::atomic<uint64_t> calls;
  const uint64_t call = ++calls;
  Statistics now;
  for (size_t i = 0; i < sizeof(now.counts) / sizeof(now.counts[0]); i++) {
    now.counts[i] = i == 0 ? 2560 : i == 1 ? 7680 : i == 2 ? 256 * call : i == 11 ? call : 25600 + 2560 * i;
  }
  const size_t known = is_old() ? 10 * sizeof(uint64_t) : sizeof(now);
  memcpy(out, &now, size < known ? size : known);
  return 0;
}

static uint64_t count_remote() {
  return 5120;
}

static const Pager pager = { sizeof(Pager), attach, forget, trim, hold, release, get_statistics, count_remote };
static const Pager old_pager = { offsetof(Pager, count_remote), attach, forget, trim, hold, release, get_statistics,
                                 nullptr };

// ---- The asking thread

static uint64_t contents_of(size_t page) {
  const volatile uint64_t* const words = (const volatile uint64_t*)address_of(page);
  uint64_t sum = 0;
  for (size_t i = 0; i < PAGE / sizeof(uint64_t); i++) {
    sum = sum * 31 + words[i];
  }
  return sum;
}

// What was forgotten is read before the first answer and after the last: in between nobody has taken the block if it
// is the same.
static void look_at(size_t page) {
  Seen* const last = &seen[page];
  const uint32_t forgotten_now = last->forgotten.load();
  const uint32_t epoch_now = epoch.load();
  const uint32_t use = ask(page);
  answers[use]++;
  if (use != UNUSED || epoch_now % 2 != 0) {
    last->is_unused = false;
    return;
  }
  const uint64_t contents = contents_of(page);
  if (ask(page) != UNUSED || last->forgotten.load() != forgotten_now || epoch.load() != epoch_now) {
    last->is_unused = false;
    return;
  }
  const bool is_same = last->is_unused && last->forgotten_then == forgotten_now && last->epoch == epoch_now;
  if (is_same && last->contents != contents) {
    complain("Written: page %zu was of no use, and is so still, and was written to", page);
  }
  last->is_unused = true;
  last->forgotten_then = forgotten_now;
  last->epoch = epoch_now;
  last->contents = contents;
}

static void* ask_on(void*) {
  while (asking) {
    for (size_t page = 0; page < pages; page++) {
      look_at(page);
    }
  }
  return nullptr;
}

// ---- The pauses: no thread takes blocks

static void wipe() {
  epoch++;
  for (size_t page = 0; page < pages; page++) {
    if (ask(page) == UNUSED) {
      memset(address_of(page), 0, PAGE);
      wiped++;
    }
  }
  epoch++;
}

static void JNICALL pause_begins(jvmtiEnv*) { wipe(); }
static void JNICALL pause_ends(jvmtiEnv*)   { wipe(); }

static bool follow_pauses(JavaVM* vm) {
  jvmtiEnv* jvmti;
  if (vm->GetEnv((void**)&jvmti, JVMTI_VERSION_21) != JNI_OK) {
    return false;
  }
  jvmtiCapabilities wanted;
  memset(&wanted, 0, sizeof(wanted));
  wanted.can_generate_garbage_collection_events = 1;
  jvmtiEventCallbacks callbacks;
  memset(&callbacks, 0, sizeof(callbacks));
  callbacks.GarbageCollectionStart = pause_begins;
  callbacks.GarbageCollectionFinish = pause_ends;
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE ||
      jvmti->SetEventCallbacks(&callbacks, sizeof(callbacks)) != JVMTI_ERROR_NONE) {
    return false;
  }
  const jvmtiEvent events[] = { JVMTI_EVENT_GARBAGE_COLLECTION_START, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH };
  for (jvmtiEvent event : events) {
    if (jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) != JVMTI_ERROR_NONE) {
      return false;
    }
  }
  return true;
}

extern "C" {

// ---- What the VM looks up

JNIEXPORT int lull_far_contains(const void* address) {
  return 1;    // the VM asks of its heap alone
}

JNIEXPORT const Pager* lull_far_get_owner() {
  return is_old() ? &old_pager : &pager;
}

// ---- For the test

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void*) {
  return follow_pauses(vm) ? JNI_VERSION_21 : JNI_ERR;
}

JNIEXPORT void JNICALL Java_gc_lull_TestFarHeap_startAsking(JNIEnv* env, jclass) {
  asking = true;
  if (pthread_create(&asking_thread, nullptr, ask_on, nullptr) != 0) {
    env->FatalError("pthread_create");
  }
}

JNIEXPORT void JNICALL Java_gc_lull_TestFarHeap_stopAsking(JNIEnv*, jclass) {
  asking = false;
  pthread_join(asking_thread, nullptr);
}

// Pages of the heap that are now of this use, of those that lie in these bytes.
JNIEXPORT jlong JNICALL Java_gc_lull_TestFarHeap_pagesOf(JNIEnv*, jclass, jlong start, jlong bytes, jint use) {
  size_t first, end;
  jlong count = 0;
  if (range_of((const void*)start, (size_t)bytes, &first, &end)) {
    for (size_t page = first; page < end; page++) {
      count += ask(page) == (uint32_t)use ? 1 : 0;
    }
  }
  return count;
}

JNIEXPORT jlong JNICALL Java_gc_lull_TestFarHeap_heapStart(JNIEnv*, jclass) { return (jlong)base; }
JNIEXPORT jlong JNICALL Java_gc_lull_TestFarHeap_heapPages(JNIEnv*, jclass) { return (jlong)pages; }
JNIEXPORT jlong JNICALL Java_gc_lull_TestFarHeap_epoch(JNIEnv*, jclass)     { return epoch; }
JNIEXPORT jlong JNICALL Java_gc_lull_TestFarHeap_wiped(JNIEnv*, jclass)     { return (jlong)wiped; }
JNIEXPORT jlong JNICALL Java_gc_lull_TestFarHeap_forgotten(JNIEnv*, jclass) { return (jlong)forgotten; }
JNIEXPORT jlong JNICALL Java_gc_lull_TestFarHeap_trims(JNIEnv*, jclass)     { return (jlong)trims; }

JNIEXPORT jlong JNICALL Java_gc_lull_TestFarHeap_answers(JNIEnv*, jclass, jint use) { return (jlong)answers[use]; }

// Pages that are held now.
JNIEXPORT jlong JNICALL Java_gc_lull_TestFarHeap_held(JNIEnv*, jclass) {
  jlong count = 0;
  for (size_t page = 0; page < pages; page++) {
    count += seen[page].held != 0 ? 1 : 0;
  }
  return count;
}

JNIEXPORT jstring JNICALL Java_gc_lull_TestFarHeap_complaint(JNIEnv* env, jclass) {
  pthread_mutex_lock(&complaints);
  char copy[sizeof(complaint)];
  memcpy(copy, complaint, sizeof(copy));
  pthread_mutex_unlock(&complaints);
  return copy[0] == '\0' ? nullptr : env->NewStringUTF(copy);
}

// Changes an array within a critical section; how many of its pages were not held meanwhile.
JNIEXPORT jint JNICALL Java_gc_lull_TestFarHeap_critical(JNIEnv* env, jclass, jbyteArray array) {
  const size_t length = (size_t)env->GetArrayLength(array);
  char* const bytes = (char*)env->GetPrimitiveArrayCritical(array, nullptr);
  size_t first = 0;
  size_t end = 0;
  jint wrong = 0;
  if (bytes == nullptr || !range_of(bytes, length, &first, &end)) {
    env->FatalError("GetPrimitiveArrayCritical");
  }
  for (size_t page = first; page < end; page++) {
    wrong += seen[page].held < 1 ? 1 : 0;
  }
  bytes[length / 2]++;
  env->ReleasePrimitiveArrayCritical(array, bytes, 0);
  return wrong;
}

} // extern "C"
