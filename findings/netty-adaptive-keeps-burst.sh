#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What Netty's allocators keep of a burst: 10 direct buffers of 4 to 64 KB by each of 2,000 virtual threads at the same
# time, or 1,000 by each of four threads of Netty's; all are released. Then the collector runs, and 20,000 small buffers
# follow. io.netty:netty-buffer 4.2.18: its default, AdaptiveByteBufAllocator, and the default of 4.1,
# PooledByteBufAllocator, on a stock JDK 25.0.3; usedDirectMemory() of each one's metric.
#
#   guessed   the adaptive one, which is meant to take less, keeps less than the pooled one, and 32 MB at most
#   seen      MB of direct memory      at the peak    kept
#             2,000 threads, adaptive          874     835
#                            pooled            716      72 to 100
#             4 threads, adaptive              178     179
#                        pooled                144      80 to 84
#             The adaptive one gives back one part in twenty at most: the process stays at its highest peak for good.
#             A second and a third burst take the same memory, and no more
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>burst</artifactId><version>1</version><dependencies><dependency>
<groupId>io.netty</groupId><artifactId>netty-buffer</artifactId><version>4.2.18.Final</version>
</dependency></dependencies></project>
POM
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Burst.java <<'JAVA'
import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;

public class Burst {
    static ByteBufAllocator allocator;

    static long used() {
        return ((ByteBufAllocatorMetricProvider) allocator).metric().usedDirectMemory() / (1 << 20);
    }

    /** Takes and releases; returns what was used while all had theirs. */
    static long burst(ThreadFactory factory, int threads, int buffers, int seed) throws Exception {
        CountDownLatch taken = new CountDownLatch(threads);
        CountDownLatch release = new CountDownLatch(1);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Random random = new Random(seed * 10_000L + i);
            Thread thread = factory.newThread(() -> {
                List<ByteBuf> mine = new ArrayList<>();
                for (int j = 0; j < buffers; j++) {
                    ByteBuf buffer = allocator.directBuffer(4096 + random.nextInt(60_000));
                    mine.add(buffer.writeZero(buffer.capacity()));
                }
                taken.countDown();
                try {
                    release.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                mine.forEach(ByteBuf::release);
            });
            thread.start();
            all.add(thread);
        }
        taken.await();
        long peak = used();
        release.countDown();
        for (Thread thread : all) {
            thread.join();
        }
        return peak;
    }

    public static void main(String[] args) throws Exception {
        allocator = args[0].equals("adaptive") ? new AdaptiveByteBufAllocator(true) : new PooledByteBufAllocator(true);
        boolean virtual = args[1].equals("virtual");
        ThreadFactory factory = virtual ? Thread.ofVirtual().factory() : FastThreadLocalThread::new;
        long peak = 0;
        for (int round = 0; round < 3; round++) {
            peak = burst(factory, virtual ? 2000 : 4, virtual ? 10 : 1000, round);
            for (int i = 0; i < 3; i++) {
                System.gc();
                Thread.sleep(300);
            }
        }
        for (int i = 0; i < 20_000; i++) {
            allocator.directBuffer(512).release();
        }
        System.out.println(peak + " " + used());
    }
}
JAVA
"$java/javac" -cp 'lib/*' Burst.java
kept() {
  "$java/java" --sun-misc-unsafe-memory-access=allow -Xmx600m -XX:MaxDirectMemorySize=2g -cp 'lib/*:.' Burst "$@" \
    2> errors || { cat errors; exit 1; }
}
say() { printf '%-26s MB at the peak %4s, kept %4s\n' "$@"; }
read -r -a adaptive <<< "$(kept adaptive virtual)"
say '2,000 threads, adaptive' "${adaptive[@]}"
read -r -a pooled <<< "$(kept pooled virtual)"
say '2,000 threads, pooled' "${pooled[@]}"
read -r -a adaptive_few <<< "$(kept adaptive few)"
say '4 threads, adaptive' "${adaptive_few[@]}"
read -r -a pooled_few <<< "$(kept pooled few)"
say '4 threads, pooled' "${pooled_few[@]}"
((adaptive[1] * 10 > adaptive[0] * 8 && adaptive_few[1] * 10 > adaptive_few[0] * 8 && pooled[1] * 10 < pooled[0] * 4 &&
  pooled_few[1] * 10 < pooled_few[0] * 8)) || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
