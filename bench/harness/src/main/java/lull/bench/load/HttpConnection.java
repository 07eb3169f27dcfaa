// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A persistent HTTP/1.1 connection to 127.0.0.1, blocking, for one thread: as little as a load needs, so that the load costs
 * little processor time. Knows Content-Length and chunked bodies. Opens itself at the first request and again after a failure.
 */
public class HttpConnection implements AutoCloseable {
    private static final int MAX_BODY = 64 << 20;
    private static final int MAX_LINE = 16 << 10;

    private final int port;
    private final int timeoutMillis;
    private Socket socket;
    private InputStream in;

    /** An answer: status code and body. */
    public record Answer(int status, byte[] body) { }

    /** Makes a connection to {@code port}; connecting and each read may take {@code timeoutMillis}. Does not open it yet. */
    public HttpConnection(int port, int timeoutMillis) {
        this.port = port;
        this.timeoutMillis = timeoutMillis;
    }

    /**
     * Sends {@code GET target} and returns the answer.
     *
     * @param target path and query, already encoded
     * @throws IOException if no complete answer came; the connection is closed then
     */
    public Answer get(String target) throws IOException {
        return send("GET", target, null, new byte[0]);
    }

    /**
     * Sends a request with a body and returns the answer.
     *
     * @param method such as {@code POST}
     * @param target path and query, already encoded
     * @param type of the body; null for a request without one
     * @throws IOException if no complete answer came; the connection is closed then
     */
    public Answer send(String method, String target, String type, byte[] body) throws IOException {
        String head = method + " " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nAccept: application/json\r\n" + requestFields()
                + (type == null ? "" : "Content-Type: " + type + "\r\nContent-Length: " + body.length + "\r\n") + "\r\n";
        byte[] message = Arrays.copyOf(head.getBytes(StandardCharsets.US_ASCII), head.length() + body.length);
        System.arraycopy(body, 0, message, head.length(), body.length);
        try {
            if (socket == null) {
                open();
            }
            // One write, so that head and body share a packet.
            socket.getOutputStream().write(message);
            return readAnswer();
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Returns more fields for the request that is about to be sent, each with its line end; for subclasses. */
    protected String requestFields() {
        return "";
    }

    /** Is told each field of an answer; for subclasses. */
    protected void answerField(String name, String value) { }

    private void open() throws IOException {
        Socket opening = new Socket();
        try {
            opening.setTcpNoDelay(true);
            opening.setSoTimeout(timeoutMillis);
            opening.connect(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port), timeoutMillis);
            in = new BufferedInputStream(opening.getInputStream(), 8192);
            socket = opening;
        } finally {
            if (socket == null) {
                opening.close();
            }
        }
    }

    private Answer readAnswer() throws IOException {
        String status = readLine();
        if (!status.matches("HTTP/1\\.1 [0-9]{3}.*")) {
            throw new IOException("expected an HTTP/1.1 status line, found '" + status + "'");
        }
        long length = -1;
        boolean chunked = false;
        boolean close = false;
        for (String line = readLine(); !line.isEmpty(); line = readLine()) {
            int colon = line.indexOf(':');
            String name = line.substring(0, Math.max(colon, 0));
            String value = line.substring(colon + 1).trim();
            answerField(name, value);
            if (name.equalsIgnoreCase("Content-Length")) {
                length = parse(value, 10);
            } else if (name.equalsIgnoreCase("Transfer-Encoding")) {
                chunked = value.equalsIgnoreCase("chunked");
            } else if (name.equalsIgnoreCase("Connection")) {
                close = value.equalsIgnoreCase("close");
            }
        }
        byte[] body;
        if (status.startsWith("204", 9)) {
            // Never has a body, nor says so.
            body = new byte[0];
        } else if (chunked) {
            body = readChunks();
        } else if (length >= 0) {
            body = readExactly(length);
        } else {
            throw new IOException("an answer with neither Content-Length nor chunks: '" + status + "'");
        }
        if (close) {
            close();
        }
        return new Answer(Integer.parseInt(status.substring(9, 12)), body);
    }

    private byte[] readChunks() throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        while (true) {
            String line = readLine();
            int semicolon = line.indexOf(';');
            long size = parse(semicolon < 0 ? line.trim() : line.substring(0, semicolon).trim(), 16);
            if (size == 0) {
                while (!readLine().isEmpty()) {
                    // trailers
                }
                return body.toByteArray();
            }
            if (body.size() + size > MAX_BODY) {
                throw new IOException("an answer of more than " + MAX_BODY + " bytes");
            }
            body.write(readExactly(size));
            readLine();
        }
    }

    private byte[] readExactly(long length) throws IOException {
        if (length > MAX_BODY) {
            throw new IOException("an answer of " + length + " bytes: at most " + MAX_BODY + " are read");
        }
        byte[] bytes = in.readNBytes((int) length);
        if (bytes.length < length) {
            throw new EOFException("the server closed the connection after " + bytes.length + " of " + length + " bytes");
        }
        return bytes;
    }

    private String readLine() throws IOException {
        StringBuilder line = new StringBuilder(64);
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new EOFException("the server closed the connection");
            }
            if (line.length() == MAX_LINE) {
                throw new IOException("a header line of more than " + MAX_LINE + " characters");
            }
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    private static long parse(String number, int radix) throws IOException {
        try {
            long value = Long.parseLong(number, radix);
            if (value >= 0) {
                return value;
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw new IOException("expected a length, found '" + number + "'");
    }

    @Override
    public void close() {
        if (socket != null) {
            try {
                socket.close();
            } catch (IOException e) {
                // nothing is left to save
            }
            socket = null;
        }
    }
}
