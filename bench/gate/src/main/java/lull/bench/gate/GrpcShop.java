// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import lull.bench.load.FixedRequest;
import lull.bench.service.Service;
import lull.bench.tomcat.Shop;

/** The shop as a service of gRPC: a call's message has method, target and body of the HTTP request, its answer is the page. On Netty's epoll transport. */
final class GrpcShop implements Service.Running {
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
    static final MethodDescriptor<byte[], byte[]> PAGE = MethodDescriptor.newBuilder(BYTES, BYTES).setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("lull.Shop/Page").build();

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, EpollIoHandler.newFactory());
    private final Server server;

    GrpcShop(int port) throws IOException {
        Shop shop = new Shop();
        ServerServiceDefinition service = ServerServiceDefinition.builder("lull.Shop").addMethod(PAGE, ServerCalls.asyncUnaryCall(
                (byte[] request, StreamObserver<byte[]> answers) -> answer(shop, new String(request, StandardCharsets.UTF_8), answers))).build();
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)).bossEventLoopGroup(loops).workerEventLoopGroup(loops)
                .channelType(EpollServerSocketChannel.class).addService(service).build().start();
    }

    /** The message that stands for a request. */
    static byte[] message(FixedRequest request) {
        return ((request.type() == null ? "GET" : "POST") + "\n" + request.target() + "\n" + (request.body() == null ? "" : request.body())).getBytes(StandardCharsets.UTF_8);
    }

    private static void answer(Shop shop, String message, StreamObserver<byte[]> answers) {
        String[] parts = message.split("\n", 3);
        Shop.Page page = parts.length == 3 ? shop.answer(parts[0], parts[1], parts[2]) : new Shop.Page(400, "a message needs three lines");
        if (page.status() == 200) {
            answers.onNext(page.text().getBytes(StandardCharsets.UTF_8));
            answers.onCompleted();
        } else {
            answers.onError(Status.INVALID_ARGUMENT.withDescription(page.text()).asRuntimeException());
        }
    }

    @Override
    public int port() {
        return server.getPort();
    }

    @Override
    public void close() {
        server.shutdownNow();
        loops.shutdownGracefully();
    }
}
