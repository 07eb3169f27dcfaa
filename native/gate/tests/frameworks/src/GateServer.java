// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32;

/**
 * A small HTTP server with a large live heap and regular full collections, in one of several ways to use sockets. It counts each
 * request by its target; the answer is the target and the body's CRC-32.
 *
 * <pre>GateServer blocking|virtual|resp|available|nio|httpserver|httpserver-inline|(those of {@link Frameworks})  live-MB  pause-between-collections-ms</pre>
 *
 * Prints {@code ports SERVICE CONTROL} when it is ready. A connection to the control port gets a line {@code target count} for each
 * target, and the end of the stream; one that sends {@code exit} ends the server, {@code dump} stops it for a heap dump first, and
 * {@code jfr} with one character more is for {@link Flight}, which answers instead.
 */
public class GateServer {
    private static final Map<String, AtomicInteger> processed = new ConcurrentHashMap<>();

    private static volatile Object live;

    public static void main(String[] args) throws Exception {
        String mode = args[0];
        int port = Integer.getInteger("port");
        live = makeLive(Integer.parseInt(args[1]));
        switch (mode) {
            case "blocking" -> blocking(port, Executors.newCachedThreadPool(), GateServer::exchange);
            case "virtual" -> blocking(port, virtualThreads(), GateServer::exchange);
            case "resp" -> blocking(port, Executors.newCachedThreadPool(), Resp::exchange);
            case "available" -> available(port);
            case "nio" -> nio(port);
            case "httpserver" -> httpServer(port, Executors.newFixedThreadPool(8));
            case "httpserver-inline" -> httpServer(port, null);
            default -> Frameworks.start(mode, port);
        }
        ServerSocket control = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        System.out.println("ports " + port + " " + control.getLocalPort());
        System.out.flush();
        int between = Integer.parseInt(args[2]);
        if (between > 0) {
            Thread collector = new Thread(() -> {
                while (true) {
                    try {
                        Thread.sleep(between);
                    } catch (InterruptedException e) {
                        return;
                    }
                    System.gc();
                }
            });
            collector.setDaemon(true);
            collector.start();
        }
        while (true) {
            try (Socket socket = control.accept()) {
                String command = new String(socket.getInputStream().readNBytes(4), StandardCharsets.ISO_8859_1);
                PrintStream out = new PrintStream(socket.getOutputStream(), false, StandardCharsets.ISO_8859_1);
                if (command.startsWith("jfr")) {
                    out.print(Flight.command(command));
                } else {
                    switch (command) {
                        case "exit" -> System.exit(0);
                        case "dump" -> dumpHeap();
                        default -> { }
                    }
                    processed.forEach((target, count) -> out.print(target + " " + count + "\n"));
                }
                out.flush();
            }
        }
    }

    /** A pause that is no collection. */
    private static void dumpHeap() throws IOException {
        Path directory = Files.createTempDirectory("gate");
        Path file = directory.resolve("heap.hprof");
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(file.toString(), false);
        Files.delete(file);
        Files.delete(directory);
    }

    /** Small objects in many lists: work for a collector. */
    private static Object makeLive(int megabytes) {
        List<Object> all = new ArrayList<>();
        for (int i = 0; i < megabytes; i++) {
            List<Object> one = new ArrayList<>(16384);
            for (int j = 0; j < 16384; j++) {
                one.add(new long[] {i, j, 0, 0, 0, 0});
            }
            all.add(one);
        }
        return all;
    }

    /** {@code Executors.newVirtualThreadPerTaskExecutor}, which 17 does not have. */
    private static ExecutorService virtualThreads() throws ReflectiveOperationException {
        return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }

    static byte[] process(String target, byte[] body) {
        processed.computeIfAbsent(target, t -> new AtomicInteger()).incrementAndGet();
        CRC32 crc = new CRC32();
        crc.update(body);
        return (target + " " + Long.toHexString(crc.getValue())).getBytes(StandardCharsets.ISO_8859_1);
    }

    private static byte[] response(String method, String target, byte[] answer) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        // Some answers are chunked.
        boolean chunked = target.endsWith("c");
        String head = "HTTP/1.1 200 OK\r\n" + (chunked ? "Transfer-Encoding: chunked" : "Content-Length: " + answer.length) + "\r\n\r\n";
        out.writeBytes(head.getBytes(StandardCharsets.ISO_8859_1));
        if (!method.equals("HEAD")) {
            if (chunked) {
                out.writeBytes((Integer.toHexString(answer.length) + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
                out.writeBytes(answer);
                out.writeBytes("\r\n0\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
            } else {
                out.writeBytes(answer);
            }
        }
        return out.toByteArray();
    }

    // One thread per connection.

    /** Reads a request and answers it; false at the end of the stream. */
    interface Exchange {
        boolean next(InputStream in, OutputStream out) throws IOException;
    }

    private static void blocking(int port, ExecutorService threads, Exchange exchange) throws IOException {
        ServerSocket server = new ServerSocket(port, 1000, InetAddress.getLoopbackAddress());
        Thread acceptor = new Thread(() -> {
            while (true) {
                try {
                    Socket socket = server.accept();
                    threads.execute(() -> serve(socket, exchange));
                } catch (IOException e) {
                    if (!String.valueOf(e.getMessage()).contains("Too many open files")) {
                        e.printStackTrace();
                    }
                    // Some connection will end.
                    LockSupport.parkNanos(10_000_000);
                }
            }
        });
        acceptor.setDaemon(true);
        acceptor.start();
    }

    private static void serve(Socket socket, Exchange exchange) {
        try (socket) {
            InputStream in = new BufferedInputStream(socket.getInputStream());
            OutputStream out = socket.getOutputStream();
            while (exchange.next(in, out)) {
                // the next
            }
        } catch (IOException e) {
            // The client has gone.
        }
    }

    private static boolean exchange(InputStream in, OutputStream out) throws IOException {
        String[] first = null;
        int length = 0;
        boolean chunked = false;
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            if (first == null) {
                first = line.split(" ");
            } else if (line.startsWith("Content-Length: ")) {
                length = Integer.parseInt(line.substring(16));
            } else if (line.equals("Transfer-Encoding: chunked")) {
                chunked = true;
            }
        }
        if (first == null) {
            return false;
        }
        byte[] body = chunked ? chunks(in) : in.readNBytes(length);
        out.write(response(first[0], first[1], process(first[1], body)));
        return true;
    }

    private static byte[] chunks(InputStream in) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        while (true) {
            int size = Integer.parseInt(line(in), 16);
            body.writeBytes(in.readNBytes(size));
            line(in);
            if (size == 0) {
                return body.toByteArray();
            }
        }
    }

