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
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Hears from the gates of replicas that they are stopped, by datagrams ({@code datagrams=ADDRESS:PORT} among a gate's options), and tells
 * {@link Replicas}. So nobody needs to be turned away to know it, and what the gate cannot answer, TLS for instance, goes elsewhere, too.
 *
 * <p>A replica is known by the address that a datagram comes from and the ports that it names. Replicas' names are looked up once, here; behind an
 * address translation nothing is known, which {@link #strange} shows. Datagrams are not authenticated: who can send them here from a replica's address
 * can keep requests from it, for 10 seconds with each, so listen where only replicas send. When all replicas are busy they are asked all the same.
 */
public final class GateListener implements AutoCloseable {
    /** As the gate writes it: version, process, ports, and what it does. */
    private static final Pattern LINE = Pattern.compile("lull-gate 1 [0-9]{1,10} ([0-9]{1,5}(?:,[0-9]{1,5})*) (?:busy ([0-9]{1,15})|(runs))\n");
    /** Longer ones are none of the gate's. */
    private static final int LONGEST = 1500;

    private final DatagramSocket socket;
    private final Replicas<?> replicas;
    private final Map<InetSocketAddress, List<Integer>> indexes = new HashMap<>();
    private final LongAdder heard = new LongAdder();
    private final LongAdder strange = new LongAdder();

    private GateListener(DatagramSocket socket, Replicas<?> replicas) {
        this.socket = socket;
        this.replicas = replicas;
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
     * Begins to listen.
     *
     * @param address where; port 0 is one that is free
     * @param service where a replica answers
     * @throws IOException if that cannot be listened at, or a replica's name has no address
     */
    public static <R> GateListener listen(InetSocketAddress address, Replicas<R> replicas, Function<R, InetSocketAddress> service) throws IOException {
        DatagramSocket socket = new DatagramSocket(Objects.requireNonNull(address));
        GateListener listener = new GateListener(socket, replicas);
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

    /** How many were not: from unknown addresses, about unknown ports, or not a gate's. */
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
        Matcher line = LINE.matcher(new String(packet.getData(), 0, packet.getLength(), StandardCharsets.ISO_8859_1));
        if (!line.matches()) {
            return false;
        }
        boolean known = false;
        for (String port : line.group(1).split(",")) {
            int number = Integer.parseInt(port);
            if (number > 65535) {
                continue;
            }
            for (int index : indexes.getOrDefault(new InetSocketAddress(packet.getAddress(), number), List.of())) {
                known = true;
                if (line.group(3) != null) {
                    replicas.free(index);
                } else {
                    replicas.told(index, Duration.ofMillis(Long.parseLong(line.group(2))), System.nanoTime());
                }
            }
        }
        return known;
    }

    /** Ends. What was heard is forgotten in its time. */
    @Override
    public void close() {
        socket.close();
    }
}
