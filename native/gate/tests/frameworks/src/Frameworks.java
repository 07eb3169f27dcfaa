// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.undertow.Undertow;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

/** {@link GateServer}'s answers by frameworks' servers. */
class Frameworks {
    static void start(String mode, int port) throws Exception {
        switch (mode) {
            case "tomcat" -> tomcat(port);
            case "jetty" -> jetty(port);
            case "undertow" -> undertow(port);
            case "netty-nio" -> netty(port, NioIoHandler.newFactory(), NioServerSocketChannel.class);
            case "netty-epoll" -> netty(port, EpollIoHandler.newFactory(), EpollServerSocketChannel.class);
            case "h2-nio" -> http2(port, 65_535);
            case "h2-wide" -> http2(port, 4 << 20);
            case "grpc-nio" -> Grpc.start(port, new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory()), NioServerSocketChannel.class);
            case "grpc-epoll" -> Grpc.start(port, new MultiThreadIoEventLoopGroup(2, EpollIoHandler.newFactory()), EpollServerSocketChannel.class);
            default -> throw new IllegalArgumentException("unknown mode " + mode);
        }
    }

    private static void tomcat(int port) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(Files.createTempDirectory("gate-tomcat").toString());
        tomcat.setPort(port);
        // Connections are not to be closed after a hundred requests.
        tomcat.getConnector().setProperty("maxKeepAliveRequests", "-1");
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        Context context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "all", new HttpServlet() {
            private static final long serialVersionUID = 1;

            @Override
            protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
                String target = request.getRequestURI();
                byte[] answer = GateServer.process(target, request.getInputStream().readAllBytes());
                if (!target.endsWith("c")) {
                    response.setContentLength(answer.length);
                } else {
                    response.flushBuffer();
                }
                if (!request.getMethod().equals("HEAD")) {
                    response.getOutputStream().write(answer);
                }
            }
        });
        context.addServletMappingDecoded("/*", "all");
        tomcat.start();
    }

    private static void jetty(int port) throws Exception {
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        connector.setPort(port);
        server.addConnector(connector);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) throws Exception {
                String target = request.getHttpURI().getPath();
                ByteBuffer content = Content.Source.asByteBuffer(request);
                byte[] body = new byte[content.remaining()];
                content.get(body);
                byte[] answer = GateServer.process(target, body);
                if (!target.endsWith("c")) {
                    response.getHeaders().put("Content-Length", answer.length);
                    response.write(true, ByteBuffer.wrap(answer), callback);
                } else {
                    // In two parts, so that it is chunked.
                    response.write(false, ByteBuffer.wrap(answer, 0, 1), Callback.from(
                            () -> response.write(true, ByteBuffer.wrap(answer, 1, answer.length - 1), callback), callback::failed));
                }
                return true;
            }
        });
        server.start();
    }

    private static void undertow(int port) {
        Undertow.builder().addHttpListener(port, "127.0.0.1").setHandler(exchange -> exchange.getRequestReceiver().receiveFullBytes((x, body) -> {
            String target = x.getRequestPath();
            byte[] answer = GateServer.process(target, body);
            if (!target.endsWith("c")) {
                x.setResponseContentLength(answer.length);
            }
            x.getResponseSender().send(ByteBuffer.wrap(answer));
        })).build().start();
    }

    /** With TLS of its own, if {@code tls.cert} and {@code tls.key} name files in PEM. */
    private static void netty(int port, IoHandlerFactory factory, Class<? extends ServerChannel> channel) throws Exception {
        String cert = System.getProperty("tls.cert");
        SslContext tls = cert == null ? null : SslContextBuilder.forServer(new File(cert), new File(System.getProperty("tls.key"))).build();
        new ServerBootstrap().group(new MultiThreadIoEventLoopGroup(2, factory)).channel(channel).childHandler(new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel child) {
                if (tls != null) {
                    child.pipeline().addLast(tls.newHandler(child.alloc()));
                }
                child.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(1 << 20), new SimpleChannelInboundHandler<FullHttpRequest>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
                        if (request.decoderResult().isFailure()) {
                            // Nothing behind it is read.
                            context.writeAndFlush(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.BAD_REQUEST))
                                    .addListener(ChannelFutureListener.CLOSE);
                            return;
                        }
                        byte[] answer = GateServer.process(request.uri(), ByteBufUtil.getBytes(request.content()));
                        boolean head = request.method().equals(HttpMethod.HEAD);
                        ByteBuf content = head ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(answer);
                        DefaultFullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, content);
                        if (request.uri().endsWith("c")) {
                            response.headers().set(HttpHeaderNames.TRANSFER_ENCODING, "chunked");
                        } else {
                            response.headers().set(HttpHeaderNames.CONTENT_LENGTH, answer.length);
                        }
                        context.writeAndFlush(response);
                    }
                });
            }
        }).bind("127.0.0.1", port).sync();
    }

    /** HTTP/2 without TLS, and nothing else; a client may send so much before anything of it is read. */
    private static void http2(int port, int window) throws InterruptedException {
        var group = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        new ServerBootstrap().group(group).channel(NioServerSocketChannel.class).childHandler(new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel child) {
                var codec = Http2FrameCodecBuilder.forServer().initialSettings(Http2Settings.defaultSettings().initialWindowSize(window)).build();
                child.pipeline().addLast(codec, new Http2MultiplexHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel stream) {
                        stream.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(true), new HttpObjectAggregator(1 << 24), new Http2Exchange());
                    }
                }));
                if (window > 65_535) {
                    child.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                        /** The connection's own, which no setting gives; behind the settings. */
                        @Override
                        public void channelActive(ChannelHandlerContext context) throws Exception {
                            context.writeAndFlush(new DefaultHttp2WindowUpdateFrame(window - 65_535));
                            super.channelActive(context);
                        }
                    });
                }
            }
        }).bind("127.0.0.1", port).sync();
    }

    private static final class Http2Exchange extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            byte[] answer = GateServer.process(request.uri(), ByteBufUtil.getBytes(request.content()));
            context.writeAndFlush(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(answer)));
        }
    }
}
