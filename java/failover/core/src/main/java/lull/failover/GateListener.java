// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Hears from the gates of replicas that they are stopped, by datagrams ({@code datagrams=ADDRESS:PORT} among a gate's options), and tells
 * {@link Replicas}. So nobody needs to be turned away to know it, and what the gate cannot answer, TLS for instance, goes elsewhere, too.
 *
 * <p>A replica is known by the address that a datagram comes from and the ports that it names. Replicas' names are looked up once, here; behind an
 * address translation nothing is known, which {@link #strange} shows. When all replicas are busy they are asked all the same.
 *
 * <p>Without a key datagrams are not authenticated: who can send them here from a replica's address can keep requests from it, for 10 seconds with each, so
 * listen where only replicas send. With the key that the gates have ({@code datagrams-key=FILE}) only what they prove counts, once, and if it is
 * no more than {@link #OLDEST} old by the clocks of both machines, or from the future.
 */
public final class GateListener implements AutoCloseable {
    /** As the gate writes it: version, process, ports, and what it does. */
    private static final Pattern LINE = Pattern.compile("lull-gate 1 [0-9]{1,10} ([0-9]{1,5}(?:,[0-9]{1,5})*) (?:busy ([0-9]{1,15})|(runs))\n");
    /** With a key: the number and the proof besides, which come last. */
    private static final Pattern PROVEN = Pattern.compile(
            "lull-gate 2 [0-9]{1,10} ([0-9]{1,5}(?:,[0-9]{1,5})*) (?<number>[0-9]{1,18}) (?:busy ([0-9]{1,15})|(runs)) (?<proof>[0-9a-f]{64})\n");
    /** What is proven counts for so long. */
    public static final Duration OLDEST = Duration.ofMinutes(1);
    /** Longer ones are none of the gate's. */
    private static final int LONGEST = 1500;

    private final DatagramSocket socket;
    private final Replicas<?> replicas;
    private final Map<InetSocketAddress, List<Integer>> indexes = new HashMap<>();
    private final LongAdder heard = new LongAdder();
    private final LongAdder strange = new LongAdder();
    /** By the key; null without one. Only the listener's thread has it, as what follows. */
    private final Mac mac;
    /** The last number of each gate, by its address and what it calls its ports. */
    private final Map<String, Long> last = new HashMap<>();

    private GateListener(DatagramSocket socket, Replicas<?> replicas, Mac mac) {
        this.socket = socket;
        this.replicas = replicas;
        this.mac = mac;
    }

    /**
     * Begins to listen for replicas that are known by their URIs.
     *
     * @param address where; port 0 is one that is free
     * @throws IOException if that cannot be listened at, or a replica's name has no address
     */
    public static GateListener listen(InetSocketAddress address, Replicas<URI> replicas) throws IOException {
        return listen(address, replicas, GateListener::service);
    }

    /**
     * The same, of gates that have this key.
     *
     * @param key the 32 bytes that the file of {@code datagrams-key} has as hexadecimal digits
     */
    public static GateListener listen(InetSocketAddress address, Replicas<URI> replicas, byte[] key) throws IOException {
        return listen(address, replicas, GateListener::service, key);
    }

    /**
     * Begins to listen.
     *
     * @param address where; port 0 is one that is free
     * @param service where a replica answers
     * @throws IOException if that cannot be listened at, or a replica's name has no address
     */
    public static <R> GateListener listen(InetSocketAddress address, Replicas<R> replicas, Function<R, InetSocketAddress> service) throws IOException {
        return listen(address, replicas, service, (Mac) null);
    }

    /**
     * The same, of gates that have this key.
     *
     * @param key the 32 bytes that the file of {@code datagrams-key} has as hexadecimal digits
     */
    public static <R> GateListener listen(InetSocketAddress address, Replicas<R> replicas, Function<R, InetSocketAddress> service, byte[] key)
            throws IOException {
        if (key.length != 32) {
            throw new IllegalArgumentException("the key of datagrams has " + key.length + " bytes; it must have 32");
        }
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return listen(address, replicas, service, mac);
        } catch (NoSuchAlgorithmException | InvalidKeyException e) {
            throw new IllegalStateException("this JDK has no HMAC-SHA-256", e);
        }
    }

    private static <R> GateListener listen(InetSocketAddress address, Replicas<R> replicas, Function<R, InetSocketAddress> service, Mac mac)
            throws IOException {
        DatagramSocket socket = new DatagramSocket(Objects.requireNonNull(address));
        GateListener listener = new GateListener(socket, replicas, mac);
        try {
            for (int i = 0; i < replicas.size(); i++) {
                InetSocketAddress where = service.apply(replicas.get(i));
                for (InetAddress host : InetAddress.getAllByName(where.getHostString())) {
                    listener.indexes.computeIfAbsent(new InetSocketAddress(host, where.getPort()), key -> new ArrayList<>()).add(i);
                }
            }
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
        Thread thread = new Thread(listener::run, "lull-failover gates at " + socket.getLocalPort());
        thread.setDaemon(true);
        thread.start();
        return listener;
    }

    private static InetSocketAddress service(URI replica) {
        String host = replica.getHost();
        if (host == null) {
            throw new IllegalArgumentException("the replica " + replica + " has no host");
        }
        int port = replica.getPort() >= 0 ? replica.getPort() : "https".equalsIgnoreCase(replica.getScheme()) ? 443 : 80;
        return InetSocketAddress.createUnresolved(host, port);
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return (InetSocketAddress) socket.getLocalSocketAddress();
    }

    /** How many datagrams were about replicas. */
    public long heard() {
        return heard.sum();
    }

    /** How many were not: from unknown addresses, about unknown ports, or not a gate's; with a key, also what is not proven, old, or was heard before. */
    public long strange() {
        return strange.sum();
    }

    private void run() {
        DatagramPacket packet = new DatagramPacket(new byte[LONGEST], LONGEST);
        while (!socket.isClosed()) {
            try {
                packet.setLength(LONGEST);
                socket.receive(packet);
            } catch (SocketException e) {
                if (socket.isClosed()) {
                    return;
                }
                pause();
                continue;
            } catch (IOException e) {
                pause();
                continue;
            }
            (tell(packet) ? heard : strange).increment();
        }
    }

    /** An error that stays must not take a processor. */
    private static void pause() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Tells what it says; false if it says nothing of a replica. */
    private boolean tell(DatagramPacket packet) {
        Matcher line = (mac == null ? LINE : PROVEN).matcher(new String(packet.getData(), 0, packet.getLength(), StandardCharsets.ISO_8859_1));
        if (!line.matches() || mac != null && !isNew(packet, line)) {
            return false;
        }
        // Null if it runs.
        String millis = line.group(mac == null ? 2 : 3);
        boolean known = false;
        for (String port : line.group(1).split(",")) {
            int number = Integer.parseInt(port);
            if (number > 65535) {
                continue;
            }
            for (int index : indexes.getOrDefault(new InetSocketAddress(packet.getAddress(), number), List.of())) {
                known = true;
                if (millis == null) {
                    replicas.free(index);
                } else {
                    replicas.told(index, Duration.ofMillis(Long.parseLong(millis)), System.nanoTime());
                }
            }
        }
        return known;
    }

    /** Whether a line is proven, of now, and none that was heard before. */
    private boolean isNew(DatagramPacket packet, Matcher line) {
        mac.update(packet.getAddress().getAddress());
        mac.update(packet.getData(), 0, line.start("proof"));
        if (!MessageDigest.isEqual(mac.doFinal(), HexFormat.of().parseHex(line.group("proof")))) {
            return false;
        }
        long number = Long.parseLong(line.group("number"));
        // Of the future as little as of the past: else nothing later would count until then, of a gate whose clock was ahead once.
        long off = number - TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
        if (Math.abs(off) > TimeUnit.MILLISECONDS.toMicros(OLDEST.toMillis())) {
            return false;
        }
        // Only who has the key makes this map larger.
        String gate = packet.getAddress().getHostAddress() + " " + line.group(1);
        if (number <= last.getOrDefault(gate, 0L)) {
            return false;
        }
        last.put(gate, number);
        return true;
    }

    /** Ends. What was heard is forgotten in its time. */
    @Override
    public void close() {
        socket.close();
    }
}
