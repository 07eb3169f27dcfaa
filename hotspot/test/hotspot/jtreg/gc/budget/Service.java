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


package gc.budget;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import jdk.jfr.consumer.RecordingStream;

/**
 * A service under a heap budget, and its sensor: requests that compute and wait for reads, the longer the larger the heap is, as a page cache
 * beside it would let them; then requests that allocate. What a phase waits for it waits for 200 s, and then fails.
 */
public class Service {
    private static final int M = 1 << 20;
    private static final int THREADS = 6;
    private static final long INITIAL = 400L * M;
    private static final int NOBODY = 65534;
    static final String HAS_OTHER_OWNER = "The file has another owner now";

    private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();

    private static SensorFile file;
    private static volatile boolean reading;
    private static volatile boolean allocating;
    private static Object[] live;
    private static volatile Object published;

    private static long committed() {
        return Runtime.getRuntime().totalMemory();
    }

    private static void fail(String message) {
        throw new AssertionError(message + ": " + committed() / M + "M are committed");
    }

    /** 2 ms of processor time. */
    private static void compute() {
        long end = BEAN.getCurrentThreadCpuTime() + 2_000_000;
        while (BEAN.getCurrentThreadCpuTime() < end) {
            Thread.onSpinWait();
        }
    }

    /** Up to 50 ms for 12 MB: 4 ns for each byte, however many there are. */
    private static void read(int tid) throws InterruptedException {
        long nanos = (long) (50_000_000.0 * Math.min(1.0, (double) committed() / INITIAL));
        Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
        file.add(tid, nanos, nanos / 4);
    }

    /** 4 MB, of which one stays for a while. */
    private static void allocate(Object[] ring, int[] next) {
        for (int i = 0; i < 4096; i++) {
            Object[] object = new Object[250];
            published = object;
            if (i % 4 == 0) {
                ring[next[0]++ % ring.length] = object;
            }
        }
    }

    private static void request(int tid, Object[] ring, int[] next) throws InterruptedException {
        if (allocating) {
            allocate(ring, next);
        } else {
            compute();
            if (reading) {
                read(tid);
            } else {
                Thread.sleep(48);
            }
        }
    }

