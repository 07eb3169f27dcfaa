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

package gc.lull;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import jdk.test.lib.Asserts;
import jdk.test.lib.dcmd.CommandExecutor;
import jdk.test.lib.dcmd.JMXExecutor;
import jdk.test.lib.dcmd.PidJcmdExecutor;
import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/*
 * @test id=tracking
 * @requires vm.gc.Lull
 * @summary What Lull.info says of a known heap and known work, by jcmd and by JMX, and while all goes on.
 * @library /test/lib /
 * @modules java.management jdk.management
 * @run main/othervm -Xms64m -Xmx64m -XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:LullLocalBudget=1g gc.lull.TestInfo tracking
 */

/*
 * @test id=no-tracking
 * @requires vm.gc.Lull
 * @summary Lull.info without tracking; and there is no such command with another collector.
 * @library /test/lib /
 * @modules java.management jdk.management
 * @run main/othervm -Xms64m -Xmx64m -XX:+UseLullGC -XX:-LullTracking gc.lull.TestInfo no-tracking
 */

public class TestInfo {
    private static final int WAITS = 50;
    private static final int GARBAGE = 1 << 20;       // bytes before each wait
    private static final int PUBLISHED = 32 << 20;
    private static final int LARGE = 5 << 20;
    private static final int HELD = 512 << 10;
    private static final int BLOCK = 32 << 10;
    private static final int HEAP = 64 << 20;
    private static final int LOOKS = 30;
    private static final int REGISTERED = 300;        // too few for a pause of their own

    private static final String BYTES = "\\d+\\.\\d MB";
    private static final String BLOCKS = "\\d+ blocks, " + BYTES;
    private static final String SECONDS = "\\d+\\.\\d+ s";
    private static final String MILLISECONDS = "\\d+\\.\\d{3} ms";
    private static final String COUNT = "\\d+";

    /** Keys in their order, and what their values look like. */
    private static Map<String, String> expected(boolean tracking) {
        Map<String, String> keys = new LinkedHashMap<>();
        keys.put("vm.version", "\\S.*");
        keys.put("vm.uptime", SECONDS);
        for (String flag : List.of("tracking", "local_collections", "young_collections")) {
            keys.put("flags." + flag, "on|off");
        }
        keys.put("flags.changed", "-XX:\\S+ \\{[a-z ,]+\\}");
        for (String size : List.of("maximum", "committed", "used", "slack")) {
            keys.put("heap." + size, BYTES);
        }
        keys.put("blocks.size", "32 KB");
        for (String kind : List.of("free", "private", "mixed", "public", "large", "archive")) {
            keys.put("blocks." + kind, BLOCKS);
        }
        keys.put("blocks.holes", BYTES);
        keys.put("blocks.longest_free_run", BYTES);
        if (tracking) {
            keys.put("publication.allocated", BYTES);
            keys.put("publication.published", BYTES);
            keys.put("publication.share", "\\d+\\.\\d %");
            keys.put("publication.objects", COUNT);
            keys.put("publication.longest_closure", COUNT + " objects");
            keys.put("publication.slow_calls", COUNT);
            keys.put("publication.tracking", "(on|suspended)( since \\d+\\.\\d s)?(, on trial)?(; without it a byte has cost \\d+\\.\\d\\d of what it costs with it)?");
            for (String count : List.of("collections", "before_wait", "requests")) {
                keys.put("local." + count, COUNT);
            }
            keys.put("local.time", SECONDS);
            keys.put("local.processor_time", SECONDS);
            keys.put("local.longest", MILLISECONDS);
            keys.put("local.longest_processor_time", MILLISECONDS);
            for (String size : List.of("freed", "survived", "tenured")) {
                keys.put("local." + size, BYTES);
            }
            keys.put("references.waiting", COUNT);
            keys.put("references.garbage", BYTES);
            keys.put("threads.private_mode", COUNT);
            keys.put("threads.public_mode", COUNT);
            keys.put("threads.public_mode.reason", COUNT + ", \\S.*");
            keys.put("threads.public_mode.thread",
                     "\".*\", .*, " + BYTES + " allocated, \\d+ % of the last window in private mode published, entered \\d+ times");
        }
        for (String kind : tracking ? List.of("global", "young") : List.of("global")) {
            keys.put(kind + ".collections", COUNT);
            keys.put(kind + ".time", SECONDS);
            keys.put(kind + ".longest", MILLISECONDS);
            keys.put(kind + ".last.cause", "\\S.*");
            keys.put(kind + ".last.ago", SECONDS);
            keys.put(kind + ".last.time", MILLISECONDS);
            keys.put(kind + ".last.used_before", BYTES);
            keys.put(kind + ".last.used_after", BYTES);
        }
        if (tracking) {
            keys.put("marking.state", "idle|clearing|ready|marking|marked");
            for (String count : List.of("cycles", "late", "given_up")) {
                keys.put("marking." + count, COUNT);
            }
            keys.put("marking.to_sweep", COUNT + " blocks");
            for (String count : List.of("cleanings", "cleaned", "kept")) {
                keys.put("cards." + count, COUNT);
            }
            keys.put("marking.marked", BYTES);
            keys.put("marking.expected", BYTES);
            keys.put("marking.left", "\\d+\\.\\d s");
        }
        return keys;
    }

