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

package gc.lull.local;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/*
 * @test id=alot
 * @requires vm.gc.Lull & vm.debug
 * @summary A thread that asks for another one's stack may be the one that looks, for a third, whether that one uses memory which is to be freed.
 *          It finds references to private objects in its frames, and keeps none.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullLocalBudget=65536 -XX:LullLocalCollectALot=7
 *                   gc.lull.local.TestHandshakes
 */

/*
 * @test id=plain
 * @requires vm.gc.Lull
 * @summary As a service would.
 * @library /
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullLocalBudget=65536 gc.lull.local.TestHandshakes
 */
public class TestHandshakes {
    private static final int BYTES = 64 * 1024;
    private static final long MILLIS = 6_000;         // at least,
    private static final int ENOUGH = 100;             // of each,
    private static final long LONGEST_MILLIS = 120_000;  // or it fails

    private static volatile boolean ended;
    private static volatile Object sink;
    // Of several threads, without a lock: at most a few are lost.
    private static volatile long forced;
    private static volatile long looks;
    private static volatile long closed;

    // In force0, in native, with an arena's session that is private.
    private static void force(FileChannel file) throws Exception {
        while (!ended) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment segment = file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
                for (int i = 0; i < 8; i++) {
                    segment.setAtIndex(ValueLayout.JAVA_INT, i * 2000, i);
                    segment.force();
                    forced++;
                }
            }
        }
    }

    private static void look(Thread[] threads) {
        while (!ended) {
            int frames = 0;
            for (Thread thread : threads) {
                frames += thread.getStackTrace().length;
            }
            // Collects.
            sink = new int[frames + 100];
            looks++;
        }
    }

    private static void close() {
        while (!ended) {
            try (Arena arena = Arena.ofShared()) {
                sink = arena.allocate(16).toString();
            }
            closed++;
        }
    }

    private static boolean isEnough() {
        return forced >= ENOUGH && looks >= ENOUGH && closed >= ENOUGH;
    }

    private interface Body {
        void run() throws Exception;
    }

    private static Thread start(List<Throwable> failures, Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Throwable failure) {
                synchronized (failures) {
                    failures.add(failure);
                }
                ended = true;
            }
        });
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws Exception {
        Path path = Files.createTempFile(Path.of("."), "forced", ".data");
        List<Throwable> failures = new ArrayList<>();
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            Thread[] forcing = {start(failures, () -> force(file)), start(failures, () -> force(file))};
            List<Thread> all = new ArrayList<>(List.of(forcing));
            for (int i = 0; i < 2; i++) {
                all.add(start(failures, () -> look(forcing)));
            }
            all.add(start(failures, TestHandshakes::close));
            long begin = System.nanoTime();
            // How long a write to the file takes depends on what else is written.
            for (long millis = 0; !ended && (millis < MILLIS || !isEnough()) && millis < LONGEST_MILLIS; millis = (System.nanoTime() - begin) / 1_000_000) {
                Thread.sleep(20);
            }
            ended = true;
            for (Thread thread : all) {
                thread.join();
            }
        } finally {
            Files.delete(path);
        }
        System.out.println(forced + " times forced, " + looks + " looks, " + closed + " arenas closed");
        if (!failures.isEmpty()) {
            throw new AssertionError(failures.size() + " failures", failures.get(0));
        }
        if (!isEnough()) {
            throw new AssertionError("too few to say anything");
        }
    }
}
