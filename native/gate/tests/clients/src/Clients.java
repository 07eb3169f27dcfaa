// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import com.linecorp.armeria.client.WebClient;
import com.linecorp.armeria.common.AggregatedHttpResponse;
import com.linecorp.armeria.common.SessionProtocol;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import okhttp3.RequestBody;
import org.apache.hc.client5.http.async.methods.SimpleHttpRequest;
import org.apache.hc.client5.http.async.methods.SimpleHttpResponse;
import org.apache.hc.client5.http.config.TlsConfig;
import org.apache.hc.client5.http.impl.async.CloseableHttpAsyncClient;
import org.apache.hc.client5.http.impl.async.HttpAsyncClients;
import org.apache.hc.client5.http.impl.nio.PoolingAsyncClientConnectionManagerBuilder;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http2.HttpVersionPolicy;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.client.transport.HttpClientTransportOverHTTP2;
import reactor.core.publisher.Mono;
import reactor.netty.http.HttpProtocol;
import reactor.netty.resources.ConnectionProvider;

/**
 * Clients of HTTP/2 without TLS, one after the other, each on a connection of its own, that send requests with bodies of several sizes until
 * each size was told busy, or broke, so many times.
 *
 * <pre>Clients  port  busy-answers-of-each  most-seconds-of-each-client</pre>
 *
 * Prints a line {@code target end} for each request. A target is {@code /CLIENT/BODY/NUMBER}, the end {@code ok}, {@code busy}, or what the
 * client threw.
 */
public class Clients {
    /** Bytes. */
    private static final int[] BODIES = {0, 5, 30_000, 1_000_000, 8_000_000};

    /** Sends one request, and gives the status. */
    interface Client {
        int send(String url, byte[] body) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        int wanted = Integer.parseInt(args[1]);
        Map<String, Client> clients = new TreeMap<>();
        clients.put("jetty", jetty());
        clients.put("apache", apache());
        clients.put("okhttp", okhttp());
        clients.put("reactor", reactor());
        clients.put("armeria", armeria());
        for (Map.Entry<String, Client> client : clients.entrySet()) {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(args[2]));
            for (int body : BODIES) {
                int busy = 0;
                for (int n = 0; busy < wanted && System.nanoTime() < end; n++) {
                    String target = "/" + client.getKey() + "/" + body + "/" + n;
                    String how = one(client.getValue(), "http://127.0.0.1:" + port + target, new byte[body]);
                    busy += how.equals("ok") ? 0 : 1;
                    System.out.println(target + " " + how);
                }
            }
        }
        System.out.flush();
        // Some have threads that would go on.
        System.exit(0);
    }

    private static String one(Client client, String url, byte[] body) {
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

    private static Client jetty() throws Exception {
        HttpClient client = new HttpClient(new HttpClientTransportOverHTTP2(new HTTP2Client()));
        client.start();
        return (url, body) -> {
            var request = client.newRequest(url).method(body.length == 0 ? "GET" : "POST").timeout(120, TimeUnit.SECONDS);
            if (body.length > 0) {
                request.body(new BytesRequestContent(body));
            }
            return request.send().getStatus();
        };
    }

    /** Of itself it repeats what was answered 503, a second later. */
    private static Client apache() {
        CloseableHttpAsyncClient client = HttpAsyncClients.custom()
                .disableAutomaticRetries()
                .setConnectionManager(PoolingAsyncClientConnectionManagerBuilder.create()
                        .setDefaultTlsConfig(TlsConfig.custom().setVersionPolicy(HttpVersionPolicy.FORCE_HTTP_2).build()).build())
                .build();
        client.start();
        return (url, body) -> {
            SimpleHttpRequest request = SimpleHttpRequest.create(body.length == 0 ? "GET" : "POST", URI.create(url));
            if (body.length > 0) {
                request.setBody(body, ContentType.APPLICATION_OCTET_STREAM);
            }
            SimpleHttpResponse response = client.execute(request, null).get(120, TimeUnit.SECONDS);
            return response.getCode();
        };
    }

    private static Client okhttp() {
        OkHttpClient client = new OkHttpClient.Builder().protocols(java.util.List.of(Protocol.H2_PRIOR_KNOWLEDGE))
                .callTimeout(Duration.ofSeconds(120)).readTimeout(Duration.ofSeconds(120)).build();
        return (url, body) -> {
            var request = new okhttp3.Request.Builder().url(url);
            if (body.length > 0) {
                request.post(RequestBody.create(body, MediaType.get("application/octet-stream")));
            }
            try (var response = client.newCall(request.build()).execute()) {
                return response.code();
            }
        };
    }

    private static Client reactor() {
        var client = reactor.netty.http.client.HttpClient.create(ConnectionProvider.create("one", 1)).protocol(HttpProtocol.H2C);
        return (url, body) -> {
            Mono<Integer> status = body.length == 0
                    ? client.get().uri(url).responseSingle((response, content) -> content.thenReturn(response.status().code()))
                    : client.post().uri(url).send(reactor.netty.ByteBufFlux.fromInbound(Mono.just(body)))
                            .responseSingle((response, content) -> content.thenReturn(response.status().code()));
            return status.block(Duration.ofSeconds(120));
        };
    }

    private static Client armeria() {
        return (url, body) -> {
            WebClient client = Armeria.of(url);
            String path = URI.create(url).getPath();
            AggregatedHttpResponse response = (body.length == 0 ? client.get(path) : client.post(path, body)).aggregate().get(120, TimeUnit.SECONDS);
            return response.status().code();
        };
    }

    /** Its client is of one address, which is known with the first request. */
    private static final class Armeria {
        private static WebClient client;

        static synchronized WebClient of(String url) {
            if (client == null) {
                client = WebClient.builder(SessionProtocol.H2C, com.linecorp.armeria.client.endpoint.EndpointGroup.of(
                        com.linecorp.armeria.client.Endpoint.parse(URI.create(url).getAuthority()))).build();
            }
            return client;
        }
    }
}