    private static void start(String name, Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Exception e) {
                e.printStackTrace();
                System.exit(2);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    private interface Body {
        void run() throws Exception;
    }

    private static void startSensor() {
        start("sensor", () -> {
            while (true) {
                file.update();
                Thread.sleep(50);
            }
        });
    }

    private static void startThreads() {
        startSensor();
        for (int i = 0; i < THREADS; i++) {
            start("request-" + i, () -> {
                int tid = SensorFile.tid();
                Object[] ring = new Object[4096];
                int[] next = new int[1];
                while (true) {
                    request(tid, ring, next);
                }
            });
        }
    }

    private static void await(String what, BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + 200_000_000_000L;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                fail("waited for 200 s for the heap " + what);
            }
            Thread.sleep(100);
        }
        System.out.println("The heap " + what + ": " + committed() / M + "M");
    }

    /** First reads cost more, and nothing is allocated; then collections do. */
    private static void phases() throws Exception {
        live = new Object[20_000];
        for (int i = 0; i < live.length; i++) {
            live[i] = new Object[200];
        }
        CountDownLatch grown = new CountDownLatch(1);
        try (RecordingStream decisions = new RecordingStream()) {
            decisions.enable("jdk.HeapBudgetDecision");
            decisions.onEvent("jdk.HeapBudgetDecision", event -> {
                if (event.getString("action").equals("grow")) {
                    grown.countDown();
                }
            });
            decisions.startAsync();
            reading = true;
            startThreads();
            await("has shrunk", () -> committed() <= INITIAL / 4 * 3);
            long small = committed();
            reading = false;
            allocating = true;
            // An allocation that would fail makes it grow, too.
            await("has grown by a step", () -> grown.getCount() == 0 && committed() >= small + small / 4);
        }
        for (Object object : live) {
            if (((Object[]) object).length != 200) {
                fail("an object has changed");
            }
        }
    }

    /** A limit comes. Nothing is allocated, so no collection comes by itself. */
    private static void limit() throws Exception {
        startThreads();
        Thread.sleep(2500);
        if (committed() < INITIAL) {
            fail("the heap has shrunk before there was a limit");
        }
        HotSpotDiagnosticMXBean bean = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        bean.setVMOption("HeapBudgetLimit", Long.toString(300L * M));
        await("is below the limit", () -> committed() <= 285L * M);
        bean.setVMOption("HeapBudgetLimit", Long.toString(200L * M));
        await("is below the lower limit", () -> committed() <= 190L * M);
    }

    /** A limit below what is used, all of which is garbage, in a heap that has not been collected yet. */
    private static void garbage() throws Exception {
        startThreads();
        for (int i = 0; i < 300; i++) {
            published = new byte[M];
        }
        published = null;
        long collections = ManagementFactory.getGarbageCollectorMXBeans().stream()
            .filter(collector -> !collector.getName().contains("Local")).mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
        if (collections != 0) {
            fail("there have been collections before the limit");
        }
        HotSpotDiagnosticMXBean bean = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        bean.setVMOption("HeapBudgetLimit", Long.toString(150L * M));
        await("is below the limit", () -> committed() <= 150L * M);
    }

    /** Of objects of 1 KB that fill the heap, each fourth stays alive: some in each block. Collections come by themselves, and are not enough. */
    private static void fragmented() throws Exception {
        live = new Object[(int) (INITIAL / 5 * 4 / 1024)];
        for (int i = 0; i < live.length; i++) {
            live[i] = new byte[1000];
        }
        for (int i = 0; i < live.length; i++) {
            if (i % 4 != 0) {
                live[i] = null;
            }
        }
        allocating = true;
        startThreads();
        HotSpotDiagnosticMXBean bean = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        bean.setVMOption("HeapBudgetLimit", Long.toString(280L * M));
        await("is below the limit", () -> committed() <= 270L * M);
        for (int i = 0; i < live.length; i += 4) {
            if (((byte[]) live[i]).length != 1000) {
                fail("an object has changed");
            }
        }
    }

    /**
     * A limit that goes away again makes the heap small, an array of 160 MB makes it larger. What has been needed for three seconds is not
     * taken back: where the machine was too slow for that, once more.
     */
    private static void held() throws Exception {
        startThreads();
        HotSpotDiagnosticMXBean bean = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        long end = System.nanoTime() + 200_000_000_000L;
        while (true) {
            bean.setVMOption("HeapBudgetLimit", Long.toString(150L * M));
            await("is below the limit", () -> committed() <= 145L * M);
            bean.setVMOption("HeapBudgetLimit", "0");
            Thread.sleep(3000);
            long small = committed();
            published = new byte[160 * M];
            if (committed() < small + 20L * M) {
                fail("an array did not make the heap grow from " + small / M + "M");
            }
            System.out.println("The heap has grown for an array: from " + small / M + "M to " + committed() / M + "M");
            published = null;
            System.gc();
            System.out.println("After a collection: " + committed() / M + "M");
            if (committed() <= small + 2L * M) {
                return;
            }
            if (System.nanoTime() > end) {
                fail("it has never gone back to " + small / M + "M");
            }
        }
    }

    /** A limit without a sensor, and so much is alive that the collector by itself would make the heap larger than that again. */
    private static void unknown() throws Exception {
        HotSpotDiagnosticMXBean bean = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        live = new Object[195 * M / 12_000];
        for (int i = 0; i < live.length; i++) {
            live[i] = new byte[12_000];
        }
        bean.setVMOption("HeapBudgetLimit", Long.toString(300L * M));
        startThreads();
        await("is below the limit", () -> committed() <= 290L * M);
        for (int i = 0; i < 200; i++) {
            Thread.sleep(100);
            // What needs collections, now and then.
            for (int j = 0; j < 1000; j++) {
                published = new byte[5000];
            }
            if (committed() > 300L * M) {
                fail("the heap has grown beyond the limit of 300M again");
            }
        }
    }

    /** Each request has a thread of its own, which is not there any more when the budget looks. */
    private static void brief() throws Exception {
        startSensor();
        for (int i = 0; i < THREADS; i++) {
            start("accept-" + i, () -> {
                while (true) {
                    Thread request = new Thread(() -> {
                        try {
                            int tid = SensorFile.tid();
                            compute();
                            read(tid);
                            file.end(tid);
                        } catch (IOException | InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    });
                    request.start();
                    request.join();
                }
            });
        }
        await("has shrunk", () -> committed() <= INITIAL / 4 * 3);
    }

    /** Only a thread that is no mutator is stalled. Long enough for two windows of the policy without collections. */
    private static void others() throws Exception {
        long before = committed();
        startThreads();
        int tid = SensorFile.tid("VM Thread");
        for (int i = 0; i < 240; i++) {
            file.add(tid, 100_000_000, 1_000_000);
            Thread.sleep(100);
        }
        if (committed() != before) {
            fail("the heap was " + before / M + "M and has changed");
        }
    }

    /** The VM looks at the file each second, and on a busy machine less often. */
    private static void awaitLog(Path log, String text) throws Exception {
        long end = System.nanoTime() + 60_000_000_000L;
        while (!Files.readString(log).contains(text)) {
            if (System.nanoTime() > end) {
                fail("waited for 60 s for '" + text + "'");
            }
            Thread.sleep(20);
        }
    }

    /** What is no file of a sensor of this process; at last one that is. The VM is to say what is wrong with each of them. */
    private static void files(Path path, Path log) throws Exception {
        awaitLog(log, "No such file or directory");
        Files.writeString(path, "short");
        awaitLog(log, "it is too short");
        Files.writeString(path, "no sensor ".repeat(100));
        awaitLog(log, "it is no file of a sensor");
        Files.delete(path);
        Files.createDirectory(path);
        awaitLog(log, "Is a directory");
        Files.delete(path);
        new SensorFile(path, SensorFile.processStart() - 1);
        awaitLog(log, "it is of another process");
        Path foreign = Path.of(path + ".foreign");
        new SensorFile(foreign, SensorFile.processStart());
        Files.setPosixFilePermissions(foreign, PosixFilePermissions.fromString("rw-rw-rw-"));
        Files.move(foreign, path, StandardCopyOption.ATOMIC_MOVE);
        awaitLog(log, "all may write to it");
        new SensorFile(foreign, SensorFile.processStart());
        Files.setPosixFilePermissions(foreign, PosixFilePermissions.fromString("rw-rw-r--"));
        Files.move(foreign, path, StandardCopyOption.ATOMIC_MOVE);
        awaitLog(log, "its group may write to it");
        new SensorFile(foreign, SensorFile.processStart());
        try {
            Files.setAttribute(foreign, "unix:uid", NOBODY);
            System.out.println(HAS_OTHER_OWNER);
            Files.move(foreign, path, StandardCopyOption.ATOMIC_MOVE);
            awaitLog(log, "it belongs neither to root");
        } catch (IOException e) {
            System.out.println("Only root can give a file another owner: " + e);
        }
        file = new SensorFile(path, SensorFile.processStart());
        startThreads();
        awaitLog(log, "Stalls on I/O are measured by the sensor of ");
    }

    /** A file with more rows than there is memory for; then one as they are. */
    private static void rows(Path path, Path log) throws Exception {
        SensorFile.makeLongest(path);
        awaitLog(log, "there is no memory for its rows");
        file = new SensorFile(path, SensorFile.processStart());
        startThreads();
        awaitLog(log, "Stalls on I/O are measured by the sensor of ");
    }

    public static void main(String[] args) throws Exception {
        Path path = Path.of(args[1].replace("%p", Long.toString(ProcessHandle.current().pid())));
        if (args[0].equals("unknown")) {
            file = new SensorFile(Path.of(path + ".elsewhere"), SensorFile.processStart());
        } else if (!args[0].equals("files") && !args[0].equals("rows")) {
            file = new SensorFile(path, SensorFile.processStart());
        }
        switch (args[0]) {
            case "phases" -> phases();
            case "limit"  -> limit();
            case "garbage" -> garbage();
            case "fragmented" -> fragmented();
            case "held"   -> held();
            case "unknown" -> unknown();
            case "brief"  -> brief();
            case "others" -> others();
            case "files"  -> files(path, Path.of(args[2]));
            case "rows"   -> rows(path, Path.of(args[2]));
            default       -> throw new IllegalArgumentException(args[0]);
        }
        System.out.println("The service has ended");
    }
}
