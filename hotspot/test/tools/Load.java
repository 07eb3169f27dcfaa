// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import javax.management.ObjectName;

/**
 * What each tool looks at: eight threads make garbage that nobody else sees for some seconds, then 20 MB are alive, with
 * two calls of System.gc(). The tool's class is the first argument. Lines of the tool begin with "tool", those of the truth,
 * from jcmd's Lull.info, /proc and the beans, with "true".
 */
public class Load {
    /** A tool. */
    public interface Tool {
        void begin() throws Exception;

        /** While threads collect by themselves, and nothing pauses. */
        default void amid() throws Exception {
        }

        void end() throws Exception;
    }

    static final int THREADS = 8;
    static final int ALIVE = 20 << 20;
    private static final long SECONDS = 6;

    static volatile Object shared;
    static byte[][] alive;

    static void say(String line) {
        System.out.println("tool " + line);
    }

    private static int request() {
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            all.add(new byte[100]);
        }
        return all.size();
    }

    static void privateGarbage(long seconds, Tool tool) throws Exception {
        long until = System.nanoTime() + seconds * 1_000_000_000L;
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> {
                while (System.nanoTime() < until) {
                    request();
                    LockSupport.parkNanos(100_000);
                }
            }, "load-" + i);
            thread.start();
            threads.add(thread);
        }
        tool.amid();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static String info() {
        try {
            return (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), "lullInfo", new Object[0], new String[0]);
        } catch (javax.management.JMException e) {
            return "";
        }
    }

    private static void tellTruth() throws Exception {
        info().lines().filter(l -> l.matches("(global|young|local)\\.(collections|time|processor_time|freed):.*|heap.used:.*|publication.allocated:.*"))
            .forEach(l -> System.out.println("true " + l));
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            System.out.printf("true bean %s: %d, %d ms%n", bean.getName(), bean.getCollectionCount(), bean.getCollectionTime());
        }
        ManagementFactory.getMemoryPoolMXBeans().stream().filter(p -> p.getType() == java.lang.management.MemoryType.HEAP)
            .forEach(p -> System.out.printf("true pool %s: %d KB%n", p.getName(), p.getUsage().getUsed() / 1024));
        String[] stat = Files.readString(Path.of("/proc/self/stat")).replaceFirst(".*\\) ", "").split(" ");
        System.out.printf("true process: %d0 ms of processor time, %d ms since its start%n", Long.parseLong(stat[11]) + Long.parseLong(stat[12]),
            ManagementFactory.getRuntimeMXBean().getUptime());
    }

    public static void main(String[] arguments) throws Exception {
        Tool tool = (Tool) Class.forName(arguments[0]).getDeclaredConstructor().newInstance();
        tool.begin();
        privateGarbage(SECONDS, tool);
        System.gc();
        alive = new byte[ALIVE / 1024][];
        for (int i = 0; i < alive.length; i++) {
            alive[i] = new byte[1024 - 16];
        }
        System.gc();
        Thread.sleep(1500);    // notifications come later
        tool.end();
        tellTruth();
        System.exit(alive.length == ALIVE / 1024 ? 0 : 1);
    }
}
