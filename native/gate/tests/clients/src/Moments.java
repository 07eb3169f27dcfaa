// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import com.linecorp.armeria.client.Endpoint;
import com.linecorp.armeria.client.WebClient;
import com.linecorp.armeria.common.HttpData;
import com.linecorp.armeria.common.HttpMethod;
import com.linecorp.armeria.common.HttpRequest;
import com.linecorp.armeria.common.RequestHeaders;
import com.linecorp.armeria.common.SessionProtocol;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import okhttp3.RequestBody;
import okio.BufferedSink;
import org.apache.hc.client5.http.async.methods.SimpleResponseConsumer;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.config.TlsConfig;
import org.apache.hc.client5.http.impl.async.CloseableHttpAsyncClient;
import org.apache.hc.client5.http.impl.async.HttpAsyncClients;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.nio.PoolingAsyncClientConnectionManagerBuilder;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.InputStreamEntity;
import org.apache.hc.core5.http.nio.support.AsyncRequestBuilder;
import org.apache.hc.core5.http.nio.support.classic.AbstractClassicEntityProducer;
import org.apache.hc.core5.http2.HttpVersionPolicy;
import org.apache.hc.core5.util.Timeout;
import org.eclipse.jetty.client.AsyncRequestContent;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.client.transport.HttpClientTransportOverHTTP2;
import org.eclipse.jetty.util.Callback;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.http.HttpProtocol;
import reactor.netty.resources.ConnectionProvider;

/**
 * Clients of HTTP/2, as those of {@link Clients}, that send their bodies in two parts: the first at once, nothing, half or all of it, and the rest
 * when a file has got longer.
 *
 * <pre>Moments  port  port-of-TLS  certificate  busy-answers-of-each  most-seconds-of-each  head|middle|end  file</pre>
 *
 * Prints a line {@code target -|late end} for each request: {@code late} if nobody made the file longer for three seconds. A target is
 * {@code /CLIENT/MOMENT/BODY/NUMBER}, the end {@code ok}, {@code busy}, or what the client threw.
 */
public class Moments {
    /** Seconds until a client gives up. */
    private static final int PATIENCE = 30;
    private static final int[] BODIES = {0, 5, 30_000, 1_000_000};
    private static final ExecutorService threads = Executors.newCachedThreadPool();

