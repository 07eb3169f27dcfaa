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

#ifndef SHARE_GC_LULL_MUTATOR_LULLREQUESTS_HPP
#define SHARE_GC_LULL_MUTATOR_LULLREQUESTS_HPP

#include "memory/allStatic.hpp"
#include "utilities/globalDefinitions.hpp"

class Method;

// What a program says of its requests: the native methods of the class lull.Requests
// (java/requests), of whatever loader. They have no library: on another JVM, and without
// local collections, linking them fails, and the class makes itself a no-op.
//
//   static native void begin0()    a request begins in this thread; nested ones are part of it
//   static native void end0()      it has ended, and nobody waits for the thread: collects what it has
//                                  left, if that is worth a look

class LullRequests : public AllStatic {
public:
  // Called when a native method has been found in no library: its entry, nullptr if it
  // is none of these.
  static address entry_of(const Method* method);
};

#endif // SHARE_GC_LULL_MUTATOR_LULLREQUESTS_HPP
