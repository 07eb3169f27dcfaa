// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

/** What the calls do on the JVM that LULL_JAVA names. Each request leaves 1 MB of garbage. */
class LullJvmTest {
    private static final int REQUESTS = 100;

    /** A thread that never waits, so that it collects at the ends of its requests or not at all. */
    static final class Loop {
        public static void main(String[] args) {
            boolean bracketed = Boolean.parseBoolean(args[0]);
            int nested = Integer.parseInt(args[1]);
            if (!Requests.heard()) {
                throw new IllegalStateException("this JVM does not link lull.Requests");
            }
            // Without a request nothing is ended.
            Requests.end();
            long before = LullJvm.collected();
            int sum = 0;
            for (int i = 0; i < REQUESTS; i++) {
                if (bracketed) {
                    for (int n = 0; n < nested; n++) {
                        Requests.begin();
                    }
                }
                for (int n = 0; n < nested; n++) {
                    sum += LullJvm.megabyte() / nested;
                    if (bracketed) {
                        Requests.end();
                    }
                }
            }
            LullJvm.report(before);
            if (sum < REQUESTS * 1000) {
                throw new IllegalStateException("wrong sum " + sum);
            }
        }
    }

    private static long loop(boolean bracketed, int nested) throws Exception {
        try (LullJvm jvm = LullJvm.start(Loop.class, bracketed, nested)) {
            return jvm.localCollections();
        }
    }

    @Test
    void aThreadCollectsAtTheEndOfEachRequest() throws Exception {
        long with = loop(true, 1);
        assertTrue(with >= REQUESTS * 9 / 10 && with <= REQUESTS + 5, with + " local collections in " + REQUESTS + " requests");
        long without = loop(false, 1);
        assertTrue(without <= REQUESTS / 10, without + " local collections without begin and end");
    }

    @Test
    void innerEndsDoNotCollect() throws Exception {
        long with = loop(true, 4);
        assertTrue(with >= REQUESTS * 9 / 10 && with <= REQUESTS + 5, with + " local collections in " + REQUESTS + " requests");
    }

    /** Ends two requests; in the first one the class is loaded once more, as by another web application, and asked whether it is heard. */
    static final class Counted {
        public static void main(String[] args) throws Exception {
            URL classes = Requests.class.getProtectionDomain().getCodeSource().getLocation();
            try (URLClassLoader loader = new URLClassLoader(new URL[] {classes}, null)) {
                Requests.begin();
                Class<?> other = loader.loadClass("lull.Requests");
                if (!(boolean) other.getMethod("heard").invoke(null)) {
                    throw new IllegalStateException("the other one is not heard");
                }
                other.getMethod("begin").invoke(null);
                other.getMethod("end").invoke(null);
                Requests.end();
            }
            Requests.begin();
            Requests.end();
            Requests.end();
            Object info = ManagementFactory.getPlatformMBeanServer().invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"),
                    "lullInfo", null, null);
            String requests = info.toString().lines().filter(l -> l.startsWith("local.requests:")).findFirst().orElseThrow();
            System.out.println(requests);
            if (!requests.equals("local.requests: 2")) {
                throw new IllegalStateException(requests + ", but two have ended");
            }
            LullJvm.report(0);
        }
    }

    @Test
    void onlyWhatHasEndedIsCounted() throws Exception {
        try (LullJvm jvm = LullJvm.start(Counted.class)) {
            assertTrue(jvm.localCollections() >= 0);
        }
    }

    /** A pool whose one thread always finds a next task. */
    static final class Pool {
        public static void main(String[] args) throws InterruptedException {
            ExecutorService threads = Executors.newFixedThreadPool(1);
            ExecutorService pool = Boolean.parseBoolean(args[0]) ? new RequestExecutor(threads) : threads;
            CountDownLatch filled = new CountDownLatch(1);
            AtomicInteger sum = new AtomicInteger();
            pool.execute(() -> {
                try {
                    filled.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            for (int i = 0; i < REQUESTS; i++) {
                pool.execute(() -> sum.addAndGet(LullJvm.megabyte()));
            }
            long before = LullJvm.collected();
            filled.countDown();
            pool.shutdown();
            if (!pool.awaitTermination(60, TimeUnit.SECONDS) || sum.get() != REQUESTS * 1024) {
                throw new IllegalStateException("wrong sum " + sum);
            }
            LullJvm.report(before);
        }
    }

    private static long pool(boolean bracketed) throws Exception {
        try (LullJvm jvm = LullJvm.start(Pool.class, bracketed)) {
            return jvm.localCollections();
        }
    }

    @Test
    void aPoolCollectsAtTheEndOfEachTask() throws Exception {
        long with = pool(true);
        assertTrue(with >= REQUESTS * 9 / 10, with + " local collections in " + REQUESTS + " tasks");
        long without = pool(false);
        assertTrue(without <= REQUESTS / 2, without + " local collections in " + REQUESTS + " tasks of a pool that is not wrapped");
    }

    /** A thread per connection, which waits in a read. */
    static final class Server {
        public static void main(String[] args) throws IOException {
            ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            Thread acceptor = new Thread(() -> {
                while (true) {
                    try {
                        Socket socket = listening.accept();
                        new Thread(() -> answer(socket)).start();
                    } catch (IOException e) {
                        return;
                    }
                }
            });
            acceptor.setDaemon(true);
            acceptor.start();
            Requests.heard();
            long before = LullJvm.collected();
            LullJvm.serve(listening.getLocalPort());
            LullJvm.report(before);
        }

        private static void answer(Socket socket) {
            try (socket) {
                InputStream in = socket.getInputStream();
                OutputStream out = socket.getOutputStream();
                while (in.read() >= 0) {
                    Requests.begin();
                    try {
                        out.write(LullJvm.megabyte() == 1024 ? 'y' : 'n');
                    } finally {
                        Requests.end();
                    }
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Test
    void aServerCollectsBetweenRequests() throws Exception {
        try (LullJvm jvm = LullJvm.start(Server.class)) {
            int port = jvm.port();
            for (int connection = 0; connection < 4; connection++) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    socket.setSoTimeout(60_000);
                    for (int i = 0; i < REQUESTS / 4; i++) {
                        socket.getOutputStream().write('?');
                        assertEquals('y', socket.getInputStream().read());
                    }
                }
            }
            long collections = jvm.localCollections();
            assertTrue(collections >= REQUESTS * 9 / 10, collections + " local collections in " + REQUESTS + " requests");
        }
    }
}
