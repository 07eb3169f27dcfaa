// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.lang.management.ManagementFactory;
import java.lang.ref.Cleaner;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.WeakHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import javax.management.ObjectName;

/**
 * Makes heaps with objects of all kinds that a collector treats in a way of their own, and has each exported, as {@code jcmd PID
 * GC.export_heap} does.
 *
 * <p>{@code java Heaps OBJECTS ROUNDS SEED FILE}: about so many objects live in the first round; in each further one about a third of them
 * has been replaced. The heaps are FILE.1, FILE.2 and so on.
 */
public class Heaps {
    /** Only code of another class loader, or nobody, keeps the class itself alive. */
    public interface Greeting {
        Object greet(Object name);
    }

    static final class Node {
        Node next;
        Object first;
        int number;
        Object second;
        long wide;
        Object third;

        Node(Node next, Object first, Object second, Object third, int number) {
            this.next = next;
            this.first = first;
            this.second = second;
            this.third = third;
            this.number = number;
            this.wide = 0x8000_0000_8000_0000L | number;
        }
    }

    /** Its objects are kept until they were finalized, with all that they refer to. */
    @SuppressWarnings({"deprecation", "removal"})
    static final class Finalized {
        final Object kept = new Object[] {"kept by a finalizer", new int[3]};

        @Override
        protected void finalize() {
            finalized++;
        }
    }

    static volatile int finalized;
    static final Object[] statics = new Object[1000];
    static final ThreadLocal<Object> local = new ThreadLocal<>();
    static final Cleaner cleaner = Cleaner.create();
    static final ReferenceQueue<Object> queue = new ReferenceQueue<>();
    static final List<Reference<?>> references = new ArrayList<>();
    static final Map<Object, Object> weak = new WeakHashMap<>();
    static final Map<Integer, Object> map = new HashMap<>();
    static final TreeMap<String, Object> tree = new TreeMap<>();

    final Random random;
    final List<Object> live = new ArrayList<>();

    Heaps(long seed) {
        random = new Random(seed);
    }

    Object any() {
        return live.isEmpty() ? null : live.get(random.nextInt(live.size()));
    }

    Object make(int number) throws Exception {
        switch (random.nextInt(20)) {
            case 0: return new Object[] {any(), null, any(), number};
            case 1: return new Object[random.nextInt(300)];
            case 2: return random.ints(random.nextInt(50)).toArray();
            case 3: return new ArrayList<>(List.of("a", "b" + number, number));
            case 4: {
                Supplier<Object> supplier = () -> "captures " + number;
                return supplier;
            }
            case 5: {
                Object[] array = new Object[1 + random.nextInt(40)];
                java.util.Arrays.setAll(array, i -> any());
                return array;
            }
            case 6: return new Node[][] {{new Node(null, any(), null, any(), number)}, null, new Node[2]};
            default: {
                Object last = live.isEmpty() ? null : live.getLast();
                return new Node(last instanceof Node node ? node : null, any(), "text " + number, any(), number);
            }
        }
    }

    /** References of each kind, to what lives and to what does not. */
    void refer() throws Exception {
        for (int i = 0; i < 2000; i++) {
            Object to = i % 2 == 0 ? any() : new Object[] {"nobody else's", new Object()};
            references.add(switch (i % 3) {
                case 0 -> new WeakReference<>(to, i % 5 == 0 ? queue : null);
                case 1 -> new SoftReference<>(to);
                default -> new PhantomReference<>(to, queue);
            });
            weak.put(new Object(), "gone");
            if (to != null) {
                weak.put(to, i);
            }
        }
        for (int i = 0; i < 100; i++) {
            new Finalized();
            int number = i;
            cleaner.register(new Object(), () -> finalized += number & 1);
        }
    }

    /** Classes with static fields, of loaders that stay and of loaders that go. */
    void load(Path directory) throws Exception {
        for (int i = 0; i < 10; i++) {
            URLClassLoader loader = new URLClassLoader(new URL[] {directory.url()}, null);
            Class<?> another = loader.loadClass("Heaps$Static");
            another.getField("held").set(null, new Object[] {"static of a class of its own loader", i});
            if (i % 2 == 0) {
                live.add(another);
            }
            Object proxy = Proxy.newProxyInstance(Heaps.class.getClassLoader(), new Class<?>[] {Greeting.class}, (p, method, args) -> args);
            live.add(proxy);
            ((Greeting) proxy).greet("world");
        }
    }

    record Path(URL url) {}

    public static class Static {
        public static Object held;
        public static int number = 7;
        public static String text = "text";
    }

    /** Threads that have objects on their stacks only: those of the system, and virtual ones that wait. */
    static void park(List<Thread> threads, CountDownLatch ready, CountDownLatch end) {
        for (int i = 0; i < 200; i++) {
            int number = i;
            Runnable body = () -> {
                Object[] mine = {"on a stack " + number, new Node(null, "x", number, new Object(), number)};
                local.set(new Object[] {"a thread's own", number});
                hold(mine, number % 20, ready, end);
                if (mine[0] == null) {
                    throw new IllegalStateException();
                }
            };
            threads.add(i < 10 ? Thread.ofPlatform().daemon().start(body) : Thread.startVirtualThread(body));
        }
    }

    static Object hold(Object[] mine, int depth, CountDownLatch ready, CountDownLatch end) {
        Object[] deeper = {mine, depth};
        if (depth > 0) {
            return hold(deeper, depth - 1, ready, end);
        }
        ready.countDown();
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return deeper;
    }

    static void export(String file) throws Exception {
        Object said = ManagementFactory.getPlatformMBeanServer().invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"),
                "gcExportHeap", new Object[] {new String[] {file}}, new String[] {String[].class.getName()});
        System.out.print(said);
    }

    public static void main(String[] args) throws Exception {
        int objects = Integer.parseInt(args[0]);
        int rounds = Integer.parseInt(args[1]);
        Heaps heaps = new Heaps(Long.parseLong(args[2]));
        Path classes = new Path(Heaps.class.getProtectionDomain().getCodeSource().getLocation());
        List<Thread> threads = new ArrayList<>();
        CountDownLatch ready = new CountDownLatch(200);
        CountDownLatch end = new CountDownLatch(1);
        park(threads, ready, end);
        ready.await();
        // Goes over the ends of the servers' parts.
        Object[] large = new Object[1_500_000];
        int[] numbers = heaps.random.ints(300_000).toArray();
        // Several objects belong to each that is made here.
        int made = objects / 4;
        for (int round = 0; round < rounds; round++) {
            heaps.live.subList(heaps.live.size() * 2 / 3, heaps.live.size()).clear();
            references.clear();
            for (int i = heaps.live.size(); i < made; i++) {
                heaps.live.add(heaps.make(i));
            }
            heaps.refer();
            heaps.load(classes);
            map.clear();
            tree.clear();
            for (int i = 0; i < made / 20; i++) {
                map.put(i * 7919, heaps.any());
                tree.put("key " + heaps.random.nextInt(), heaps.any());
                statics[i % statics.length] = heaps.any();
            }
            for (int i = 0; i < large.length; i += 1 + heaps.random.nextInt(5)) {
                large[i] = heaps.any();
            }
            heaps.live.set(0, large);
            export(args[3] + "." + (round + 1));
        }
        end.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        Reference.reachabilityFence(numbers);
        System.out.println("rounds " + rounds);
    }
}
