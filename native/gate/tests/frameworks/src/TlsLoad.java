// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * The JDK's client, over TLS: threads that send one request after the other, half of them with a body.
 *
 * <pre>TlsLoad PORT CERTIFICATE HTTP_1_1|HTTP_2 THREADS SECONDS ROUND</pre>
 *
 * Prints {@code target status}, or {@code target} and what was thrown, for each. The version that an answer came by must be the one that is asked for.
 */
public class TlsLoad {
    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        HttpClient.Version version = HttpClient.Version.valueOf(args[2]);
        HttpClient client = HttpClient.newBuilder().version(version).sslContext(trusting(args[1])).build();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(args[4]));
        Queue<String> lines = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[3]); i++) {
            String prefix = "/" + args[5] + "/" + version + "-" + i + "/";
            threads.add(new Thread(() -> {
                for (int n = 0; System.nanoTime() < end; n++) {
                    String target = prefix + n;
                    lines.add(target + " " + send(client, version, "https://localhost:" + port + target, n % 2 == 0));
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        lines.forEach(System.out::println);
    }

    private static String send(HttpClient client, HttpClient.Version version, String uri, boolean body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(uri)).timeout(Duration.ofSeconds(120));
        if (body) {
            request.POST(HttpRequest.BodyPublishers.ofString("hello"));
        }
        try {
            HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            return response.version() == version ? Integer.toString(response.statusCode()) : "by " + response.version();
        } catch (IOException | InterruptedException e) {
            return e.toString().replace('\n', ' ');
        }
    }

    /** Trusts this certificate only. */
    private static SSLContext trusting(String certificate) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (InputStream in = new FileInputStream(certificate)) {
            store.setCertificateEntry("gate", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, factory.getTrustManagers(), null);
        return context;
    }
}
