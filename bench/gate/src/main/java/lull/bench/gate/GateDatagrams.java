// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** Where the gates of replicas send their datagrams; tells a client what they say. */
final class GateDatagrams implements AutoCloseable {
    private final DatagramSocket socket = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));

    GateDatagrams() throws IOException { }

    int port() {
        return socket.getLocalPort();
    }

    /** Tells what comes from now on. */
    void tell(Client client) {
        Thread thread = new Thread(() -> {
            DatagramPacket packet = new DatagramPacket(new byte[1500], 1500);
            while (!socket.isClosed()) {
                try {
                    packet.setLength(1500);
                    socket.receive(packet);
                    tell(client, new String(packet.getData(), 0, packet.getLength(), StandardCharsets.US_ASCII));
                } catch (IOException e) {
                    if (!socket.isClosed()) {
                        throw new java.io.UncheckedIOException(e);
                    }
                }
            }
        }, "datagrams");
        thread.setDaemon(true);
        thread.start();
    }

    /** {@code lull-gate 1 PROCESS PORT busy MS}, or {@code runs}. */
    static void tell(Client client, String line) {
        String[] words = line.strip().split(" ");
        client.told(Integer.parseInt(words[3]), words[4].equals("busy") ? Math.max(1, Long.parseLong(words[5])) : 0);
    }

    @Override
    public void close() {
        socket.close();
    }
}
