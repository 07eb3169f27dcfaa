// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * What else than Java code looks at a heap of which a part is not there: native code that gives an array to the kernel, the dump of the heap, a
 * stack that is nearly full. Four times as much lives as may be local.
 *
 * <p>{@code java Kernel DIRECTORY LIBRARY WHAT}. Prints {@code WHAT: as it should be}, or what is not, and exits with 1.
 */
public class Kernel {
    static final int ARRAYS = 512;
    static final int BYTES = 64 << 10;
    static final byte[][] arrays = new byte[ARRAYS][];

    /** Makes one system call, itself, with the address of the array's contents. Its result, or the negative error number. */
    static native long writeCritical(int fd, byte[] array);

    static native long readCritical(int fd, byte[] array, long offset);

    static native int open(String name);

    static void fill() {
        for (int n = 0; n < ARRAYS; n++) {
            arrays[n] = new byte[BYTES];
            for (int i = 0; i < BYTES; i += 8) {
                write(arrays[n], i, magic(n, i));
            }
        }
        System.gc();
    }

    static long magic(int array, int at) {
        return 0x4C75_6C6C_0000_0000L + ((long) array << 16) + (at >>> 3);
    }

    static void write(byte[] array, int at, long word) {
        for (int i = 0; i < 8; i++) {
            array[at + i] = (byte) (word >>> (56 - 8 * i));
        }
    }

    static long read(byte[] bytes, int at) {
        long word = 0;
        for (int i = 0; i < 8; i++) {
            word = word << 8 | bytes[at + i] & 0xFF;
        }
        return word;
    }

    static void check(boolean right, String what) {
        if (!right) {
            System.out.println(what);
            System.exit(1);
        }
    }

    static void compare(byte[] bytes, int array, String what) {
        check(bytes.length == BYTES, what + ": " + bytes.length + " bytes");
        for (int i = 0; i < BYTES; i += 8) {
            check(read(bytes, i) == magic(array, i), what + ": array " + array + " is wrong at " + i);
        }
    }

    /** Two threads, arrays by chance: most are away. Another one's turn sends those of the one before away again. */
    static void critical(Path directory) throws Exception {
        Thread[] threads = new Thread[2];
        for (int t = 0; t < threads.length; t++) {
            int me = t;
            threads[t] = new Thread(() -> {
                SplittableRandom random = new SplittableRandom(me);
                Path file = directory.resolve("critical" + me);
                int fd = open(file.toString());
                check(fd >= 0, file + " cannot be opened");
                for (int n = 0; n < 150; n++) {
                    int array = random.nextInt(ARRAYS / 2) * 2 + me;
                    long written = writeCritical(fd, arrays[array]);
                    check(written == BYTES, "a system call within a critical section, round " + n + ": " + written);
                    // Into an array that may be away, too, and that has the same contents in the end.
                    int other = random.nextInt(ARRAYS / 2) * 2 + me;
                    byte[] before = arrays[other].clone();
                    long got = readCritical(fd, arrays[other], (long) n * BYTES);
                    check(got == BYTES, "reading within a critical section, round " + n + ": " + got);
                    compare(arrays[other], array, "read");
                    System.arraycopy(before, 0, arrays[other], 0, BYTES);
                }
            });
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** The linker's own look-up finds the C library's function, for which nobody stands in. */
    static void downcall(Path directory) throws Throwable {
        MethodHandle write = Linker.nativeLinker().downcallHandle(Linker.nativeLinker().defaultLookup().findOrThrow("write"),
            FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG),
            Linker.Option.critical(true));
        Path file = directory.resolve("downcall");
        int fd = open(file.toString());
        for (int n = 0; n < ARRAYS; n++) {
            long written = (long) write.invokeExact(fd, MemorySegment.ofArray(arrays[n]), (long) BYTES);
            check(written == BYTES, "a critical downcall of write: " + written);
        }
        byte[] all = Files.readAllBytes(file);
        for (int n = 0; n < ARRAYS; n++) {
            compare(Arrays.copyOfRange(all, n * BYTES, (n + 1) * BYTES), n, "a critical downcall");
        }
    }

    /** By the class library. */
    static void channel(Path directory) throws IOException {
        Path file = directory.resolve("channel");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            for (int n = ARRAYS - 1; n >= 0; n--) {
                check(channel.write(ByteBuffer.wrap(arrays[n]), (long) n * BYTES) == BYTES, "a channel");
            }
            byte[] read = new byte[BYTES];
            for (int n = 0; n < ARRAYS; n++) {
                check(channel.read(ByteBuffer.wrap(read), (long) n * BYTES) == BYTES, "a channel");
                compare(read, n, "a channel");
            }
        }
    }

    /** All contents are in the dump, each once at least. */
    static void dump(Path directory) throws IOException {
        Path file = directory.resolve("dump.hprof");
        ManagementFactory.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class).dumpHeap(file.toString(), true);
        boolean[] found = new boolean[ARRAYS * BYTES / 8];
        int count = 0;
        try (FileChannel channel = FileChannel.open(file)) {
            ByteBuffer window = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
            for (int at = 0; at + 8 <= window.limit(); at++) {
                if (window.get(at) == 0x4C && window.getInt(at) == 0x4C75_6C6C) {
                    int word = window.getInt(at + 4);
                    int index = (word >>> 16) * (BYTES / 8) + (word & 0xFFFF);
                    if ((word & 0xFFFF) < BYTES / 8 && index >= 0 && index < found.length && !found[index]) {
                        found[index] = true;
                        count++;
                    }
                }
            }
        }
        check(count == found.length, count + " of " + found.length + " words are in the dump");
        Files.delete(file);
    }

    static int deep(SplittableRandom random, int depth) {
        int wrong = 0;
        if (depth % 16 == 0) {
            byte[] array = arrays[random.nextInt(ARRAYS)];
            wrong = (int) (read(array, random.nextInt(BYTES / 8) * 8) >>> 32) == 0x4C75_6C6C ? 0 : 1;
        }
        return wrong + deep(random, depth + 1);
    }

    /** Faults of threads that have come to the end of their stacks, of several sizes. */
    static void stack() throws InterruptedException {
        for (int kilobytes : new int[] {0, 256, 400, 512}) {
            Thread thread = new Thread(null, () -> {
                for (int n = 0; n < 3; n++) {
                    try {
                        deep(new SplittableRandom(n), 0);
                        check(false, "a stack without an end");
                    } catch (StackOverflowError e) {
                        // As it should be.
                    }
                }
            }, "deep", (long) kilobytes << 10);
            thread.start();
            thread.join();
        }
    }

    public static void main(String[] args) throws Throwable {
        Path directory = Path.of(args[0]);
        System.load(args[1]);
        fill();
        switch (args[2]) {
            case "critical" -> critical(directory);
            case "downcall" -> downcall(directory);
            case "channel" -> channel(directory);
            case "dump" -> dump(directory);
            case "stack" -> stack();
            default -> check(false, "what?");
        }
        for (int n = 0; n < ARRAYS; n++) {
            compare(arrays[n], n, "at the end");
        }
        System.out.println(args[2] + ": as it should be");
    }
}
