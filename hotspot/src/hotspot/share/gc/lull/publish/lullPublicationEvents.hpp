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

#ifndef SHARE_GC_LULL_PUBLISH_LULLPUBLICATIONEVENTS_HPP
#define SHARE_GC_LULL_PUBLISH_LULLPUBLICATIONEVENTS_HPP

#include "memory/allStatic.hpp"
#include "utilities/globalDefinitions.hpp"

class Klass;
class Thread;

// What the flight recorder is told of publication. Nothing is sent without -XX:+LullTracking.
class LullPublicationEvents : public AllStatic {
public:
  // Periodic; asked for by the recorder.
  static void send_total();
  static void send_threads();

  // The current thread changes its mode. share: of what it allocated lately, published.
  static void send_mode(bool to_public, const char* reason, float share);

  // The current thread has published an object of this class and what it leads to; the
  // stack can be walked. weight: bytes published since the thread's last sample.
  static void send_sample(const Klass* stored, size_t objects, size_t bytes, size_t weight);
};

#endif // SHARE_GC_LULL_PUBLISH_LULLPUBLICATIONEVENTS_HPP
