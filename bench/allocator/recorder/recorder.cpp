// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// A JVMTI agent that records what a Java program allocates and when it dies, as a trace (replay/trace_format.hpp), on any
// stock HotSpot:
//
//   -agentpath:/path/to/liballocrecorder.so=file=PATH,name=NAME,granularity=BYTES
//
// Allocations: every one, in order, from the start of the program on (SampledObjectAlloc with an interval of 0). An object
// whose allocation a compiler has removed is none: record with -XX:TieredStopAtLevel=1, which removes none.
//
// Deaths: each object has its number as its tag, and ObjectFree tells of those that a collection has not found. The agent
// forces a collection after every BYTES of allocation, so a death is recorded up to BYTES (and one object) too late, never
// too early, and at the latest allocation, not between.
//
// Several threads: one order of all allocations, that in which they come here, which may differ between two runs.

#include "../replay/trace_format.hpp"

#include <jvmti.h>

#include <algorithm>
#include <errno.h>
#include <mutex>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

namespace {

constexpr uint64_t LeastGranularity = 4 * 1024;
constexpr uint64_t MostGranularity = 1 << 30;

FILE* file;
std::string path;
uint64_t granularity = 64 * 1024;

// The lock of all that follows, but dead. It is held while a collection is forced, so whoever posts ObjectFree must not
// need it: such an event may come from another thread, for which the forced one waits.
std::mutex lock;
trace_format::Writer* writer;     // null before the start and after the end
uint64_t bytes_since_collection;
bool failed;

std::mutex dead_lock;
std::vector<uint64_t> dead;       // numbers of objects, in no order

[[noreturn]] void die(const std::string& what) {
  fprintf(stderr, "error: recorder: %s\n", what.c_str());
  exit(1);
}

void check(jvmtiError error, const char* what) {
  if (error != JVMTI_ERROR_NONE) {
    die(std::string(what) + " failed with JVMTI error " + std::to_string(error));
  }
}

// Under the lock.
void record_deaths(jvmtiEnv* jvmti) {
  check(jvmti->ForceGarbageCollection(), "ForceGarbageCollection");
  // Enabling it once more posts what has been found dead, here and now.
  check(jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_OBJECT_FREE, nullptr), "SetEventNotificationMode");
  std::vector<uint64_t> numbers;
  {
    std::lock_guard<std::mutex> guard(dead_lock);
    numbers.swap(dead);
  }
  std::sort(numbers.begin(), numbers.end());
  for (const uint64_t number : numbers) {
    writer->death(number);
  }
  bytes_since_collection = 0;
}

void JNICALL object_allocated(jvmtiEnv* jvmti, JNIEnv*, jthread, jobject object, jclass, jlong size) {
  std::lock_guard<std::mutex> guard(lock);
  if (writer == nullptr) {
    return;
  }
  if (writer->allocations() == trace_format::MostAllocations) {
    failed = true;
    return;
  }
  const uint64_t number = writer->allocation((uint64_t)size / trace_format::WordBytes);
  check(jvmti->SetTag(object, (jlong)number + 1), "SetTag");
  bytes_since_collection += (uint64_t)size;
  if (bytes_since_collection >= granularity) {
    record_deaths(jvmti);
  }
}

void JNICALL object_freed(jvmtiEnv*, jlong tag) {
  std::lock_guard<std::mutex> guard(dead_lock);
  dead.push_back((uint64_t)tag - 1);
}

void JNICALL vm_started(jvmtiEnv* jvmti, JNIEnv*, jthread) {
  check(jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_OBJECT_FREE, nullptr), "SetEventNotificationMode");
  check(jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, nullptr), "SetEventNotificationMode");
}

void JNICALL vm_ends(jvmtiEnv* jvmti, JNIEnv*) {
  jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, nullptr);
  std::lock_guard<std::mutex> guard(lock);
  record_deaths(jvmti);
  writer->end();
  const bool ok = writer->ok();
  writer = nullptr;
  if (fclose(file) != 0 || !ok) {
    die(path + " could not be written: " + strerror(errno));
  }
  if (failed) {
    remove(path.c_str());
    die("the program has more than 2^30 allocations, which a trace cannot have");
  }
}

uint64_t number(const std::string& name, const std::string& text) {
  char* end = nullptr;
  const unsigned long long value = strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < LeastGranularity || value > MostGranularity) {
    die(name + "=" + text + " must be a number of bytes from " + std::to_string(LeastGranularity) + " to " + std::to_string(MostGranularity));
  }
  return value;
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  std::string name = "unnamed";
  const std::string all = options == nullptr ? "" : options;
  for (size_t at = 0; at < all.size(); ) {
    const size_t end = std::min(all.find(',', at), all.size());
    const std::string option = all.substr(at, end - at);
    const size_t equals = option.find('=');
    const std::string key = option.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
    if (key == "file") {
      path = value;
    } else if (key == "name") {
      name = value;
    } else if (key == "granularity") {
      granularity = number(key, value);
    } else {
      die("unknown option '" + option + "'; there are file=PATH, name=NAME, granularity=BYTES");
    }
    at = end + 1;
  }
  if (path.empty()) {
    die("the option file=PATH is missing");
  }
  file = fopen(path.c_str(), "wb");
  if (file == nullptr) {
    die(path + " cannot be written: " + strerror(errno));
  }
  writer = new trace_format::Writer(file, name.c_str(), (uint32_t)granularity);

  jvmtiEnv* jvmti = nullptr;
  if (vm->GetEnv((void**)&jvmti, JVMTI_VERSION_11) != JNI_OK) {
    die("this JVM has no JVMTI 11");
  }
  jvmtiCapabilities capabilities = {};
  capabilities.can_generate_sampled_object_alloc_events = 1;
  capabilities.can_generate_object_free_events = 1;
  capabilities.can_tag_objects = 1;
  check(jvmti->AddCapabilities(&capabilities), "AddCapabilities");
  check(jvmti->SetHeapSamplingInterval(0), "SetHeapSamplingInterval");
  jvmtiEventCallbacks callbacks = {};
  callbacks.SampledObjectAlloc = object_allocated;
  callbacks.ObjectFree = object_freed;
  callbacks.VMInit = vm_started;
  callbacks.VMDeath = vm_ends;
  check(jvmti->SetEventCallbacks(&callbacks, sizeof(callbacks)), "SetEventCallbacks");
  check(jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr), "SetEventNotificationMode");
  check(jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr), "SetEventNotificationMode");
  return JNI_OK;
}
