// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import io.undertow.Undertow;
import io.undertow.util.Headers;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import lull.bench.service.Service;
import lull.bench.service.Services;
import lull.bench.tomcat.Shop;
import lull.bench.util.Cli;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Servers that the shop runs on, each as its users start it, bound to 127.0.0.1. */
enum ShopServer {
    TOMCAT("Tomcat", "port") {
        @Override
        Service.Running start(Path data, int port, int threads) throws Exception {
            return Services.find("tomcat").start(data, port, threads);
        }
    },
    JETTY("Jetty", "port") {
        @Override
        Service.Running start(Path data, int port, int threads) throws Exception {
            return jetty(port, threads);
        }
    },
    UNDERTOW("Undertow", "port") {
        @Override
        Service.Running start(Path data, int port, int threads) {
            return undertow(port, threads);
        }
    },
    GRPC("gRPC", "h2-port") {
        @Override
        Service.Running start(Path data, int port, int threads) throws Exception {
            return new GrpcShop(port);
        }

        @Override
        Wire wire(int[] ports) {
            return new GrpcWire(ports);
        }
    };

    private final String label;
    private final String portOption;

    ShopServer(String label, String portOption) {
        this.label = label;
        this.portOption = portOption;
    }

    /** Returns the server called {@code name}, in small letters. */
    static ShopServer named(String name) {
        return Arrays.stream(values()).filter(server -> server.toString().equals(name)).findFirst().orElseThrow(() -> new Cli.UsageException("there is no server '" + name
                + "': there are " + Arrays.stream(values()).map(ShopServer::toString).collect(Collectors.joining(", "))));
    }

    /** Starts the shop. */
    abstract Service.Running start(Path data, int port, int threads) throws Exception;

    /** How clients ask such servers. */
    Wire wire(int[] ports) {
        return new HttpWire(ports);
    }

    /** The name that its makers give it. */
    String label() {
        return label;
    }

    /** The agent's option for a port of such a server. */
    String portOption() {
        return portOption;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    private static Service.Running jetty(int port, int threads) throws IOException {
        Shop shop = new Shop();
        // Acceptor, selector, and those that work.
        Server server = new Server(new QueuedThreadPool(threads + 4));
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost("127.0.0.1");
        connector.setPort(port);
        // A client's least used connections are silent for longer than the default of half a minute, and it does not expect that they end.
        connector.setIdleTimeout(Wire.PATIENCE_MILLIS);
        server.addConnector(connector);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) throws Exception {
                Shop.Page page = shop.answer(request.getMethod(), request.getHttpURI().getPathQuery(), Content.Source.asString(request, StandardCharsets.UTF_8));
                byte[] bytes = page.text().getBytes(StandardCharsets.UTF_8);
                response.setStatus(page.status());
                response.getHeaders().put(HttpHeader.CONTENT_TYPE, "text/html;charset=UTF-8");
                response.getHeaders().put(HttpHeader.CONTENT_LENGTH, bytes.length);
                response.write(true, ByteBuffer.wrap(bytes), callback);
                return true;
            }
        });
        try {
            server.start();
        } catch (Exception e) {
            throw new IOException("Jetty did not start on port " + port + ": " + e, e);
        }
        return new Service.Running() {
            @Override
            public int port() {
                return connector.getLocalPort();
            }

            @Override
            public void close() throws IOException {
                try {
                    server.stop();
                } catch (Exception e) {
                    throw new IOException("Jetty did not stop: " + e, e);
                }
            }
        };
    }

    private static Service.Running undertow(int port, int threads) {
        Shop shop = new Shop();
        Undertow server = Undertow.builder().addHttpListener(port, "127.0.0.1").setIoThreads(2).setWorkerThreads(threads).setHandler(exchange ->
                // The shop works: not on the threads that select.
                exchange.dispatch(() -> exchange.getRequestReceiver().receiveFullBytes((same, body) -> {
                    String query = same.getQueryString();
                    Shop.Page page = shop.answer(same.getRequestMethod().toString(), same.getRequestPath() + (query.isEmpty() ? "" : "?" + query),
                            new String(body, StandardCharsets.UTF_8));
                    byte[] bytes = page.text().getBytes(StandardCharsets.UTF_8);
                    same.setStatusCode(page.status());
                    same.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/html;charset=UTF-8");
                    same.setResponseContentLength(bytes.length);
                    same.getResponseSender().send(ByteBuffer.wrap(bytes));
                }))).build();
        server.start();
        return new Service.Running() {
            @Override
            public int port() {
                return ((InetSocketAddress) server.getListenerInfo().getFirst().getAddress()).getPort();
            }

            @Override
            public void close() {
                server.stop();
            }
        };
    }
}