    /** Any number of times, or never. */
    private static final List<String> OFTEN = List.of("flags.changed", "threads.public_mode.reason", "threads.public_mode.thread");

    /** Once at most: there may not have been a young collection, and a cycle may not mark just now. */
    private static boolean isNow(String key) {
        return key.startsWith("young.last.") || List.of("marking.marked", "marking.expected", "marking.left").contains(key);
    }

    /** What the command says: all values of each key, checked for their form, and the keys for their order. */
    private static Map<String, List<String>> info(CommandExecutor executor, boolean tracking) {
        OutputAnalyzer output = executor.execute("Lull.info", true /* silent */);
        Map<String, List<String>> values = new LinkedHashMap<>();
        for (String line : output.getStdout().lines().toList()) {
            if (line.matches("\\d+:")) {
                continue;   // jcmd itself says whom it has asked
            }
            int colon = line.indexOf(": ");
            Asserts.assertGT(colon, 0, "a key and a value: " + line);
            values.computeIfAbsent(line.substring(0, colon), key -> new ArrayList<>()).add(line.substring(colon + 2));
        }
        Map<String, String> expected = expected(tracking);
        Asserts.assertEQ(always(values), always(expected), "keys of " + output.getStdout());
        values.forEach((key, said) -> {
            Asserts.assertTrue(said.size() == 1 || OFTEN.contains(key), key + " more than once");
            Asserts.assertTrue(expected.containsKey(key), "an unknown key: " + key);
            said.forEach(value -> Asserts.assertTrue(value.matches(expected.get(key)), key + " is '" + value + "'"));
        });
        return values;
    }

    private static List<String> always(Map<String, ?> values) {
        return values.keySet().stream().filter(key -> !OFTEN.contains(key) && !isNow(key)).toList();
    }

    /** The first number of a value. */
    private static double number(Map<String, List<String>> info, String key) {
        Matcher matcher = Pattern.compile("^(\\d+(\\.\\d+)?)").matcher(info.get(key).get(0));
        Asserts.assertTrue(matcher.find(), key);
        return Double.parseDouble(matcher.group(1));
    }

    private static double bytes(Map<String, List<String>> info, String key) {
        return number(info, key) * (1 << 20);
    }

