// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.requests.netty;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import lull.LullJvm;
import lull.Requests;

/** An HTTP server on one event loop, bound to a free port of 127.0.0.1. */
final class Server implements AutoCloseable {
    /** Who waits for sockets: the JDK, or a library of Netty's own. */
    enum Transport { NIO, EPOLL }

    private final EventLoopGroup group;
    private final Channel channel;

    /** A server whose answers are what is supplied, in the way that the path names. */
    @SuppressWarnings("deprecation")   // in Netty 4.2; in 4.1 there are no other event loops
    Server(Transport transport, boolean bracketed, Supplier<String> body) throws InterruptedException {
        boolean nio = transport == Transport.NIO;
        group = nio ? new NioEventLoopGroup(1) : new EpollEventLoopGroup(1);
        channel = new ServerBootstrap().group(group).channel(nio ? NioServerSocketChannel.class : EpollServerSocketChannel.class).childHandler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel child) {
                if (bracketed) {
                    child.pipeline().addLast("requests", new RequestsHandler());
                }
                child.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(1 << 20), new Answers(body));
            }
        }).bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
    }

    int port() {
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static final class Answers extends SimpleChannelInboundHandler<FullHttpRequest> {
        private final Supplier<String> body;

        Answers(Supplier<String> body) {
            this.body = body;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            switch (request.uri()) {
                case "/flush" -> context.writeAndFlush(answer(HttpResponseStatus.OK, body.get()));
                // Flushed when the reads are complete.
                case "/write" -> context.write(answer(HttpResponseStatus.OK, body.get()));
                case "/later" -> new Thread(() -> context.writeAndFlush(answer(HttpResponseStatus.OK, body.get()))).start();
                case "/throw" -> throw new IllegalStateException("expected");
                case "/close" -> context.writeAndFlush(answer(HttpResponseStatus.OK, body.get())).addListener(ChannelFutureListener.CLOSE);
                case "/remove" -> {
                    context.pipeline().remove("requests");
                    context.writeAndFlush(answer(HttpResponseStatus.OK, body.get()));
                }
                case "/deregister" -> {
                    context.writeAndFlush(answer(HttpResponseStatus.OK, body.get()));
                    context.deregister();
                }
                default -> context.writeAndFlush(answer(HttpResponseStatus.NOT_FOUND, ""));
            }
        }

        private static FullHttpResponse answer(HttpResponseStatus status, String body) {
            FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.copiedBuffer(body, StandardCharsets.UTF_8));
            response.headers().set(HttpHeaderNames.CONTENT_LENGTH, response.content().readableBytes());
            return response;
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.writeAndFlush(answer(HttpResponseStatus.INTERNAL_SERVER_ERROR, cause.getMessage()));
        }
    }

    /** Run on the Lull JVM: each request leaves 1 MB of garbage. */
    public static void main(String[] args) throws IOException, InterruptedException {
        if (!Requests.heard()) {
            throw new IllegalStateException("this JVM does not link lull.Requests");
        }
        try (Server server = new Server(Transport.valueOf(args[0]), Boolean.parseBoolean(args[1]), () -> "" + LullJvm.megabyte())) {
            long before = LullJvm.collected();
            LullJvm.serve(server.port());
            LullJvm.report(before);
        }
    }
}
