// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import static lull.failover.Replica.Mood.FREE;
import static lull.failover.Replica.Mood.HANGS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

/** Datagrams as a gate sends them, and others. */
class GateListenerTest {
    private static final long SECONDS = 100;

    /** What sends datagrams to a listener. */
    private static final class Sender implements AutoCloseable {
        private final DatagramSocket socket;
        private final GateListener listener;
        private long sent;

        Sender(GateListener listener) throws SocketException {
            this.listener = listener;
            socket = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        }

        /** Sends one, and waits until it has been dealt with. */
        void send(byte[] bytes) throws Exception {
            socket.send(new DatagramPacket(bytes, bytes.length, listener.address()));
            sent++;
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            while (listener.heard() + listener.strange() < sent) {
                assertTrue(System.nanoTime() < end, "a datagram on the loopback was lost");
                Thread.sleep(1);
            }
        }

        void send(String line) throws Exception {
            send(line.getBytes(StandardCharsets.ISO_8859_1));
        }

        @Override
        public void close() {
            socket.close();
        }
    }

    private static final List<URI> URIS = List.of(URI.create("http://127.0.0.1:8001"), URI.create("https://127.0.0.1"), URI.create("http://127.0.0.1:8003/"));

    private static GateListener listen(Replicas<URI> replicas) throws IOException {
        return GateListener.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), replicas);
    }

    /** Who is asked first by so many requests that each free replica's turn comes. */
    private static Set<URI> asked(Replicas<URI> replicas) {
        Set<URI> asked = new HashSet<>();
        for (int i = 0; i < URIS.size(); i++) {
            asked.add(new FailoverPolicy(1, Duration.ofSeconds(1)).begin(replicas, false).next().orElseThrow().replica());
        }
        return asked;
    }

    @Test
    void aStoppedReplicaIsNotAskedUntilItRuns() throws Exception {
        Replicas<URI> replicas = Replicas.of(URIS);
        try (GateListener listener = listen(replicas); Sender sender = new Sender(listener)) {
            sender.send("lull-gate 1 77 443 busy 9000\n");
            assertEquals(Set.of(URIS.get(0), URIS.get(2)), asked(replicas));
            // One process with two of the ports and one that nobody asks.
            sender.send("lull-gate 1 78 8001,9,8003 busy 9000\n");
            assertEquals(Set.of(URIS.get(1)), asked(replicas), "all are busy: the one that will be free first");
            sender.send("lull-gate 1 77 443 runs\n");
            assertEquals(Set.of(URIS.get(1)), asked(replicas), "the only one that is free");
            sender.send("lull-gate 1 78 8001,9,8003 runs\n");
            assertEquals(Set.copyOf(URIS), asked(replicas));
            assertEquals(4, listener.heard());
            assertEquals(0, listener.strange());
        }
    }

    @Test
    void whatIsNotTheGatesChangesNothing() throws Exception {
        Replicas<URI> replicas = Replicas.of(URIS);
        try (GateListener listener = listen(replicas); Sender sender = new Sender(listener)) {
            String good = "lull-gate 1 77 8001 busy 9000\n";
            List<String> lines = List.of("", "\n", "lull-gate", good.strip(), good + good, good.replace("busy", "Busy"), good.replace(" 1 ", " 2 "),
                    good.replace("8001", "8002"), good.replace("8001", "70000"), good.replace("8001", ","), good.replace("8001", "8001,"), good.replace("9000", "-1"),
                    good.replace("9000", "99999999999999999999"), good.replace("77", "-77"), "x".repeat(1500), good + "x".repeat(1600));
            for (String line : lines) {
                sender.send(line);
            }
            long seed = System.nanoTime();
            Random random = new Random(seed);
            for (int i = 0; i < 1000; i++) {
                byte[] bytes = good.getBytes(StandardCharsets.ISO_8859_1);
                // Outside of the numbers, so that it stays no line whatever is written.
                bytes[random.nextInt("lull-gate 1".length())] ^= (byte) (1 << random.nextInt(8));
                sender.send(bytes);
            }
            assertEquals(0, listener.heard(), "seed " + seed);
            assertEquals(lines.size() + 1000, listener.strange());
            assertEquals(Set.copyOf(URIS), asked(replicas));
        }
    }

    private static final byte[] KEY = new byte[32];

    static {
        for (int i = 0; i < KEY.length; i++) {
            KEY[i] = (byte) i;
        }
    }

    /** A line of a gate at 127.0.0.1 with the key. */
    private static String proven(String line) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(KEY, "HmacSHA256"));
        mac.update(new byte[] {127, 0, 0, 1});
        return line + HexFormat.of().formatHex(mac.doFinal(line.getBytes(StandardCharsets.ISO_8859_1))) + "\n";
    }

    private static long micros(Duration ago) {
        return TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis() - ago.toMillis());
    }

    /** As native/gate/src/datagram.rs has it. */
    @Test
    void aProofIsWhatTheGateSays() throws Exception {
        assertEquals("lull-gate 2 77 8001 5 busy 9000 35b0fc9a0b058befeac08e69878a7087dac890769889999e12e2f817752b8da6\n",
                proven("lull-gate 2 77 8001 5 busy 9000 "));
    }

    @Test
    void withAKeyOnlyWhatIsProvenAndNewCounts() throws Exception {
        Replicas<URI> replicas = Replicas.of(URIS);
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (GateListener listener = GateListener.listen(any, replicas, KEY); Sender sender = new Sender(listener)) {
            long now = micros(Duration.ZERO);
            String busy = proven("lull-gate 2 77 443 " + now + " busy 9000 ");
            String runs = proven("lull-gate 2 77 443 " + (now + 1) + " runs ");
            List<String> lines = List.of("lull-gate 1 77 443 busy 9000\n", busy.replace("9000", "9001"), busy.replace(" 443 ", " 8001 "), busy.replace(" 77 ", " 78 "),
                    busy.replace("busy 9000", "runs"), busy.substring(0, busy.length() - 2) + (busy.endsWith("0\n") ? "1\n" : "0\n"), busy.replaceAll("[0-9a-f]{64}", "0".repeat(64)),
                    proven("lull-gate 2 77 443 " + micros(GateListener.OLDEST.plusSeconds(5)) + " busy 9000 "),
                    proven("lull-gate 2 77 443 " + micros(Duration.ofHours(-2)) + " busy 9000 "));
            for (String line : lines) {
                sender.send(line);
            }
            assertEquals(0, listener.heard());
            assertEquals(Set.copyOf(URIS), asked(replicas));
            sender.send(busy);
            assertEquals(Set.of(URIS.get(0), URIS.get(2)), asked(replicas));
            sender.send(runs);
            assertEquals(Set.copyOf(URIS), asked(replicas));
            // What somebody has seen pass is worth nothing: that one, and one from another time of the same gate.
            sender.send(busy);
            sender.send(runs);
            assertEquals(Set.copyOf(URIS), asked(replicas));
            // The next process at the port is another sender, and its time is later.
            sender.send(proven("lull-gate 2 78 443 " + (now + 2) + " busy 9000 "));
            assertEquals(Set.of(URIS.get(0), URIS.get(2)), asked(replicas));
            assertEquals(3, listener.heard());
            assertEquals(lines.size() + 2, listener.strange());
        }
        assertThrows(IllegalArgumentException.class, () -> GateListener.listen(any, replicas, new byte[31]));
    }

    @Test
    void aNameWithoutAnAddressIsAnError() {
        Replicas<URI> unknown = Replicas.of(List.of(URI.create("http://no-such-host.invalid:80")));
        assertThrows(UnknownHostException.class, () -> listen(unknown));
        Replicas<URI> none = Replicas.of(List.of(URI.create("http:///path")));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> listen(none)).getMessage().contains("http:///path"));
    }

    @Test
    void anAnswerOnItsWaySaysNothingOfAPause() {
        Replicas<URI> replicas = Replicas.of(URIS);
        Attempts<URI> before = new FailoverPolicy(3, Duration.ofSeconds(SECONDS)).begin(replicas, false);
        Attempt<URI> early = before.next().orElseThrow();
        replicas.told(early.index(), Duration.ofSeconds(9), System.nanoTime());
        before.answered(early);
        assertFalse(asked(replicas).contains(early.replica()));
        // One that was sent since does.
        replicas.answered(early.index(), System.nanoTime());
        assertEquals(Set.copyOf(URIS), asked(replicas));
    }

    @Test
    void anIdempotentRequestLeavesAReplicaThatStops() throws Exception {
        for (boolean idempotent : new boolean[] {true, false}) {
            for (Duration pause : List.of(Duration.ofSeconds(9), Duration.ofMillis(1))) {
                boolean leaves = idempotent && pause.toSeconds() > 0;
                try (Replica one = new Replica(1, HANGS); Replica two = new Replica(2, FREE)) {
                    Replicas<URI> replicas = Replicas.of(List.of(one.uri(), two.uri()));
                    HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
                    FailoverHttpClient client = new FailoverHttpClient(http, new FailoverPolicy(3, Duration.ofSeconds(SECONDS)), replicas);
                    try (GateListener listener = listen(replicas); Sender sender = new Sender(listener)) {
                        HttpRequest request = HttpRequest.newBuilder(URI.create("http://service/")).build();
                        CompletableFuture<String> answer = client.sendAsync(request, BodyHandlers.ofString(), idempotent).thenApply(r -> r.body());
                        while (one.requests().isEmpty()) {
                            Thread.sleep(1);
                        }
                        sender.send("lull-gate 1 1 " + one.uri().getPort() + " busy " + pause.toMillis() + "\n");
                        if (leaves) {
                            assertEquals("2 GET / ", answer.get(SECONDS, TimeUnit.SECONDS));
                        } else {
                            assertThrows(TimeoutException.class, () -> answer.get(200, TimeUnit.MILLISECONDS));
                            assertEquals(0, two.requests().size());
                            one.answer();
                            assertEquals("1 GET / ", answer.get(SECONDS, TimeUnit.SECONDS));
                        }
                        assertEquals(leaves ? 1 : 0, two.requests().size());
                    }
                }
            }
        }
    }

    @Test
    void whatFailsForOneRequestIsNotTheListeners() throws Exception {
        Replicas<URI> replicas = Replicas.of(URIS);
        try (GateListener listener = listen(replicas); Sender sender = new Sender(listener)) {
            replicas.watch(0, () -> {
                throw new ArithmeticException("expected");
            });
            sender.send("lull-gate 1 77 8001 busy 9000\n");
            sender.send("lull-gate 1 77 443 busy 9000\n");
            assertEquals(Set.of(URIS.get(2)), asked(replicas));
        }
    }

    @Test
    void whoCannotLeaveLeavesWhenToldAgain() throws Exception {
        try (Replica one = new Replica(1, HANGS); Replica two = new Replica(2, FREE)) {
            Replicas<URI> replicas = Replicas.of(List.of(one.uri(), two.uri()));
            HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
            FailoverHttpClient client = new FailoverHttpClient(http, new FailoverPolicy(3, Duration.ofSeconds(SECONDS)), replicas);
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://service/")).build();
            CompletableFuture<String> answer = client.sendAsync(request, BodyHandlers.ofString(), true).thenApply(r -> r.body());
            while (one.requests().isEmpty()) {
                Thread.sleep(1);
            }
            replicas.told(1, Duration.ofSeconds(9), System.nanoTime());
            replicas.told(0, Duration.ofSeconds(9), System.nanoTime());
            assertEquals(0, two.requests().size());
            replicas.free(1);
            replicas.told(0, Duration.ofSeconds(9), System.nanoTime());
            assertEquals("2 GET / ", answer.get(SECONDS, TimeUnit.SECONDS));
        }
    }

    @Test
    void nobodyLeavesForAReplicaThatIsStoppedToo() {
        Replicas<URI> replicas = Replicas.of(URIS);
        Attempts<URI> attempts = new FailoverPolicy(9, Duration.ofSeconds(SECONDS)).begin(replicas, true);
        Attempt<URI> first = attempts.next().orElseThrow();
        assertFalse(attempts.isToLeave(first));
        replicas.told(first.index(), Duration.ofSeconds(9), System.nanoTime());
        assertTrue(attempts.isToLeave(first));
        Attempt<URI> second = attempts.elsewhere().orElseThrow();
        assertNotEquals(first.index(), second.index());
        replicas.told(3 - first.index() - second.index(), Duration.ofSeconds(9), System.nanoTime());
        assertTrue(attempts.elsewhere().isEmpty(), "the third is stopped, the others have been asked");
        FailoverPolicy stays = new FailoverPolicy(9, Duration.ofSeconds(SECONDS), Optional.empty(), Optional.empty());
        Attempts<URI> staying = stays.begin(replicas, true);
        Attempt<URI> attempt = staying.next().orElseThrow();
        replicas.told(attempt.index(), Duration.ofSeconds(9), System.nanoTime());
        assertFalse(staying.isToLeave(attempt));
        assertThrows(IllegalArgumentException.class,
                () -> new FailoverPolicy(1, Duration.ofSeconds(1), Optional.empty(), Optional.of(Duration.ofMillis(-1))));
    }
}
