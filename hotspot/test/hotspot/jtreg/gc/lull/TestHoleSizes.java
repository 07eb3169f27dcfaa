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

package gc.lull;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/*
 * @test id=public
 * @requires vm.gc.Lull & vm.hasJFR & vm.debug
 * @summary Where all objects are public, short holes do not become allocation buffers.
 * @library /
 * @modules jdk.jfr java.management
 * @run main/othervm -Xms48m -Xmx48m -XX:+UseLullGC -XX:-LullTracking -XX:+UnlockExperimentalVMOptions -XX:-LullEvacuation
 *                   gc.lull.TestHoleSizes false
 */

/*
 * @test id=all
 * @requires vm.gc.Lull & vm.hasJFR & vm.debug
 * @summary They do with -XX:-LullAdaptiveHoles.
 * @library /
 * @modules jdk.jfr java.management
 * @run main/othervm -Xms48m -Xmx48m -XX:+UseLullGC -XX:-LullTracking -XX:+UnlockExperimentalVMOptions -XX:-LullEvacuation
 *                   -XX:-LullAdaptiveHoles gc.lull.TestHoleSizes true
 */

public class TestHoleSizes {
    private static final int SHORTEST = 4096;

    // Objects of some lines, one in three alive: holes of 2 KB between them.
    private static final int BYTES = 1000;
    private static final int COUNT = 12_000;

    private static volatile Object sink;
    private static List<byte[]> kept;

    private static void fragment() {
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            all.add(new byte[BYTES]);
        }
        kept = new ArrayList<>();
        for (int i = 0; i < COUNT; i += 3) {
            kept.add(all.get(i));
        }
    }

    private static void allocate(int megabytes) {
        for (int i = 0; i < megabytes * (1024 * 1024 / 64); i++) {
            sink = new byte[40];
        }
    }

    public static void main(String[] args) throws Exception {
        boolean shortOnes = Boolean.parseBoolean(args[0]);
        fragment();
        allocate(200);
        long collections = GCBean.collections();
        Path file = Path.of("holes.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("jdk.ObjectAllocationInNewTLAB").withoutStackTrace();
            recording.start();
            allocate(200);
            recording.stop();
            recording.dump(file);
        }
        if (GCBean.collections() < collections + 2) {
            throw new AssertionError("no collection: nothing was swept");
        }
        int found = 0;
        int refills = 0;
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            refills++;
            if (event.getLong("tlabSize") < SHORTEST) {
                found++;
            }
        }
        Files.delete(file);
        System.out.println(refills + " refills, " + found + " of less than " + SHORTEST + " bytes, beside " + kept.size() + " objects");
        // JFR's own threads and the rest of a buffer at a collection: some may be short by chance.
        if (refills < 1000 || (shortOnes ? found < refills / 4 : found > refills / 100)) {
            throw new AssertionError(found + " of " + refills + " refills with short holes");
        }
    }
}
