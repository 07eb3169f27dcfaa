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

#include "gc/lull/stat/lullPublicationSamples.hpp"
#include "logging/log.hpp"
#include "memory/resourceArea.hpp"
#include "oops/klass.hpp"
#include "oops/method.hpp"
#include "oops/symbol.hpp"
#include "runtime/mutexLocker.hpp"
#include "utilities/growableArray.hpp"
#include "utilities/resourceHash.hpp"

// A place in the code, and what it stores there.
struct LullPublicationSite {
  Symbol* _stored;
  Symbol* _holder;    // nullptr: no Java code
  Symbol* _method;
  int     _line;      // -1: not known

  static unsigned hash(const LullPublicationSite& site) {
    uintptr_t hash = (uintptr_t)site._stored;
    hash = hash * 31 + (uintptr_t)site._holder;
    hash = hash * 31 + (uintptr_t)site._method;
    hash = hash * 31 + (uintptr_t)site._line;
    return (unsigned)(hash ^ (hash >> 32));
  }

  static bool equals(const LullPublicationSite& a, const LullPublicationSite& b) {
    return a._stored == b._stored && a._holder == b._holder && a._method == b._method && a._line == b._line;
  }

  // The table keeps the names.
  void keep() {
    assert((_holder == nullptr) == (_method == nullptr), "a method has a class");
    _stored->increment_refcount();
    if (_holder != nullptr) {
      _holder->increment_refcount();
      _method->increment_refcount();
    }
  }
};

struct LullPublicationCount {
  size_t _samples;
  size_t _objects;
  size_t _bytes;

  LullPublicationCount() : _samples(0), _objects(0), _bytes(0) {}

  void add(size_t objects, size_t bytes) {
    _samples++;
    _objects += objects;
    _bytes += bytes;
  }
};

typedef ResourceHashtable<LullPublicationSite, LullPublicationCount, 1021, AnyObj::C_HEAP, mtGC,
                          LullPublicationSite::hash, LullPublicationSite::equals> LullPublicationSiteTable;

// More places than anybody will read; the samples of further ones are counted together.
static const int MaxSites = 4096;

static Mutex*                    _lock = nullptr;
static LullPublicationSiteTable* _sites = nullptr;
static LullPublicationCount      _elsewhere;
static LullPublicationCount      _all;

void LullPublicationSamples::initialize() {
  assert(_lock == nullptr, "once");
  _lock = new Mutex(Mutex::event, "LullPublicationSamples_lock");
  _sites = new (mtGC) LullPublicationSiteTable();
}

void LullPublicationSamples::add(const Klass* stored, const Method* method, int bci, size_t objects, size_t bytes) {
  assert(_lock != nullptr, "nobody takes samples");
  LullPublicationSite site = { stored->name(), nullptr, nullptr, -1 };
  if (method != nullptr) {
    site._holder = method->method_holder()->name();
    site._method = method->name();
    site._line = method->is_native() ? -1 : method->line_number_from_bci(bci);
  }
  MutexLocker ml(_lock, Mutex::_no_safepoint_check_flag);
  _all.add(objects, bytes);
  LullPublicationCount* count = _sites->get(site);
  if (count == nullptr) {
    if (_sites->number_of_entries() >= MaxSites) {
      _elsewhere.add(objects, bytes);
      return;
    }
    site.keep();
    bool is_new;
    count = _sites->put_if_absent(site, &is_new);
  }
  count->add(objects, bytes);
}

struct LullPublicationLine {
  LullPublicationSite  _site;
  LullPublicationCount _count;

  static int compare(LullPublicationLine* a, LullPublicationLine* b) {
    return a->_count._bytes < b->_count._bytes ? 1 : a->_count._bytes > b->_count._bytes ? -1 : 0;
  }

  void log(size_t all_bytes) const {
    stringStream ss;
    ss.print("%5.1f%% %8zuK in %zu samples, %zu objects: %s, stored by ",
             percent_of(_count._bytes, all_bytes), _count._bytes / K, _count._samples, _count._objects,
             _site._stored->as_klass_external_name());
    if (_site._holder == nullptr) {
      ss.print("no Java code");
    } else {
      ss.print("%s.%s", _site._holder->as_klass_external_name(), _site._method->as_C_string());
      if (_site._line >= 0) {
        ss.print(":%d", _site._line);
      }
    }
    log_info(gc, publish)("%s", ss.freeze());
  }
};

void LullPublicationSamples::log(size_t most) {
  assert(_lock != nullptr, "nobody takes samples");
  ResourceMark rm;
  GrowableArray<LullPublicationLine> lines;
  LullPublicationCount all;
  LullPublicationCount elsewhere;
  {
    MutexLocker ml(_lock, Mutex::_no_safepoint_check_flag);
    _sites->iterate_all([&](const LullPublicationSite& site, const LullPublicationCount& count) {
      lines.append(LullPublicationLine{ site, count });
    });
    all = _all;
    elsewhere = _elsewhere;
  }
  if (all._samples == 0) {
    return;
  }
  lines.sort(LullPublicationLine::compare);
  log_info(gc, publish)("Samples: %zu of %zuK published, at %d places", all._samples, all._bytes / K, lines.length());
  for (int i = 0; i < lines.length() && (size_t)i < most; i++) {
    lines.at(i).log(all._bytes);
  }
  if (elsewhere._samples > 0) {
    log_info(gc, publish)("%5.1f%% %8zuK in %zu samples, %zu objects: at further places",
                          percent_of(elsewhere._bytes, all._bytes), elsewhere._bytes / K, elsewhere._samples, elsewhere._objects);
  }
}