    /** Sends one request, and gives the status; no body: none. */
    interface Client {
        int send(String url, Parts body) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        String plain = "http://127.0.0.1:" + args[0];
        int wanted = Integer.parseInt(args[3]);
        Map<String, Client> clients = new TreeMap<>();
        clients.put("apache", apache());
        clients.put("apache-classic", apacheClassic());
        clients.put("armeria", armeria(args[0]));
        clients.put("grpc", grpc(Integer.parseInt(args[0])));
        clients.put("jdk", jdk(args[2]));
        clients.put("jetty", jetty());
        clients.put("okhttp", okhttp());
        clients.put("reactor", reactor());
        for (Map.Entry<String, Client> client : clients.entrySet()) {
            String base = client.getKey().equals("jdk") ? "https://localhost:" + args[1] : plain;
            for (int length : BODIES) {
                if (length == 0 && !args[5].equals("end")) {
                    continue;
                }
                long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(args[4]));
                int busy = 0;
                for (int n = 0; busy < wanted && System.nanoTime() < end; n++) {
                    String target = "/" + client.getKey() + "/" + args[5] + "/" + length + "/" + n;
                    Parts body = length == 0 ? null : new Parts(length, args[5], args[6]);
                    String how = one(client.getValue(), base + target, body);
                    busy += how.equals("ok") ? 0 : 1;
                    System.out.println(target + (body != null && body.late ? " late " : " - ") + how);
                }
            }
        }
        System.out.flush();
        System.exit(0);
    }

    private static String one(Client client, String url, Parts body) {
        try {
            int status = client.send(url, body);
            return switch (status) {
                case 200 -> "ok";
                case 503 -> "busy";
                default -> "status " + status;
            };
        } catch (Exception e) {
            Throwable cause = e;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return cause.toString().replace('\n', ' ');
        }
    }

    /** A body: what is sent at once, and what behind it. */
    static final class Parts {
        final byte[] first;
        final byte[] rest;
        private final java.io.File file;
        private final long before;
        volatile boolean late;

        Parts(int length, String moment, String file) {
            int now = moment.equals("head") ? 0 : moment.equals("middle") ? length / 2 : length;
            first = new byte[now];
            rest = new byte[length - now];
            this.file = new java.io.File(file);
            before = this.file.length();
        }

        int length() {
            return first.length + rest.length;
        }

        /** Waits before the rest. */
        void await() throws IOException {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(3);
            while (rest.length > 0 && file.length() == before) {
                if (System.nanoTime() > end) {
                    late = true;
                    return;
                }
                try {
                    Thread.sleep(2);
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
        }

        void writeTo(OutputStream out) throws IOException {
            out.write(first);
            out.flush();
            await();
            out.write(rest);
        }

        InputStream stream() {
            return new InputStream() {
                private final InputStream one = new ByteArrayInputStream(first);
                private InputStream other;

                @Override
                public int read() throws IOException {
                    byte[] b = new byte[1];
                    return read(b, 0, 1) < 0 ? -1 : b[0] & 0xff;
                }

                @Override
                public int read(byte[] b, int off, int len) throws IOException {
                    int count = one.read(b, off, len);
                    if (count >= 0) {
                        return count;
                    }
                    if (other == null) {
                        await();
                        other = new ByteArrayInputStream(rest);
                    }
                    return other.read(b, off, len);
                }
            };
        }
    }

    private static Client jdk(String certificate) throws Exception {
        var client = java.net.http.HttpClient.newBuilder().version(java.net.http.HttpClient.Version.HTTP_2).sslContext(trusting(certificate)).build();
        return (url, body) -> {
            var request = java.net.http.HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(PATIENCE));
            if (body != null) {
                var publisher = java.net.http.HttpRequest.BodyPublishers.ofInputStream(body::stream);
                request.POST(java.net.http.HttpRequest.BodyPublishers.fromPublisher(publisher, body.length()));
            }
            return client.send(request.build(), java.net.http.HttpResponse.BodyHandlers.discarding()).statusCode();
        };
    }

    /** Trusts this certificate only. */
    private static javax.net.ssl.SSLContext trusting(String certificate) throws Exception {
        var store = java.security.KeyStore.getInstance(java.security.KeyStore.getDefaultType());
        store.load(null, null);
        try (InputStream in = new java.io.FileInputStream(certificate)) {
            store.setCertificateEntry("gate", java.security.cert.CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        var factory = javax.net.ssl.TrustManagerFactory.getInstance(javax.net.ssl.TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        var context = javax.net.ssl.SSLContext.getInstance("TLS");
        context.init(null, factory.getTrustManagers(), null);
        return context;
    }

    private static Client jetty() throws Exception {
        HttpClient client = new HttpClient(new HttpClientTransportOverHTTP2(new HTTP2Client()));
        client.start();
        return (url, body) -> {
            var request = client.newRequest(url).method(body == null ? "GET" : "POST").timeout(PATIENCE, TimeUnit.SECONDS);
            if (body != null) {
                AsyncRequestContent content = new AsyncRequestContent();
                request.body(content);
                threads.execute(() -> {
                    try {
                        content.write(ByteBuffer.wrap(body.first), Callback.NOOP);
                        content.flush();
                        body.await();
                        content.write(ByteBuffer.wrap(body.rest), Callback.NOOP);
                        content.close();
                    } catch (IOException e) {
                        // The request is over.
                    }
                });
            }
            return request.send().getStatus();
        };
    }

    /** Of itself it repeats what was answered 503, a second later. */
    private static CloseableHttpAsyncClient apacheClient() {
        return HttpAsyncClients.custom()
                .disableAutomaticRetries()
                .setConnectionManager(PoolingAsyncClientConnectionManagerBuilder.create()
                        .setDefaultTlsConfig(TlsConfig.custom().setVersionPolicy(HttpVersionPolicy.FORCE_HTTP_2).build()).build())
                .build();
    }

    private static Client apache() {
        CloseableHttpAsyncClient client = apacheClient();
        client.start();
        return (url, body) -> {
            AsyncRequestBuilder request = body == null ? AsyncRequestBuilder.get(url) : AsyncRequestBuilder.post(url);
            if (body != null) {
                request.setEntity(new AbstractClassicEntityProducer(65536, ContentType.APPLICATION_OCTET_STREAM, threads) {
                    @Override
                    protected void produceData(ContentType type, OutputStream out) throws IOException {
                        body.writeTo(out);
                        out.close();
                    }
                });
            }
            return client.execute(request.build(), SimpleResponseConsumer.create(), null).get(PATIENCE, TimeUnit.SECONDS).getCode();
        };
    }

    /** Its client that blocks speaks HTTP/1.1; over its asynchronous one, HTTP/2. */
    private static Client apacheClassic() {
        CloseableHttpAsyncClient below = apacheClient();
        below.start();
        CloseableHttpClient client = HttpAsyncClients.classic(below, Timeout.ofSeconds(PATIENCE));
        return (url, body) -> {
            if (body == null) {
                return client.execute(new HttpGet(url), response -> response.getCode());
            }
            HttpPost post = new HttpPost(url);
            post.setEntity(new InputStreamEntity(body.stream(), body.length(), ContentType.APPLICATION_OCTET_STREAM));
            return client.execute(post, response -> response.getCode());
        };
    }

    private static Client okhttp() {
        OkHttpClient client = new OkHttpClient.Builder().protocols(List.of(Protocol.H2_PRIOR_KNOWLEDGE))
                .callTimeout(Duration.ofSeconds(PATIENCE)).readTimeout(Duration.ofSeconds(PATIENCE)).build();
        return (url, body) -> {
            var request = new okhttp3.Request.Builder().url(url);
            if (body != null) {
                request.post(new RequestBody() {
                    @Override
                    public MediaType contentType() {
                        return MediaType.get("application/octet-stream");
                    }

                    @Override
                    public long contentLength() {
                        return body.length();
                    }

                    @Override
                    public void writeTo(BufferedSink sink) throws IOException {
                        body.writeTo(sink.outputStream());
                    }
                });
            }
            try (var response = client.newCall(request.build()).execute()) {
                return response.code();
            }
        };
    }

    private static Client reactor() {
        var client = reactor.netty.http.client.HttpClient.create(ConnectionProvider.create("one", 1)).protocol(HttpProtocol.H2C);
        return (url, body) -> {
            Mono<Integer> status = body == null
                    ? client.get().uri(url).responseSingle((response, content) -> content.thenReturn(response.status().code()))
                    : client.headers(headers -> headers.set("content-length", body.length())).post().uri(url).send(ByteBufFlux.fromInbound(parts(body)))
                            .responseSingle((response, content) -> content.thenReturn(response.status().code()));
            return status.block(Duration.ofSeconds(PATIENCE));
        };
    }

    private static Flux<byte[]> parts(Parts body) {
        return Flux.create(sink -> {
            if (body.first.length > 0) {
                sink.next(body.first);
            }
            threads.execute(() -> {
                try {
                    body.await();
                    if (body.rest.length > 0) {
                        sink.next(body.rest);
                    }
                    sink.complete();
                } catch (IOException e) {
                    sink.error(e);
                }
            });
        });
    }

    private static Client armeria(String port) {
        WebClient client = WebClient.of(SessionProtocol.H2C, Endpoint.parse("127.0.0.1:" + port));
        return (url, body) -> {
            String path = URI.create(url).getPath();
            if (body == null) {
                return client.get(path).aggregate().get(PATIENCE, TimeUnit.SECONDS).status().code();
            }
            var request = HttpRequest.streaming(RequestHeaders.builder(HttpMethod.POST, path).contentLength(body.length()).build());
            request.tryWrite(HttpData.wrap(body.first));
            threads.execute(() -> {
                try {
                    body.await();
                    request.tryWrite(HttpData.wrap(body.rest));
                } catch (IOException e) {
                    // The request is over.
                }
                request.close();
            });
            return client.execute(request).aggregate().get(PATIENCE, TimeUnit.SECONDS).status().code();
        };
    }

    private static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            return new byte[0];
        }
    };

    /** The service is none of gRPC's, as its client then says of an answer; a busy one is gRPC's. */
    private static Client grpc(int port) {
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().disableRetry().build();
        return (url, body) -> {
            var method = MethodDescriptor.<byte[], byte[]>newBuilder(BYTES, BYTES).setType(MethodDescriptor.MethodType.BIDI_STREAMING)
                    .setFullMethodName(URI.create(url).getPath().substring(1)).build();
            ClientCall<byte[], byte[]> call = channel.newCall(method, CallOptions.DEFAULT.withDeadlineAfter(PATIENCE, TimeUnit.SECONDS));
            CompletableFuture<Integer> end = new CompletableFuture<>();
            call.start(new ClientCall.Listener<>() {
                @Override
                public void onClose(Status status, Metadata trailers) {
                    boolean busy = status.getCode() == Status.Code.UNAVAILABLE
                            && trailers.containsKey(Metadata.Key.of("busy-until", Metadata.ASCII_STRING_MARSHALLER));
                    boolean processed = status.getCode() == Status.Code.UNKNOWN && String.valueOf(status.getDescription()).startsWith("HTTP status code 200");
                    if (busy || processed) {
                        end.complete(busy ? 503 : 200);
                    } else {
                        end.completeExceptionally(status.asException());
                    }
                }
            }, new Metadata());
            call.request(1);
            if (body != null && body.first.length > 0) {
                call.sendMessage(body.first);
            }
            if (body != null) {
                body.await();
            }
            try {
                if (body != null && body.rest.length > 0) {
                    call.sendMessage(body.rest);
                }
                call.halfClose();
            } catch (IllegalStateException e) {
                // The call is over.
            }
            return end.get(2 * PATIENCE, TimeUnit.SECONDS);
        };
    }
}