    /** Each block is of one kind. */
    private static void checkBlocks(Map<String, List<String>> info) {
        double sum = 0;
        for (String key : info.keySet()) {
            if (key.startsWith("blocks.") && info.get(key).get(0).contains(" blocks, ")) {
                sum += number(info, key);
            }
        }
        Asserts.assertEQ(sum * BLOCK, (double) HEAP, "the blocks are the heap: " + info);
        Asserts.assertLTE(bytes(info, "blocks.longest_free_run"), number(info, "blocks.free") * BLOCK + (1 << 20) / 20.0);
        Asserts.assertEQ(info.get("heap.maximum"), List.of("64.0 MB"));
        Asserts.assertEQ(info.get("heap.committed"), List.of("64.0 MB"));
        Asserts.assertLTE(bytes(info, "heap.used"), (double) HEAP);
        Asserts.assertLTE(bytes(info, "heap.slack"), bytes(info, "heap.used"));
    }

    private static void checkLast(Map<String, List<String>> info, String cause) {
        Asserts.assertEQ(info.get("global.last.cause"), List.of(cause));
        Asserts.assertGTE(number(info, "global.collections"), 1.0);
        Asserts.assertGTE(number(info, "global.longest"), number(info, "global.last.time"));
        Asserts.assertGTE(1000 * number(info, "global.time") + 1, number(info, "global.longest"));
        Asserts.assertLTE(bytes(info, "global.last.used_after"), bytes(info, "global.last.used_before"));
        if (info.containsKey("young.collections")) {
            Asserts.assertEQ(info.containsKey("young.last.cause"), number(info, "young.collections") > 0, "of the last young one, if there was one");
        }
    }

    static volatile Object shared;
    static volatile byte[] large;
    static volatile boolean stop;

    /** Leaves garbage, and waits. */
    private static void waitOnce() {
        byte[][] latest = new byte[8][];    // or a compiler leaves the garbage out
        for (int j = 0; j <= GARBAGE / 1024; j++) {
            latest[j & 7] = new byte[1024 - 16];
        }
        Asserts.assertNotNull(latest[7]);
        LockSupport.parkNanos(1);
    }

    private static void waitOften() {
        for (int i = 0; i < WAITS; i++) {
            waitOnce();
        }
    }

    private static void publishAll() {
        for (int i = 0; i < PUBLISHED / 1024; i++) {
            shared = new byte[1024 - 16];
        }
    }

    private static void hold(CountDownLatch done, CountDownLatch end) {
        byte[][] held = new byte[HELD / 8192][];
        for (int i = 0; i < held.length; i++) {
            held[i] = new byte[8192 - 16];
        }
        wait(done, end);
        Asserts.assertEQ(held[held.length - 1].length, 8192 - 16);
    }

    /** References that others can reach, and local garbage after them. */
    private static void register() {
        List<WeakReference<Object>> registered = new ArrayList<>();
        shared = registered;
        for (int i = 0; i < REGISTERED; i++) {
            registered.add(new WeakReference<>(new Object()));
        }
        waitOnce();
    }

