// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import com.sun.nio.file.ExtendedOpenOption;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A service for the tests of the controller: live data, garbage, and reads of a file past the page cache, so that its threads are stalled
 * whatever the heap does. Ends when its standard input does.
 *
 * <p>Arguments: megabytes of live data, megabytes of garbage a second, the file or nothing.
 */
public class Load {
    private static byte[][] live;
    private static volatile byte[] sink;

    public static void main(String[] arguments) throws Exception {
        live = new byte[Integer.parseInt(arguments[0]) * 16][64 * 1024];
        int garbage = Integer.parseInt(arguments[1]);
        for (int i = 0; i < 2; i++) {
            Thread allocating = new Thread(() -> allocate(garbage / 2), "allocating-" + i);
            allocating.setDaemon(true);
            allocating.start();
        }
        if (arguments.length > 2) {
            for (int i = 0; i < 3; i++) {
                Thread reading = new Thread(() -> read(Path.of(arguments[2])), "reading-" + i);
                reading.setDaemon(true);
                reading.start();
            }
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
    }

    private static void allocate(int megabytes) {
        try {
            while (true) {
                for (int i = 0; i < megabytes; i++) {
                    for (int j = 0; j < 64; j++) {
                        sink = new byte[16 * 1024];
                    }
                    // Some of it lives for a while.
                    live[ThreadLocalRandom.current().nextInt(live.length)] = new byte[64 * 1024];
                    Thread.sleep(Math.max(1, 1000 / megabytes));
                }
            }
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }

    private static void read(Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT)) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(8192).alignedSlice(4096).limit(4096);
            long pages = channel.size() / 4096;
            while (true) {
                buffer.position(0);
                channel.read(buffer, ThreadLocalRandom.current().nextLong(pages) * 4096);
            }
        } catch (Exception broken) {
            throw new IllegalStateException(broken);
        }
    }
}
