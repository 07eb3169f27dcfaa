/*
 * Copyright (c) 2026, the Lull authors. All rights reserved.
 * DO NOT ALTER OR REMOVE COPYRIGHT NOTICES OR THIS FILE HEADER.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation.  The Lull authors designate
 * this particular file as subject to the "Classpath" exception as provided
 * in the LICENSE file that accompanied this code.
 *
 * This code is distributed in the hope that it will be useful, but WITHOUT
 * ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
 * FITNESS FOR A PARTICULAR PURPOSE.  See the GNU General Public License
 * version 2 for more details (a copy is included in the LICENSE file that
 * accompanied this code).
 *
 * You should have received a copy of the GNU General Public License version
 * 2 along with this work; if not, write to the Free Software Foundation,
 * Inc., 51 Franklin St, Fifth Floor, Boston, MA 02110-1301 USA.
 *
 */


package gc.lull.local;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import gc.lull.GCBean;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test id=read
 * @requires vm.gc.Lull
 * @summary A thread that answers requests collects what each of them has left when it waits for the next one in a socket's read, ...
 * @library / /test/lib
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullLocalBudget=1g
 *                   gc.lull.local.TestSocketWaits read
 */

/*
 * @test id=timeout
 * @requires vm.gc.Lull
 * @summary ... in a read with a timeout, ...
 * @library / /test/lib
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullLocalBudget=1g
 *                   gc.lull.local.TestSocketWaits timeout
 */

/*
 * @test id=select
 * @requires vm.gc.Lull
 * @summary ... or in a selector.
 * @library / /test/lib
 * @run main/othervm -Xmx64m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullLocalBudget=1g
 *                   gc.lull.local.TestSocketWaits select
 */

/*
 * @test id=interpreter
 * @requires vm.gc.Lull
 * @summary In the interpreter, whose frames are walked in a native method.
 * @library / /test/lib
 * @run main/othervm -Xint -Xmx64m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullLocalBudget=1g
 *                   gc.lull.local.TestSocketWaits timeout
 */

/*
 * @test id=poll
 * @requires vm.gc.Lull & os.family != "windows"
 * @summary Where nothing is read there are these two waits alone: for a connection, with a timeout, ...
 * @library / /test/lib
 * @run driver gc.lull.local.TestSocketWaits only poll sun.nio.ch.Net.poll
 */

/*
 * @test id=epoll
 * @requires vm.gc.Lull & os.family == "linux"
 * @summary ... and in a selector.
 * @library / /test/lib
 * @run driver gc.lull.local.TestSocketWaits only epoll sun.nio.ch.EPoll.wait
 */

/* The budget is so large that only waits and lack of memory lead to a local collection. */
public class TestSocketWaits {
    static final int REQUESTS = 400;

    static int sum;

    // A request's answer: what it has allocated is garbage then, but for what the caller holds.
    static int answer(int request) {
        int answer = request;
        byte[][] latest = new byte[8][];    // or a compiler leaves the garbage out
        for (int i = 0; i < 1000; i++) {
            latest[i & 7] = new byte[500 + i % 7];
            answer += latest[(i + 1) & 7] == null ? 1 : latest[(i + 1) & 7].length;
        }
        return answer & 0xff;
    }

    static void serve(InputStream in, OutputStream out) throws IOException {
        Integer[] held = new Integer[100];   // across all waits
        for (int i = 0; i < held.length; i++) {
            held[i] = Integer.valueOf(1000 + i);
        }
        for (int request; (request = in.read()) >= 0; ) {
            out.write(answer(request));
            for (int i = 0; i < held.length; i++) {
                if (held[i] != 1000 + i) {
                    throw new AssertionError("element " + i + " is " + held[i]);
                }
            }
        }
    }

    static void serveOne(ServerSocket listener, int timeout) throws IOException {
        try (Socket socket = listener.accept()) {
            socket.setSoTimeout(timeout);
            serve(socket.getInputStream(), socket.getOutputStream());
        }
    }

