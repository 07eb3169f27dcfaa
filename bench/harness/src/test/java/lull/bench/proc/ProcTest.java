// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.proc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcTest {
    @Test
    void threadsByName() {
        for (String gc : List.of("VM Thread", "GC Thread#0", "G1 Conc#0", "G1 Main Marker", "ZDriverMinor", "ZWorkerYoung#0", "Shenandoah GC T",
                "Lull Worker#1")) {
            assertEquals(CpuSplit.Kind.GC, CpuSplit.kind(gc), gc);
        }
        for (String jit : List.of("C2 CompilerThre", "C1 CompilerThre")) {
            assertEquals(CpuSplit.Kind.JIT, CpuSplit.kind(jit), jit);
        }
        for (String mutator : List.of("http-nio-127.0.", "java", "main", "Z", "Zip-worker", "Catalina-utilit", "VM Periodic Tas")) {
            assertEquals(CpuSplit.Kind.MUTATOR, CpuSplit.kind(mutator), mutator);
        }
    }

    @Test
    void statLines() {
        String stat = "13525 (a (b) c) S 13524 13525 13525 0 -1 4194560 3991 616886 0 126 2 5 5145 655 20 0 1 0 99092 5472256 1070";
        assertEquals(7, CpuSplit.ticks(stat));
        assertEquals(1.5, MachineCpu.busySeconds("cpu  100 10 20 5000 600 10 5 5 0 0\ncpu0 1 1 1 1\n"), 1e-9);
    }

    @Test
    void statusFields() throws IOException {
        assertEquals(2, Memory.field("Name:\tjava\nVmHWM:\t  4096 kB\nVmRSS:\t    2048 kB\n", "VmRSS"));
        assertTrue(Memory.availableMegabytes() > 1);
        assertThrows(IOException.class, () -> Memory.field("Name:\tjava\nState:\tZ (zombie)\n", "VmRSS"));
    }

    @Test
    void performanceCounters(@TempDir Path directory) throws IOException {
        PerfCounters own = new PerfCounters(ProcessHandle.current().pid());
        assertEquals(1_000_000_000, own.value("sun.os.hrt.frequency"));
        long started = own.value("java.threads.started");
        assertTrue(started > 0);
        Thread.ofPlatform().start(() -> { });
        assertEquals(started + 1, own.value("java.threads.started"));
        assertEquals(0, own.value("no.such.counter"));
        assertEquals(0, new PerfCounters(directory.resolve("none")).value("java.threads.started"));
        Path other = Files.write(directory.resolve("other"), new byte[100]);
        assertThrows(IllegalStateException.class, () -> new PerfCounters(other).value("java.threads.started"));
    }

    @Test
    void growthIsInterpolated() {
        List<Sampler.Sample> samples = List.of(new Sampler.Sample(1000, 0, new CpuSplit.Seconds(1, 0, 0), new PrivateMemory(0, 0, 0, 0), 0),
                new Sampler.Sample(2000, 0, new CpuSplit.Seconds(3, 0, 0), new PrivateMemory(0, 0, 0, 0), 0));
        assertEquals(1, Sampler.growth(samples, 1000, 1500, s -> s.cpu().gc()), 1e-9);
        assertEquals(2, Sampler.growth(samples, 0, 9000, s -> s.cpu().gc()), 1e-9);
        assertEquals(0, Sampler.growth(List.of(), 0, 9000, s -> s.cpu().gc()));
    }

    @Test
    void samplesThisProcess() throws InterruptedException {
        Sampler sampler = new Sampler(ProcessHandle.current().pid());
        for (int i = 0; i < 100 && sampler.samples().isEmpty(); i++) {
            Thread.sleep(20);
        }
        sampler.close();
        Sampler.Sample first = sampler.samples().getFirst();
        assertTrue(first.rss() > 5 && first.cpu().mutator() + first.cpu().jit() >= 0 && first.machine() > 0);
        int before = sampler.samples().size();
        sampler.sample();
        assertEquals(before + 1, sampler.samples().size());
    }
}
