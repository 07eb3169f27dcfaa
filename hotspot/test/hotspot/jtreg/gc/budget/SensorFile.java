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


package gc.budget;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.TreeMap;

/** The file of a sensor, made by a test, in the format that native/stall/include/lull_stall.h documents. Of this process. */
class SensorFile {
    private static final long MAGIC = 0x4c4c4154534c554cL;
    private static final int HEADER_SIZE = 144;
    private static final int ROW_SIZE = 56;
    private static final int ROWS = 64;
    private static final int MOST_ROWS = 64 << 10;
    private static final int LONGEST_ROW = 1 << 10;
    private static final int FIELD_IO = 1;
    private static final int FIELD_READ_BYTES = 1 << 6;
    private static final int FIELD_ROWS = 1 << 8;
    private static final int SOURCE_BPF = 1;

    // Offsets
    private static final int PROCESS_START = 32;
    private static final int SEQUENCE = 56;
    private static final int UPDATED = 64;
    private static final int TOTAL = 72;
    private static final int READ_BYTES = 120;
    private static final int ROWS_USED = 136;

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final MappedByteBuffer map;
    private final Map<Integer, Long> stalls = new TreeMap<>();
    private long readBytes;
    private long stalledInEnded;

    /** Replaces what is at the path in one step. */
    SensorFile(Path path, long processStart) throws IOException {
        Path fresh = Path.of(path + ".fresh");
        try (FileChannel channel = FileChannel.open(fresh, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            map = channel.map(FileChannel.MapMode.READ_WRITE, 0, HEADER_SIZE + ROWS * ROW_SIZE);
        }
        map.order(ByteOrder.nativeOrder());
        map.putLong(0, MAGIC);
        map.putInt(8, 1);
        map.putInt(12, HEADER_SIZE);
        map.putInt(16, ROW_SIZE);
        map.putInt(20, ROWS);
        map.putInt(24, (int) ProcessHandle.current().pid());
        map.putInt(28, SOURCE_BPF);
        map.putLong(PROCESS_START, processStart);
        // It is lost after ten of these: a busy machine lets threads wait.
        map.putLong(40, 1_000_000_000);
        map.putInt(48, FIELD_IO | FIELD_READ_BYTES | FIELD_ROWS);
        update();
        Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Says that it has as many and as long rows as there may be, all of which are zeros: 64 MB, which take no place on the disk. */
    static void makeLongest(Path path) throws IOException {
        SensorFile file = new SensorFile(path, processStart());
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[1]), HEADER_SIZE + (long) MOST_ROWS * LONGEST_ROW - 1);
        }
        file.map.putInt(16, LONGEST_ROW);
        file.map.putInt(20, MOST_ROWS);
        file.map.putInt(ROWS_USED, MOST_ROWS);
    }

    /** A thread has been stalled for so long, and so much has been read meanwhile. */
    synchronized void add(int tid, long stalledNanos, long bytes) {
        stalls.merge(tid, stalledNanos, Long::sum);
        readBytes += bytes;
    }

    /** The thread has ended: it has no row any more. */
    synchronized void end(int tid) {
        stalledInEnded += stalls.remove(tid);
    }

    /** Writes what there is; the file is taken for lost if that is not done for 10 s. */
    synchronized void update() {
        long sequence = map.getLong(SEQUENCE);
        LONGS.setVolatile(map, SEQUENCE, sequence + 1);
        map.putLong(UPDATED, System.nanoTime());
        map.putLong(TOTAL, stalledInEnded + stalls.values().stream().mapToLong(Long::longValue).sum());
        map.putLong(READ_BYTES, readBytes);
        int row = HEADER_SIZE;
        for (Map.Entry<Integer, Long> stall : stalls.entrySet()) {
            map.putInt(row, stall.getKey());
            map.putInt(row + 4, stall.getKey());
            map.putLong(row + 8, stall.getValue());
            row += ROW_SIZE;
        }
        map.putInt(ROWS_USED, stalls.size());
        LONGS.setVolatile(map, SEQUENCE, sequence + 2);
    }

    /** In clock ticks since the boot: field 22 of /proc/self/stat. */
    static long processStart() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[19]);
    }

    /** The id of the thread that asks. */
    static int tid() throws IOException {
        return Integer.parseInt(Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString());
    }

    /** The id of the thread of that name. */
    static int tid(String name) throws IOException {
        try (var tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks) {
                if (Files.readString(task.resolve("comm")).trim().equals(name)) {
                    return Integer.parseInt(task.getFileName().toString());
                }
            }
        }
        throw new AssertionError("there is no thread " + name);
    }
}