    static void serveBySelector(ServerSocketChannel listener) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(1);
        try (SocketChannel channel = listener.accept(); Selector selector = Selector.open()) {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ);
            for (;;) {
                selector.select();
                selector.selectedKeys().clear();
                int count = channel.read(buffer.clear());
                if (count < 0) {
                    return;
                }
                if (count == 1) {
                    int answer = answer(buffer.flip().get() & 0xff);
                    channel.write(buffer.clear().put((byte) answer).flip());
                }
            }
        }
    }

    // A request's wait that reads nothing: SocketDispatcher.read0, which collects, too, is not called. All of them time out.
    static void pollOnly() throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            listener.setSoTimeout(2);
            for (int i = 0; i < REQUESTS; i++) {
                sum += answer(i);
                try (Socket socket = listener.accept()) {
                    throw new AssertionError("a connection from " + socket);
                } catch (SocketTimeoutException e) {
                    // as expected
                }
            }
        }
    }

    static void epollOnly() throws IOException {
        try (Selector selector = Selector.open()) {
            for (int i = 0; i < REQUESTS; i++) {
                sum += answer(i);
                selector.select(1);
            }
        }
    }

    /** In the only thread that has work. */
    static void wait(Body waits) throws IOException {
        long before = GCBean.localCollections();
        waits.run();
        long collections = GCBean.localCollections() - before;
        System.out.println(collections + " local collections, " + sum);
        if (collections < REQUESTS * 9 / 10) {
            throw new AssertionError(collections + " local collections before " + REQUESTS + " waits");
        }
    }

    /** In a VM that says which methods it has found. */
    static void runChild(String waits, String method) throws Exception {
        OutputAnalyzer output = ProcessTools.executeLimitedTestJava(
            "-Xmx64m", "-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions", "-XX:LullLocalBudget=1g", "-XX:+LullAlwaysPrivate",
            "-Xlog:gc+local=debug", TestSocketWaits.class.getName(), waits);
        output.shouldHaveExitValue(0);
        output.shouldContain("Threads collect before they wait in " + method + System.lineSeparator());
    }

    interface Body {
        void run() throws IOException;
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "only"  -> runChild(args[1], args[2]);
            case "poll"  -> wait(TestSocketWaits::pollOnly);
            case "epoll" -> wait(TestSocketWaits::epollOnly);
            default      -> serve(args);
        }
    }

    static void serve(String[] args) throws Exception {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        Throwable[] failure = new Throwable[1];
        Body server;
        InetSocketAddress address;
        if (args[0].equals("select")) {
            ServerSocketChannel listener = ServerSocketChannel.open().bind(any);
            address = (InetSocketAddress) listener.getLocalAddress();
            server = () -> serveBySelector(listener);
        } else {
            ServerSocket listener = new ServerSocket();
            listener.bind(any);
            address = (InetSocketAddress) listener.getLocalSocketAddress();
            int timeout = args[0].equals("timeout") ? 600_000 : 0;
            server = () -> serveOne(listener, timeout);
        }
        Thread thread = new Thread(() -> {
            try {
                server.run();
            } catch (Throwable t) {
                failure[0] = t;
            }
        });
        thread.start();
        long before = GCBean.localCollections();
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            for (int i = 0; i < REQUESTS; i++) {
                socket.getOutputStream().write(i & 0xff);
                int answer = socket.getInputStream().read();
                if (answer != answer(i & 0xff)) {
                    throw new AssertionError("request " + i + ": " + answer + ", expected " + answer(i & 0xff), failure[0]);
                }
            }
        }
        thread.join();
        if (failure[0] != null) {
            throw new AssertionError("the server", failure[0]);
        }
        long collections = GCBean.localCollections() - before;
        System.out.println(collections + " local collections");
        // The client allocates as much, and waits as often. Not each wait has enough to look at while code is compiled.
        if (collections < 2 * REQUESTS * 9 / 10) {
            throw new AssertionError(collections + " local collections in two threads of " + REQUESTS + " requests each");
        }
    }
}
