// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import lull.bench.util.Json;

/**
 * The invocations that were measured: a file of JSON lines, one per invocation, to which lines are only added. A program that is
 * interrupted while it writes leaves a torn last line; that is told and left out, and cut off before the next line is added.
 * Each line has everything that tells its setup from others, so one file may hold the results of several builds and machines.
 */
public final class ResultsFile {
    private final Path file;
    private final List<Invocation> invocations = new ArrayList<>();
    /** The length of the file up to the end of its last whole line. */
    private long wholeLength;
    private boolean needsLineFeed;

    private ResultsFile(Path file) {
        this.file = file;
    }

    /**
     * Reads {@code file}; none there is like an empty one.
     *
     * @param warn gets what is wrong with the last line
     * @throws IOException if another line is no result, naming it
     */
    public static ResultsFile read(Path file, Consumer<String> warn) throws IOException {
        ResultsFile results = new ResultsFile(file);
        if (Files.exists(file)) {
            results.parse(Files.readAllBytes(file), warn);
        }
        return results;
    }

    private void parse(byte[] bytes, Consumer<String> warn) throws IOException {
        int line = 1;
        for (int from = 0; from < bytes.length; line++) {
            int end = from;
            while (end < bytes.length && bytes[end] != '\n') {
                end++;
            }
            boolean whole = end < bytes.length;
            try {
                invocations.add(Invocation.of(Json.parseObject(new String(bytes, from, end - from, StandardCharsets.UTF_8))));
            } catch (IllegalArgumentException e) {
                if (whole) {
                    throw new IOException(file + ":" + line + ": " + e.getMessage(), e);
                }
                warn.accept(file + ":" + line + ": the last line is torn, so that invocation is left out and will be repeated");
                return;
            }
            needsLineFeed = !whole;
            wholeLength = end + (whole ? 1 : 0);
            from = end + 1;
        }
    }

    /** Returns the invocations, oldest first. */
    public List<Invocation> invocations() {
        return List.copyOf(invocations);
    }

    /** Returns the keys of all invocations. */
    public Set<Invocation.Key> keys() {
        return invocations.stream().map(Invocation::key).collect(Collectors.toSet());
    }

    /** Adds an invocation; when this returns it is on the disk. */
    public void append(Invocation invocation) throws IOException {
        byte[] line = ((needsLineFeed ? "\n" : "") + Json.line(invocation.json()) + "\n").getBytes(StandardCharsets.UTF_8);
        Files.createDirectories(file.toAbsolutePath().getParent());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.truncate(wholeLength).position(wholeLength);
            for (ByteBuffer buffer = ByteBuffer.wrap(line); buffer.hasRemaining();) {
                channel.write(buffer);
            }
            channel.force(true);
        }
        needsLineFeed = false;
        wholeLength += line.length;
        invocations.add(invocation);
    }
}
