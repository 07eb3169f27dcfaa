#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What one log message allocates when each comes from a thread that has not logged before, as with a virtual thread for
# each request: org.apache.logging.log4j:log4j-core 2.25.3 and ch.qos.logback:logback-classic 1.5.20, to standard output
# with the same pattern, on a stock JDK 25.0.3.
#
#   guessed   the two are within a factor of two. Log4j, which reuses its objects, is the one that allocates less, and
#             with -Dlog4j2.enable.threadlocals=false it holds nothing by thread
#   seen      bytes for each message    fresh virtual thread   one thread
#             Log4j                                   15,400           50
#             Log4j without thread locals             14,300          300
#             Logback                                  1,500          900
#             What Log4j reuses belongs to a thread, so a fresh one makes all of it, ten times what Logback takes. The
#             property turns off only a small part of it
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>logged</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.logging.log4j</groupId><artifactId>log4j-core</artifactId><version>2.25.3</version>
</dependency><dependency>
<groupId>ch.qos.logback</groupId><artifactId>logback-classic</artifactId><version>1.5.20</version>
</dependency></dependencies></project>
POM
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > log4j2.xml <<'XML'
<Configuration><Appenders><Console name="c"><PatternLayout pattern="%d %p [%t] %c %m%n"/></Console></Appenders>
<Loggers><Root level="info"><AppenderRef ref="c"/></Root></Loggers></Configuration>
XML
cat > logback.xml <<'XML'
<configuration><appender name="c" class="ch.qos.logback.core.ConsoleAppender"><encoder>
<pattern>%d %p [%t] %c %m%n</pattern></encoder></appender><root level="info"><appender-ref ref="c"/></root></configuration>
XML
cat > Logged.java <<'JAVA'
import java.lang.management.ManagementFactory;

public class Logged {
    static final int MESSAGES = 1000;
    static final com.sun.management.ThreadMXBean BEAN =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    static class ByLog4j implements Runnable {
        final org.apache.logging.log4j.Logger log =
            org.apache.logging.log4j.LogManager.getLogger("x");

        @Override
        public void run() {
            log.info("message {} of {}", "one", "many");
        }
    }

    static class ByLogback implements Runnable {
        final org.slf4j.Logger log = org.slf4j.LoggerFactory.getLogger("x");

        @Override
        public void run() {
            log.info("message {} of {}", "one", "many");
        }
    }

    static long inFreshThreads(Runnable work) throws Exception {
        long before = BEAN.getTotalThreadAllocatedBytes();
        for (int i = 0; i < MESSAGES; i++) {
            Thread.startVirtualThread(work).join();
        }
        return BEAN.getTotalThreadAllocatedBytes() - before;
    }

    static long inOneThread(Runnable work) {
        long before = BEAN.getTotalThreadAllocatedBytes();
        for (int i = 0; i < MESSAGES; i++) {
            work.run();
        }
        return BEAN.getTotalThreadAllocatedBytes() - before;
    }

    /** Prints the bytes for each message: by fresh threads, less what these take without one, and by one thread. */
    public static void main(String[] args) throws Exception {
        Runnable work = args[0].equals("log4j") ? new ByLog4j() : new ByLogback();
        Runnable nothing = () -> { };
        String seen = "";
        for (int round = 0; round < 2; round++) {
            long threads = inFreshThreads(nothing);
            seen = (inFreshThreads(work) - threads) / MESSAGES + " " + inOneThread(work) / MESSAGES;
        }
        System.err.println(seen);
    }
}
JAVA
"$java/javac" -cp "lib/*" Logged.java
logged() { "$java/java" "${@:2}" -cp "lib/*:." Logged "$1" 2>&1 > log | tail -n 1; }
read -r log4j log4j_one <<< "$(logged log4j)"
read -r without without_one <<< "$(logged log4j -Dlog4j2.enable.threadlocals=false)"
read -r logback logback_one <<< "$(logged logback)"
echo "bytes for each message of a fresh virtual thread, and of one thread: Log4j $log4j, $log4j_one;" \
  "without thread locals $without, $without_one; Logback $logback, $logback_one"
((log4j > 5 * logback && without > 5 * logback && log4j_one < logback_one)) || { echo "changed" >&2; exit 1; }
echo "as seen"
