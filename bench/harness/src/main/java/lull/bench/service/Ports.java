// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.service;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Ports for servers that must know theirs before they start. */
public final class Ports {
    private Ports() { }

    /**
     * Returns {@code port} of 127.0.0.1 if it is free, or for 0 one that is.
     *
     * @param server for the message
     * @throws IOException if the port is taken
     */
    public static int free(String server, int port) throws IOException {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new IOException(server + " cannot have port " + port + ": " + e.getMessage() + ": give another one, or 0 for any", e);
        }
    }
}
