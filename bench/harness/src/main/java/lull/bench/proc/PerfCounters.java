// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.proc;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;

/**
 * A HotSpot process's performance counters, read from the file that it shares with tools such as jstat: nothing is asked of the process, so
 * reading costs it nothing. Counters that are numbers only. Without the file (-XX:-UsePerfData) there are none.
 *
 * <p>The file: a head of 32 bytes (magic number, byte order, version, bytes used, offset and number of entries), then the entries, each with its
 * length and the offsets of its name and value (HotSpot's perfMemory.hpp).
 */
public final class PerfCounters {
    private static final int MAGIC = 0xcafec0c0;
    private static final int HEAD = 32;
    private static final int ENTRY_HEAD = 20;

    private final Path file;
    private ByteBuffer memory;
    private int entries;                    // when the places were last looked up
    private final Map<String, Integer> places = new HashMap<>();

    public PerfCounters(long pid) {
        this(Path.of("/tmp", "hsperfdata_" + System.getProperty("user.name"), Long.toString(pid)));
    }

    PerfCounters(Path file) {
        this.file = file;
    }

    /** Returns the value of counter {@code name}; 0 if there is none, or none yet. @throws IllegalStateException if the file is not of the known form */
    public long value(String name) throws IOException {
        if (memory == null && !map()) {
            return 0;
        }
        int count = memory.getInt(28);
        if (!places.containsKey(name) && count != entries) {
            look(count);
        }
        Integer place = places.get(name);
        return place == null ? 0 : memory.getLong(place);
    }

    private boolean map() throws IOException {
        if (!Files.isReadable(file)) {
            return false;
        }
        ByteBuffer mapped;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            if (channel.size() < HEAD) {
                return false;   // about to be written
            }
            mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
        }
        if (mapped.getInt(0) != MAGIC || mapped.get(5) != 2) {
            throw new IllegalStateException(file + ": not performance counters of version 2, which is the only one known here");
        }
        mapped.order(mapped.get(4) == 0 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        if (mapped.get(7) == 0) {
            return false;   // about to be written
        }
        memory = mapped;
        return true;
    }

    private void look(int count) {
        int at = memory.getInt(24);
        for (int i = 0; i < count; i++) {
            if (at < HEAD || at + ENTRY_HEAD > memory.capacity()) {
                throw new IllegalStateException(file + ": entry " + i + " of " + count + " is at offset " + at + " of " + memory.capacity());
            }
            int length = memory.getInt(at);
            if (length < ENTRY_HEAD) {
                throw new IllegalStateException(file + ": entry " + i + " of " + count + " has " + length + " bytes");
            }
            boolean isNumber = memory.getInt(at + 8) == 0 && memory.get(at + 12) == 'J';
            if (isNumber) {
                places.put(name(at + memory.getInt(at + 4)), at + memory.getInt(at + 16));
            }
            at += length;
        }
        entries = count;
    }

    private String name(int at) {
        int end = at;
        while (memory.get(end) != 0) {
            end++;
        }
        byte[] bytes = new byte[end - at];
        memory.get(at, bytes);
        return new String(bytes, StandardCharsets.US_ASCII);
    }
}
