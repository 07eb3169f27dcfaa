#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What Jackson keeps after a burst: 2,000 virtual threads read a document of 60 KB at the same time, once, and end; the
# mapper is dropped, too. com.fasterxml.jackson.core:jackson-databind 2.22.3 and tools.jackson.core:jackson-databind
# 3.2.4, on a stock JDK 25.0.3.
#
#   guessed   neither keeps more than 2 MB after System.gc(): 2.x has its buffers behind a soft reference of each thread
#   seen      2.x keeps nothing. 3.x keeps more than 120 MB alive, 60 KB and more for each read that ran at the same
#             time. Its default pool is one for the whole program, holds what it has strongly, and outlives each
#             mapper. So one burst adds to the heap's live set for good, and each collection marks it. clear() of the
#             factory's pool gives all of it back
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
libraries() {
  mkdir "$2"
  {
    echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
    echo '<groupId>findings</groupId><artifactId>burst</artifactId><version>1</version><dependencies><dependency>'
    echo "<groupId>$1</groupId><artifactId>jackson-databind</artifactId><version>$2</version>"
    echo '</dependency></dependencies></project>'
  } > "$2/pom.xml"
  mvn -q -B -f "$2/pom.xml" dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
}
libraries com.fasterxml.jackson.core 2.22.3
libraries tools.jackson.core 3.2.4
cat > Burst.txt <<'JAVA'
import @PACKAGE@.core.@TYPE@;
import @PACKAGE@.databind.json.JsonMapper;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

public class Burst {
    static final int READS = 2000;
    static final byte[] DOCUMENT = ("{\"a\":\"" + "xyz".repeat(20_000) + "\"}").getBytes();
    static final CountDownLatch BEGUN = new CountDownLatch(READS);
    static final CountDownLatch GO = new CountDownLatch(1);

    /** The document, of which each reader has the first byte when all have begun. */
    static class Slow extends InputStream {
        int at;

        @Override
        public int read() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int read(byte[] to, int offset, int length) {
            if (at == 0) {
                BEGUN.countDown();
                try {
                    GO.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            int read = Math.min(length, DOCUMENT.length - at);
            System.arraycopy(DOCUMENT, at, to, offset, read);
            at += read;
            return read == 0 ? -1 : read;
        }
    }

    static long used() throws Exception {
        System.gc();
        Thread.sleep(100);
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    static void burst(JsonMapper mapper) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < READS; i++) {
            threads.add(Thread.startVirtualThread(() -> {
                try {
                    mapper.readValue(new Slow(), Map.class);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }));
        }
        BEGUN.await();
        GO.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Prints the MB that are kept: after the burst, after the mapper is dropped, and after its pool is cleared. */
    public static void main(String[] args) throws Exception {
        JsonMapper mapper = new JsonMapper();
        mapper.readValue(DOCUMENT, Map.class);
        long before = used();
        burst(mapper);
        long burst = used() - before;
        @TYPE@ factory = mapper.@FACTORY@();
        mapper = null;
        long dropped = used() - before;
        factory._getRecyclerPool().clear();
        System.out.println(burst / 1_000_000 + " " + dropped / 1_000_000 + " " + (used() - before) / 1_000_000);
    }
}
JAVA
# kept VERSION PACKAGE TYPE FACTORY
kept() {
  sed -e "s/@PACKAGE@/$2/" -e "s/@TYPE@/$3/" -e "s/@FACTORY@/$4/" Burst.txt > "$1/Burst.java"
  "$java/javac" -cp "$1/lib/*" -d "$1" "$1/Burst.java" || return
  "$java/java" -XX:+UseSerialGC -Xmx800m -cp "$1/lib/*:$1" Burst
}
kept 2.22.3 com.fasterxml.jackson JsonFactory getFactory > of2
kept 3.2.4 tools.jackson TokenStreamFactory tokenStreamFactory > of3
read -r two two_dropped _ < of2
read -r three three_dropped three_cleared < of3
echo "MB kept after the burst, and when the mapper is dropped: 2.22.3 $two, $two_dropped; 3.2.4 $three, $three_dropped"
echo "3.2.4, when its pool is cleared: $three_cleared"
((two <= 2 && two_dropped <= 2 && three >= 100 && three_dropped >= 100 && three_cleared <= 2)) ||
  { echo "changed" >&2; exit 1; }
echo "as seen"
