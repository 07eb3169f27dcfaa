// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// Reads traces, and believes nothing that they say.

#include "trace.hpp"

#include "trace_format.hpp"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

using namespace trace_format;

namespace {

class Reader {
  const std::vector<uint8_t>& _bytes;
  size_t      _at = 0;
  std::string _error;

 public:
  explicit Reader(const std::vector<uint8_t>& bytes) : _bytes(bytes) {}

  bool ok() const { return _error.empty(); }
  const std::string& error() const { return _error; }
  size_t at() const { return _at; }

  void fail(const std::string& what, size_t offset) {
    if (ok()) {
      _error = "at byte " + std::to_string(offset) + ": " + what;
    }
  }
  uint8_t byte() {
    if (!ok() || _at == _bytes.size()) {
      fail("the file ends too early; it was cut short, or its recorder did not end in order: record it again", _at);
      return 0;
    }
    return _bytes[_at++];
  }
  uint64_t fixed(int bytes) {
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) {
      v |= (uint64_t)byte() << (8 * i);
    }
    return v;
  }
  uint64_t varint() {
    const size_t start = _at;
    uint64_t v = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      const uint8_t b = byte();
      v |= (uint64_t)(b & 0x7f) << shift;
      if (b < 0x80) {
        return v;
      }
    }
    fail("a number has more than 63 bits", start);
    return 0;
  }
};

std::string read_file(const std::string& path, std::vector<uint8_t>* bytes) {
  FILE* const file = fopen(path.c_str(), "rb");
  struct stat status;
  if (file == nullptr || fstat(fileno(file), &status) != 0) {
    const std::string error = strerror(errno);
    if (file != nullptr) {
      fclose(file);
    }
    return "cannot be opened: " + error;
  }
  if (!S_ISREG(status.st_mode)) {
    fclose(file);
    return "is not a file";
  }
  bytes->resize((size_t)status.st_size);
  const size_t got = fread(bytes->data(), 1, bytes->size(), file);
  fclose(file);
  return got == bytes->size() ? "" : "cannot be read: " + std::string(strerror(errno));
}

}  // namespace

std::string Trace::read(const std::string& path) {
  std::vector<uint8_t> bytes;
  const std::string unreadable = read_file(path, &bytes);
  if (!unreadable.empty()) {
    return unreadable;
  }
  if (bytes.size() < MagicLength || memcmp(bytes.data(), Magic, MagicLength) != 0) {
    return "is not a trace: it does not begin with LULLTRC and a line feed";
  }
  Reader in(bytes);
  in.fixed(MagicLength);
  const uint64_t version = in.fixed(4);
  if (in.ok() && version != Version) {
    return "is a trace of version " + std::to_string(version) + "; this program reads version " + std::to_string(Version) + ": record it again";
  }
  const uint64_t word_bytes = in.fixed(4);
  if (in.ok() && word_bytes != WordBytes) {
    return "has words of " + std::to_string(word_bytes) + " bytes; only 8 can be replayed";
  }
  granularity = (uint32_t)in.fixed(4);
  const uint64_t name_length = in.fixed(4);
  if (in.ok() && name_length > MostNameLength) {
    in.fail("a name of " + std::to_string(name_length) + " bytes; it may have " + std::to_string(MostNameLength), in.at() - 4);
  }
  name.clear();
  for (uint64_t i = 0; in.ok() && i < name_length; i++) {
    const char c = (char)in.byte();
    if (!may_be_in_name(c)) {
      in.fail("the name has a character that it may not have", in.at() - 1);
    }
    name += c;
  }

  const uint32_t dead = UINT32_MAX;
  std::vector<uint32_t> slot_of;        // by number
  std::vector<uint32_t> words_in;       // by slot
  std::vector<uint32_t> unused;
  uint64_t live = 0;
  while (in.ok()) {
    const size_t start = in.at();
    const uint64_t v = in.varint();
    if (!in.ok() || v == 0) {
      break;
    }
    if ((v & 1) == 0) {
      const uint64_t size = v >> 1;
      if (size < LeastWords || size > MostWords) {
        in.fail("an object of " + std::to_string(size) + " words; it may have 2 to 2^30", start);
        break;
      }
      if (allocations == MostAllocations) {
        in.fail("more than 2^30 allocations", start);
        break;
      }
      uint32_t slot;
      if (unused.empty()) {
        slot = slots++;
        words_in.push_back(0);
      } else {
        slot = unused.back();
        unused.pop_back();
      }
      slot_of.push_back(slot);
      words_in[slot] = (uint32_t)size;
      events.push_back({ (uint32_t)size, slot });
      allocations++;
      words += size;
      live += size;
      peak_live_words = peak_live_words > live ? peak_live_words : live;
    } else {
      const uint64_t back = v >> 1;
      if (back >= allocations) {
        in.fail("the death of an object " + std::to_string(back) + " allocations ago, and there were " + std::to_string(allocations), start);
        break;
      }
      uint32_t& slot = slot_of[allocations - 1 - back];
      if (slot == dead) {
        in.fail("the second death of object " + std::to_string(allocations - 1 - back), start);
        break;
      }
      events.push_back({ 0, slot });
      live -= words_in[slot];
      unused.push_back(slot);
      slot = dead;
      deaths++;
    }
  }
  live_words_at_end = live;
  const size_t trailer = in.at();
  const uint64_t said_allocations = in.varint();
  const uint64_t said_deaths = in.varint();
  const size_t end = in.at();
  const uint64_t said_hash = in.fixed(8);
  if (in.ok()) {
    uint64_t h = HashStart;
    for (size_t i = 0; i < end; i++) {
      h = hash(h, bytes[i]);
    }
    if (h != said_hash) {
      in.fail("the checksum is wrong: the file is damaged", end);
    } else if (said_allocations != allocations || said_deaths != deaths) {
      in.fail("the trailer tells of " + std::to_string(said_allocations) + " allocations and " + std::to_string(said_deaths) +
              " deaths, the records of " + std::to_string(allocations) + " and " + std::to_string(deaths), trailer);
    } else if (in.at() != bytes.size()) {
      in.fail(std::to_string(bytes.size() - in.at()) + " bytes after the end", in.at());
    } else if (allocations == 0) {
      in.fail("a trace without allocations", trailer);
    }
  }
  return in.error();
}