    static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c >= 0 && c != '\n'; c = in.read()) {
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    // One thread for all connections, which asks each how many bytes it has. Were bytes gone that it was told of, it would hang in read.

    private static void available(int port) throws IOException {
        ServerSocket server = new ServerSocket(port, 1000, InetAddress.getLoopbackAddress());
        List<Socket> accepted = new CopyOnWriteArrayList<>();
        daemon(() -> {
            while (true) {
                try {
                    accepted.add(server.accept());
                } catch (IOException e) {
                    e.printStackTrace();
                }
            }
        });
        daemon(() -> {
            while (true) {
                List<Socket> ready = new ArrayList<>();
                for (Socket socket : accepted) {
                    try {
                        if (socket.getInputStream().available() > 0) {
                            ready.add(socket);
                        }
                    } catch (IOException e) {
                        accepted.remove(socket);
                    }
                }
                try {
                    // So that many a pause comes between asking and reading.
                    Thread.sleep(10);
                } catch (InterruptedException e) {
                    return;
                }
                for (Socket socket : ready) {
                    try {
                        InputStream in = socket.getInputStream();
                        exchange(in, socket.getOutputStream());
                    } catch (IOException e) {
                        accepted.remove(socket);
                    }
                }
            }
        });
    }

    private static void daemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
    }

    // One selector for all connections.

    private static void nio(int port) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
        server.configureBlocking(false);
        Selector selector = Selector.open();
        server.register(selector, SelectionKey.OP_ACCEPT);
        Thread thread = new Thread(() -> {
            try {
                while (true) {
                    selector.select(key -> {
                        try {
                            if (key.isAcceptable()) {
                                SocketChannel channel = server.accept();
                                if (channel != null) {
                                    channel.configureBlocking(false);
                                    channel.register(selector, SelectionKey.OP_READ, new ByteArrayOutputStream());
                                }
                            } else {
                                readable(key);
                            }
                        } catch (IOException e) {
                            key.cancel();
                            try {
                                key.channel().close();
                            } catch (IOException ignored) {
                                // Closed enough.
                            }
                        }
                    });
                }
            } catch (IOException e) {
                e.printStackTrace();
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static final ByteBuffer buffer = ByteBuffer.allocateDirect(65536);

    private static void readable(SelectionKey key) throws IOException {
        SocketChannel channel = (SocketChannel) key.channel();
        ByteArrayOutputStream pending = (ByteArrayOutputStream) key.attachment();
        buffer.clear();
        int n = channel.read(buffer);
        if (n < 0) {
            throw new IOException("closed");
        }
        byte[] bytes = new byte[n];
        buffer.flip().get(bytes);
        pending.writeBytes(bytes);
        while (true) {
            byte[] all = pending.toByteArray();
            // Try to read a request from what there is; wait for more if it ends early.
            InputStream in = new java.io.ByteArrayInputStream(all);
            String text = new String(all, StandardCharsets.ISO_8859_1);
            int end = text.indexOf("\r\n\r\n");
            if (end < 0) {
                return;
            }
            int used;
            byte[] body;
            int at = text.indexOf("Content-Length: ");
            if (text.substring(0, end).contains("Transfer-Encoding: chunked")) {
                // A body with chunks of ours ends like this only at its end.
                int last = text.indexOf("\r\n0\r\n\r\n", end + 2);
                if (last < 0) {
                    return;
                }
                used = last + 7;
                in.skipNBytes(end + 4);
                body = chunks(in);
            } else {
                int length = at >= 0 && at < end ? Integer.parseInt(text.substring(at + 16, text.indexOf('\r', at))) : 0;
                used = end + 4 + length;
                if (all.length < used) {
                    return;
                }
                body = java.util.Arrays.copyOfRange(all, end + 4, used);
            }
            String[] first = text.substring(0, text.indexOf('\r')).split(" ");
            ByteBuffer answer = ByteBuffer.wrap(response(first[0], first[1], process(first[1], body)));
            while (answer.hasRemaining()) {
                channel.write(answer);
            }
            pending.reset();
            pending.write(all, used, all.length - used);
        }
    }

    // The JDK's own server; without threads of its own, it answers on the thread that waits for all connections.

    private static void httpServer(int port, ExecutorService threads) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
        server.setExecutor(threads);
        server.createContext("/", GateServer::exchange);
        server.start();
    }

    private static void exchange(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        String target = exchange.getRequestURI().toString();
        byte[] answer = process(target, body);
        boolean head = exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(200, head ? -1 : target.endsWith("c") ? 0 : answer.length);
        if (!head) {
            exchange.getResponseBody().write(answer);
        }
        exchange.close();
    }
}
