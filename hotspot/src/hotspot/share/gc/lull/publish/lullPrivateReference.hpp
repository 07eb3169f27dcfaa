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

#ifndef SHARE_GC_LULL_PUBLISH_LULLPRIVATEREFERENCE_HPP
#define SHARE_GC_LULL_PUBLISH_LULLPRIVATEREFERENCE_HPP

#include "memory/allStatic.hpp"
#include "oops/oopsHierarchy.hpp"

class Klass;
class Symbol;

// What a local collection may do with a private java.lang.ref.Reference.
//
//   Weak            weak or phantom, without a queue: loses a private referent that nothing else refers to. By P
//                   nothing public refers to such a referent, no finalizer either, so the thread's own roots decide.
//   WeakWithQueue   the same with a queue: it would have to be enqueued, where other threads see it. It keeps its
//                   referent, and says that a pause has references to process (lullPendingReferences.hpp).
//   Strong          all other objects, soft references too: what they refer to stays alive.
class LullPrivateReference : public AllStatic {
private:
  static Symbol* _no_queue_name;

public:
  enum class Kind { Strong, Weak, WeakWithQueue };

  // Before the first local collection.
  static void initialize();

  // Of an object of the current thread, in a local collection. Its fields may still refer to where objects were.
  static Kind kind(oop obj);

  // Of a class of public references: does something hang on them that waits for a pause? Not on soft ones, nor on
  // entries of maps of thread-local values.
  static bool is_processed_in_pauses(const Klass* klass);

  // Not compressed, or decoded; nullptr if it is cleared.
  static oop referent(oop reference);
  static void set_referent(oop reference, oop referent);
};

#endif // SHARE_GC_LULL_PUBLISH_LULLPRIVATEREFERENCE_HPP
