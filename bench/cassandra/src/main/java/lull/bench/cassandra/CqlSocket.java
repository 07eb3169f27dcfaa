// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cassandra;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A connection to Cassandra on 127.0.0.1 by version 4 of its native protocol, blocking, for one thread and one request at a time: as little
 * as a load needs, so that the load costs little processor time.
 *
 * <p>A message is version, flags, stream, opcode and length, then the body. All numbers are big-endian; a value is its length as a
 * 32-bit number, -1 for null, then its bytes.
 */
final class CqlSocket implements AutoCloseable {
    private static final int REQUEST_VERSION = 4;
    private static final int MAX_BODY = 64 << 20;
    private static final int ERROR = 0;
    private static final int STARTUP = 1;
    private static final int READY = 2;
    private static final int QUERY = 7;
    private static final int RESULT = 8;
    private static final int PREPARE = 9;
    private static final int EXECUTE = 10;
    private static final int RESULT_ROWS = 2;
    private static final int RESULT_PREPARED = 4;
    private static final int CONSISTENCY_ONE = 1;
    private static final int WITH_VALUES = 1;
    private static final int WITHOUT_METADATA = 2;
    /** Flags of rows: more to come, which is not asked for, and no description of the columns, which is. */
    private static final int HAS_MORE = 2;
    private static final int HAS_NO_METADATA = 4;

    private final Socket socket = new Socket();
    private final DataInputStream in;

    /** Writes the body of a message. */
    private interface Body {
        void write(DataOutputStream out) throws IOException;
    }

    /** Connects; that and each answer may take {@code timeoutMillis}. */
    CqlSocket(int port, int timeoutMillis) throws IOException {
        boolean done = false;
        try {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(timeoutMillis);
            socket.connect(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port), timeoutMillis);
            in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 16 << 10));
            call(STARTUP, READY, out -> {
                out.writeShort(1);
                string(out, "CQL_VERSION");
                string(out, "3.0.0");
            });
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    /** Executes a statement without parameters whose result does not matter. */
    void query(String cql) throws IOException {
        call(QUERY, RESULT, out -> {
            longString(out, cql);
            out.writeShort(CONSISTENCY_ONE);
            out.writeByte(0);
        });
    }

    /** Prepares a statement; returns its identity for {@link #execute}. */
    byte[] prepare(String cql) throws IOException {
        ByteBuffer result = call(PREPARE, RESULT, out -> longString(out, cql));
        expect("kind of result", RESULT_PREPARED, result.getInt());
        byte[] id = new byte[result.getShort()];
        result.get(id);
        return id;
    }

    /** Executes a prepared statement; returns its rows, which are none unless it is a query. A value is null or its bytes. */
    List<byte[][]> execute(byte[] id, byte[]... values) throws IOException {
        ByteBuffer result = call(EXECUTE, RESULT, out -> {
            out.writeShort(id.length);
            out.write(id);
            out.writeShort(CONSISTENCY_ONE);
            out.writeByte(WITH_VALUES | WITHOUT_METADATA);
            out.writeShort(values.length);
            for (byte[] value : values) {
                out.writeInt(value.length);
                out.write(value);
            }
        });
        List<byte[][]> rows = new ArrayList<>();
        if (result.getInt() == RESULT_ROWS) {
            expect("flags of rows", HAS_NO_METADATA, result.getInt() & (HAS_NO_METADATA | HAS_MORE));
            int columns = result.getInt();
            for (int left = result.getInt(); left > 0; left--) {
                byte[][] row = new byte[columns][];
                for (int i = 0; i < columns; i++) {
                    int length = result.getInt();
                    if (length >= 0) {
                        row[i] = new byte[length];
                        result.get(row[i]);
                    }
                }
                rows.add(row);
            }
        }
        return rows;
    }

    /** Sends a message and returns the body of the answer, which must have the opcode {@code expected}. */
    private ByteBuffer call(int opcode, int expected, Body body) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(1024);
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeByte(REQUEST_VERSION);
        out.writeByte(0);
        out.writeShort(0);
        out.writeByte(opcode);
        out.writeInt(0);
        int head = out.size();
        body.write(out);
        byte[] message = bytes.toByteArray();
        ByteBuffer.wrap(message).putInt(head - 4, message.length - head);
        // One write, so that head and body share a packet.
        socket.getOutputStream().write(message);
        expect("version", REQUEST_VERSION | 0x80, in.readUnsignedByte());
        expect("flags", 0, in.readUnsignedByte());
        expect("stream", 0, in.readShort());
        int found = in.readUnsignedByte();
        int length = in.readInt();
        if (length < 0 || length > MAX_BODY) {
            throw new IOException("an answer of " + length + " bytes: at most " + MAX_BODY + " are read");
        }
        ByteBuffer answer = ByteBuffer.wrap(in.readNBytes(length));
        if (found == ERROR) {
            int code = answer.getInt();
            byte[] text = new byte[answer.getShort()];
            answer.get(text);
            throw new IOException(String.format("Cassandra answers with error 0x%04x: %s", code, new String(text, StandardCharsets.UTF_8)));
        }
        expect("opcode", expected, found);
        return answer;
    }

    private static void expect(String what, int expected, int found) throws IOException {
        if (found != expected) {
            throw new IOException("the " + what + " of Cassandra's answer is " + found + ", expected " + expected);
        }
    }

    private static void string(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeShort(bytes.length);
        out.write(bytes);
    }

    private static void longString(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            // nothing is left to save
        }
    }
}
