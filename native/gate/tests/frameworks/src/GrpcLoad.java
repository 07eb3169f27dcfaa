// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;

/**
 * Calls of gRPC's own client to {@link Grpc}, several at once on each of a few connections: small and large, with one message and with many, with
 * deadlines that all differ, and some that are cancelled.
 *
 * <pre>GrpcLoad PORT CHANNELS SECONDS ROUND</pre>
 *
 * Prints {@code target ok|busy|cancelled MICROSECONDS}, or {@code target failed STATUS}, for each call.
 */
public class GrpcLoad {
    private static final int AT_ONCE = 8;
    private static final Metadata.Key<String> BUSY_UNTIL = key("busy-until");
    private static final Metadata.Key<String> PUSHBACK = key("grpc-retry-pushback-ms");

    private static Metadata.Key<String> key(String name) {
        return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
    }

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        Queue<String> lines = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        List<ManagedChannel> channels = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            // Half of the clients have windows that a large call fills.
            NettyChannelBuilder builder = NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext();
            ManagedChannel channel = (i % 2 == 0 ? builder : builder.flowControlWindow(65535)).disableRetry().build();
            channels.add(channel);
            String prefix = "/" + args[3] + "/" + i + "/";
            Random random = new Random(i);
            long nanoseconds = TimeUnit.SECONDS.toNanos(Long.parseLong(args[2]));
            threads.add(new Thread(() -> load(channel, prefix, random, nanoseconds, lines)));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        for (ManagedChannel channel : channels) {
            channel.shutdown();
            if (!channel.awaitTermination(120, TimeUnit.SECONDS)) {
                lines.add("/ failed a call that does not end");
            }
        }
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.ISO_8859_1);
        lines.forEach(out::println);
        out.flush();
        System.exit(0);
    }

    private static void load(ManagedChannel channel, String prefix, Random random, long nanoseconds, Queue<String> lines) {
        Semaphore free = new Semaphore(AT_ONCE);
        // The first call alone: with it the connection is made, and much of the server's code loaded.
        free.acquireUninterruptibly();
        call(channel, prefix + "first", random, lines, free);
        free.acquireUninterruptibly(AT_ONCE);
        free.release(AT_ONCE);
        long end = System.nanoTime() + nanoseconds;
        for (int n = 0; System.nanoTime() < end; n++) {
            free.acquireUninterruptibly();
            call(channel, prefix + n, random, lines, free);
            if (random.nextInt(4) == 0) {
                try {
                    Thread.sleep(random.nextInt(4));
                } catch (InterruptedException e) {
                    return;
                }
            }
        }
        free.acquireUninterruptibly(AT_ONCE);
    }

    private static void call(ManagedChannel channel, String target, Random random, Queue<String> lines, Semaphore free) {
        int kind = random.nextInt(10);
        MethodDescriptor<byte[], byte[]> method = kind == 0 ? Grpc.JOIN : kind == 1 ? Grpc.REPEAT : Grpc.ECHO;
        int size = random.nextInt(20) == 0 ? 100_000 : random.nextInt(200);
        boolean cancels = random.nextInt(20) == 0;
        long begin = System.nanoTime();
        ClientCall<byte[], byte[]> call = channel.newCall(method, CallOptions.DEFAULT.withDeadlineAfter(200 + random.nextInt(100), TimeUnit.SECONDS));
        Metadata headers = new Metadata();
        headers.put(key("x-number"), Integer.toString(random.nextInt()));
        CRC32 crc = new CRC32();
        int parts = kind == 0 ? 3 : 1;
        byte[] body = new byte[size];
        java.util.Arrays.fill(body, (byte) size);
        // What the server makes of it: the body, and of many messages those behind the first whole.
        crc.update(body);
        for (int i = 1; i < parts; i++) {
            crc.update(body);
        }
        String expected = target + " " + Long.toHexString(crc.getValue());
        call.start(new ClientCall.Listener<>() {
            private int right;

            @Override
            public void onMessage(byte[] message) {
                if (new String(message, StandardCharsets.ISO_8859_1).equals(expected)) {
                    right++;
                }
            }

            @Override
            public void onClose(Status status, Metadata trailers) {
                free.release();
                int answers = method == Grpc.REPEAT ? Grpc.ANSWERS : 1;
                String outcome;
                if (status.isOk() && right == answers) {
                    outcome = "ok";
                } else if (status.getCode() == Status.Code.UNAVAILABLE && trailers.containsKey(BUSY_UNTIL) && "0".equals(trailers.get(PUSHBACK))) {
                    outcome = right == 0 ? "busy" : "failed busy with an answer";
                } else if (status.getCode() == Status.Code.CANCELLED && cancels) {
                    outcome = "cancelled";
                } else {
                    outcome = "failed " + status + " " + right;
                }
                lines.add(target + " " + outcome + " " + (System.nanoTime() - begin) / 1000);
            }
        }, headers);
        call.request(10);
        call.sendMessage(Grpc.request(target, size));
        for (int i = 1; i < parts; i++) {
            call.sendMessage(body);
        }
        if (cancels) {
            if (random.nextBoolean()) {
                call.halfClose();
            }
            call.cancel("enough", null);
        } else {
            call.halfClose();
        }
    }
}
