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

#ifndef SHARE_GC_LULL_MUTATOR_LULLBLOCKINGCALLS_HPP
#define SHARE_GC_LULL_MUTATOR_LULLBLOCKINGCALLS_HPP

#include "memory/allStatic.hpp"
#include "utilities/globalDefinitions.hpp"

class Method;

// Native methods of the class library in which a thread waits for a socket: the end of a
// request, as a rule, in a server with a thread for each connection, and in one that
// selects. A wrapper collects what the thread has, if that is worth a look, and then
// calls the method.
//
//   sun.nio.ch.SocketDispatcher.read0     a blocking socket's read; that of a non-blocking one too
//   sun.nio.ch.Net.poll                   a read, connect or accept with a timeout
//   sun.nio.ch.EPoll.wait                 a selector
//
// Waits in the VM itself (park, Object.wait) call LullLocalCollector::before_wait.

class LullBlockingCalls : public AllStatic {
public:
  // Called when a native method is linked to its entry: returns the entry to use.
  static address wrap(const Method* method, address entry);
};

#endif // SHARE_GC_LULL_MUTATOR_LULLBLOCKINGCALLS_HPP
