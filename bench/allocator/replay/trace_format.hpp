// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// The file format of allocation and death traces, for those who write it (the recorder, the synthesizer) and those who read
// it (the replay). All fixed-width numbers are little-endian; "varint" is LEB128, 7 bits a byte, the lowest first.
//
//   header    8 bytes  "LULLTRC\n"
//             u32      version, 1
//             u32      bytes of a word, 8
//             u32      granularity of deaths in bytes of allocation: a death may be recorded that much too late; 0: exact
//             u32      length of the name, at most 255; then the name, printable ASCII without '"' and ','
//   records   varint v
//             v even   an object of v / 2 words is allocated (2 to 2^30)
//             v odd    the object that was allocated (v - 1) / 2 allocations before the latest one has died
//             v = 0    the end
//   trailer   varint   allocations, at most 2^30
//             varint   deaths
//             u64      FNV-1a of all bytes before it
//
// Two bytes for most objects, and a file that was cut short or damaged is noticed.
#ifndef LULL_BENCH_ALLOCATOR_TRACE_FORMAT_HPP
#define LULL_BENCH_ALLOCATOR_TRACE_FORMAT_HPP

#include <stdint.h>
#include <stdio.h>
#include <string.h>

namespace trace_format {

constexpr char Magic[] = "LULLTRC\n";
constexpr size_t MagicLength = 8;
constexpr uint32_t Version = 1;
constexpr uint32_t WordBytes = 8;
constexpr uint32_t MostNameLength = 255;
constexpr uint32_t LeastWords = 2;
constexpr uint32_t MostWords = 1u << 30;
constexpr uint64_t MostAllocations = 1u << 30;

constexpr uint64_t HashStart = 0xcbf29ce484222325;
inline uint64_t hash(uint64_t h, uint8_t byte) { return (h ^ byte) * 0x100000001b3; }

inline bool may_be_in_name(char c) { return c >= ' ' && c <= '~' && c != '"' && c != ','; }

// Writes a trace. The first error of the file is kept: look at ok() at the end.
class Writer {
  FILE* const _file;
  uint64_t    _hash = HashStart;
  uint64_t    _allocations = 0;
  uint64_t    _deaths = 0;
  bool        _ok = true;

  void byte(uint8_t b) {
    _hash = hash(_hash, b);
    if (putc(b, _file) == EOF) {
      _ok = false;
    }
  }
  void u32(uint32_t v) {
    for (int i = 0; i < 4; i++) {
      byte((uint8_t)(v >> (8 * i)));
    }
  }
  void varint(uint64_t v) {
    while (v >= 0x80) {
      byte((uint8_t)(v | 0x80));
      v >>= 7;
    }
    byte((uint8_t)v);
  }

 public:
  // name: what may not be in a name becomes '_', what is too long is cut.
  Writer(FILE* file, const char* name, uint32_t granularity) : _file(file) {
    for (size_t i = 0; i < MagicLength; i++) {
      byte((uint8_t)Magic[i]);
    }
    u32(Version);
    u32(WordBytes);
    u32(granularity);
    size_t length = strlen(name);
    length = length < MostNameLength ? length : MostNameLength;
    u32((uint32_t)length);
    for (size_t i = 0; i < length; i++) {
      byte((uint8_t)(may_be_in_name(name[i]) ? name[i] : '_'));
    }
  }

  // Returns the object's number, from 0.
  uint64_t allocation(uint64_t words) {
    varint(words << 1);
    return _allocations++;
  }
  void death(uint64_t number) {
    varint((_allocations - 1 - number) << 1 | 1);
    _deaths++;
  }
  void end() {
    varint(0);
    varint(_allocations);
    varint(_deaths);
    const uint64_t h = _hash;
    u32((uint32_t)h);
    u32((uint32_t)(h >> 32));
    if (fflush(_file) != 0) {
      _ok = false;
    }
  }
  uint64_t allocations() const { return _allocations; }
  bool ok() const { return _ok; }
};

}  // namespace trace_format

#endif