    private static void wait(CountDownLatch done, CountDownLatch end) {
        done.countDown();
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void tracking() throws Exception {
        CountDownLatch worked = new CountDownLatch(2);
        CountDownLatch holds = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        large = new byte[LARGE];
        List<Thread> threads = new ArrayList<>(List.of(
            new Thread(() -> { waitOften(); wait(worked, end); }, "waiter"),
            new Thread(() -> { publishAll(); wait(worked, end); }, "publisher")));
        threads.forEach(Thread::start);
        worked.await();
        System.gc();
        // What it holds must not be there before, or it would be public.
        Thread holder = new Thread(() -> hold(holds, end), "holder");
        threads.add(holder);
        holder.start();
        holds.await();
        while (holder.getState() != Thread.State.WAITING) {
            Thread.sleep(10);
        }
        Thread registrar = new Thread(TestInfo::register);
        registrar.start();
        registrar.join();

        Map<String, List<String>> info = info(new PidJcmdExecutor(), true);
        checkBlocks(info);
        checkLast(info, "System.gc()");
        Asserts.assertTrue(info.get("flags.changed").contains("-XX:LullLocalBudget=1073741824 {command line}"), "" + info);
        Asserts.assertGTE(number(info, "blocks.large") * BLOCK, (double) LARGE, "a large object");
        Asserts.assertGTE((number(info, "blocks.private") + number(info, "blocks.mixed")) * BLOCK, (double) HELD, "held by one thread");
        Asserts.assertGTE(bytes(info, "publication.published"), (double) PUBLISHED / 16, "published before public mode was entered");
        Asserts.assertLTE(bytes(info, "publication.published"), bytes(info, "publication.allocated"));
        Asserts.assertGTE(number(info, "local.before_wait"), (double) WAITS);
        Asserts.assertGTE(number(info, "local.collections"), number(info, "local.before_wait"));
        Asserts.assertGTE(bytes(info, "local.freed"), (double) WAITS * GARBAGE);
        Asserts.assertGTE(number(info, "references.waiting"), (double) REGISTERED);
        Asserts.assertGTE(bytes(info, "references.garbage"), (double) GARBAGE * 9 / 10, "the registrar's");
        Asserts.assertGTE(1000 * number(info, "local.time") + 1, number(info, "local.longest"));
        Asserts.assertGTE(number(info, "threads.private_mode"), 2.0, "the waiter and the holder");
        long publishers = info.getOrDefault("threads.public_mode.thread", List.of()).stream()
            .filter(thread -> thread.startsWith("\"publisher\", much is published, ")).count();
        Asserts.assertEQ(publishers, 1L, "" + info);
        List<String> reasons = info.get("threads.public_mode.reason");
        Asserts.assertTrue(reasons.stream().anyMatch(reason -> reason.endsWith(", much is published")), "" + info);
        double sum = reasons.stream().mapToDouble(reason -> Double.parseDouble(reason.replaceFirst(",.*", ""))).sum();
        Asserts.assertEQ(sum, number(info, "threads.public_mode"), "each thread has a reason");
        end.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Looks while threads allocate, publish and collect, and blocks change their kind. */
    private static void whileAllGoesOn(boolean tracking) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (Runnable work : List.<Runnable>of(TestInfo::waitOften, TestInfo::publishAll, System::gc)) {
            Thread thread = new Thread(() -> {
                while (!stop) {
                    work.run();
                    LockSupport.parkNanos(20_000_000);
                }
            });
            thread.start();
            threads.add(thread);
        }
        CommandExecutor executor = new JMXExecutor();
        for (int i = 0; i < LOOKS; i++) {
            checkBlocks(info(executor, tracking));
        }
        stop = true;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void noTracking() throws Exception {
        large = new byte[LARGE];
        System.gc();
        Map<String, List<String>> info = info(new PidJcmdExecutor(), false);
        checkBlocks(info);
        checkLast(info, "System.gc()");
        Asserts.assertEQ(info.get("flags.tracking"), List.of("off"));
        Asserts.assertEQ(info.get("flags.local_collections"), List.of("off"));
        Asserts.assertEQ(info.get("flags.young_collections"), List.of("off"), "they need tracking");
        Asserts.assertTrue(info.get("flags.changed").contains("-XX:-LullTracking {command line}"), "" + info);
        Asserts.assertEQ(number(info, "blocks.private") + number(info, "blocks.mixed"), 0.0, "nothing is private");
        Asserts.assertGTE(number(info, "blocks.public"), 1.0);
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "tracking" -> {
                tracking();
                whileAllGoesOn(true);
            }
            case "no-tracking" -> {
                noTracking();
                whileAllGoesOn(false);
                OutputAnalyzer other =
                    ProcessTools.executeLimitedTestJava("-XX:+UseSerialGC", "-Xmx64m", "-Dtest.jdk=" + System.getProperty("test.jdk"),
                                                        TestInfo.class.getName(), "other");
                other.shouldHaveExitValue(0);
                other.shouldContain("Unknown diagnostic command");
            }
            default -> System.out.println(new PidJcmdExecutor().execute("Lull.info", true).getOutput());
        }
    }
}
