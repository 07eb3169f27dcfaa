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

package sun.jvm.hotspot.gc.lull;

import java.io.PrintStream;

import sun.jvm.hotspot.debugger.Address;
import sun.jvm.hotspot.gc.shared.CollectedHeap;
import sun.jvm.hotspot.gc.shared.CollectedHeapName;
import sun.jvm.hotspot.gc.shared.LiveRegionsClosure;
import sun.jvm.hotspot.memory.MemRegion;
import sun.jvm.hotspot.runtime.VM;
import sun.jvm.hotspot.types.AddressField;
import sun.jvm.hotspot.types.CIntegerField;
import sun.jvm.hotspot.types.Type;
import sun.jvm.hotspot.types.TypeDataBase;

// Mirror class for LullHeap. It reads two counters and nothing of what
// changes while the VM runs, so it works on a live process as well as on a core file.

public class LullHeap extends CollectedHeap {

  private static long componentsOffset;
  private static AddressField memoryField;
  private static AddressField supplyField;
  private static CIntegerField capacityField;
  private static CIntegerField usedField;

  static {
    VM.registerVMInitializedObserver((o, d) -> initialize(VM.getVM().getTypeDataBase()));
  }

  private static synchronized void initialize(TypeDataBase db) {
    Type components = db.lookupType("LullComponents");

    componentsOffset = db.lookupType("LullHeap").getField("_components").getOffset();
    memoryField      = components.getAddressField("_memory");
    supplyField      = components.getAddressField("_supply");
    capacityField    = db.lookupType("LullMemory").getCIntegerField("_capacity");
    usedField        = db.lookupType("LullBlockSupply").getCIntegerField("_used_bytes");
  }

  public LullHeap(Address addr) {
    super(addr);
  }

  private Address components() {
    return addr.addOffsetTo(componentsOffset);
  }

  @Override
  public CollectedHeapName kind() {
    return CollectedHeapName.LULL;
  }

  @Override
  public long capacity() {
    return capacityField.getValue(memoryField.getValue(components()));
  }

  @Override
  public long used() {
    return usedField.getValue(supplyField.getValue(components()));
  }

  // Holes between live objects hold the remains of dead ones: the heap cannot be
  // walked from one object to the next. To report no region at all would not be
  // enough, ObjectHeap would go on to walk the unused ends of the TLABs.
  @Override
  public void liveRegionsIterate(LiveRegionsClosure closure) {
    throw new UnsupportedOperationException("the objects of a Lull heap cannot be listed from outside the VM: " +
                                            "use jcmd <pid> GC.class_histogram or GC.heap_dump");
  }

  @Override
  public void printOn(PrintStream tty) {
    MemRegion reserved = reservedRegion();
    tty.println("Lull heap");
    if (reserved.start() == null) {
      tty.println(" not reserved yet");
      return;
    }
    tty.println(" reserved: [" + reserved.start() + ", " + reserved.end() + "]");
    tty.println(" capacity: " + inKilobytes(capacity()));
    tty.println(" used:     " + inKilobytes(used()));
  }

  private static String inKilobytes(long bytes) {
    return Long.toUnsignedString(bytes >>> 10) + "K";
  }
}
