// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * {@link GateServer}'s answers by gRPC's own server. A request begins with its target's length and its target; it is processed when its last
 * message has come. Methods: Echo, with one message each way; Join, with many requests; Repeat, with three answers.
 */
class Grpc {
    private static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    static final MethodDescriptor<byte[], byte[]> ECHO = method("Echo", MethodType.UNARY);
    static final MethodDescriptor<byte[], byte[]> JOIN = method("Join", MethodType.CLIENT_STREAMING);
    static final MethodDescriptor<byte[], byte[]> REPEAT = method("Repeat", MethodType.SERVER_STREAMING);
    static final int ANSWERS = 3;

    private Grpc() {
    }

    private static MethodDescriptor<byte[], byte[]> method(String name, MethodType type) {
        return MethodDescriptor.newBuilder(BYTES, BYTES).setType(type).setFullMethodName("lull.Gate/" + name).build();
    }

    /** A request of this target with so many bytes behind it. */
    static byte[] request(String target, int size) {
        byte[] name = target.getBytes(StandardCharsets.ISO_8859_1);
        byte[] all = new byte[4 + name.length + size];
        ByteBuffer.wrap(all).putInt(name.length).put(name);
        Arrays.fill(all, 4 + name.length, all.length, (byte) size);
        return all;
    }

    private static byte[] process(byte[] request) {
        int length = ByteBuffer.wrap(request).getInt();
        String target = new String(request, 4, length, StandardCharsets.ISO_8859_1);
        return GateServer.process(target, Arrays.copyOfRange(request, 4 + length, request.length));
    }

    static void start(int port, EventLoopGroup loops, Class<? extends ServerChannel> type) throws IOException {
        ServerServiceDefinition service = ServerServiceDefinition.builder("lull.Gate")
                .addMethod(ECHO, ServerCalls.asyncUnaryCall((byte[] request, StreamObserver<byte[]> answers) -> {
                    answers.onNext(process(request));
                    answers.onCompleted();
                }))
                .addMethod(REPEAT, ServerCalls.asyncServerStreamingCall((byte[] request, StreamObserver<byte[]> answers) -> {
                    byte[] answer = process(request);
                    for (int i = 0; i < ANSWERS; i++) {
                        answers.onNext(answer);
                    }
                    answers.onCompleted();
                }))
                .addMethod(JOIN, ServerCalls.asyncClientStreamingCall(answers -> new StreamObserver<byte[]>() {
                    private final ByteArrayOutputStream all = new ByteArrayOutputStream();

                    @Override
                    public void onNext(byte[] message) {
                        all.writeBytes(message);
                    }

                    @Override
                    public void onError(Throwable error) {
                        // The client has cancelled.
                    }

                    @Override
                    public void onCompleted() {
                        answers.onNext(process(all.toByteArray()));
                        answers.onCompleted();
                    }
                }))
                .build();
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .bossEventLoopGroup(loops).workerEventLoopGroup(loops).channelType(type).addService(service).build().start();
    }
}
