// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.io.IOException;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.stream.IntStream;
import lull.bench.load.FixedRequest;
import lull.bench.load.HttpConnection;

/** HTTP/1.1, with a pool of connections to each replica. */
final class HttpWire implements Wire {
    private final int[] ports;
    private final List<Deque<Connection>> idle;

    /** A connection that sends a deadline and hears the hint. Belongs to one thread at a time. */
    private static final class Connection extends HttpConnection {
        /** Said with each request: without one, the gate would take its default. */
        private long deadlineMillis = PATIENCE_MILLIS;
        private long busyMillis;

        Connection(int port) {
            super(port, PATIENCE_MILLIS);
        }

        @Override
        protected String requestFields() {
            busyMillis = -1;
            return "x-envoy-expected-rq-timeout-ms: " + deadlineMillis + "\r\n";
        }

        @Override
        protected void answerField(String name, String value) {
            if (name.equalsIgnoreCase("Busy-Until")) {
                busyMillis = Long.parseLong(value);
            }
        }
    }

    HttpWire(int[] ports) {
        this.ports = ports.clone();
        this.idle = IntStream.range(0, ports.length).<Deque<Connection>>mapToObj(i -> new ConcurrentLinkedDeque<>()).toList();
    }

    @Override
    public void connect(FixedRequest request, int count) throws IOException {
        for (int replica = 0; replica < ports.length; replica++) {
            for (int i = 0; i < count; i++) {
                Connection connection = new Connection(ports[replica]);
                Wire.check(request, request.difference(request.send(connection)));
                idle.get(replica).addFirst(connection);
            }
        }
    }

    @Override
    public long send(FixedRequest request, int replica, int deadlineMillis) throws IOException {
        Connection connection = idle.get(replica).pollFirst();
        if (connection == null) {
            connection = new Connection(ports[replica]);
        }
        connection.deadlineMillis = deadlineMillis > 0 ? deadlineMillis : PATIENCE_MILLIS;
        HttpConnection.Answer answer = request.send(connection);
        idle.get(replica).addFirst(connection);
        if (answer.status() == 503 && connection.busyMillis >= 0 && deadlineMillis > 0) {
            return connection.busyMillis;
        }
        Wire.check(request, request.difference(answer));
        return ANSWERED;
    }

    @Override
    public void close() {
        idle.forEach(connections -> connections.forEach(HttpConnection::close));
    }
}
