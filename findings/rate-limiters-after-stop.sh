#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# How many permits limiters of 20 a second give in one second, in a program with 200 threads that each wait for one
# permit after the other, before and after it stands for five seconds (SIGSTOP), as in a long pause or a frozen
# container. com.google.guava:guava 33.5.0-jre; io.github.resilience4j:resilience4j-ratelimiter 2.4.0, the default one
# and SemaphoreBasedRateLimiter; com.bucket4j:bucket4j_jdk17-core 8.19.0; dev.failsafe:failsafe 3.3.2, smooth;
# com.alibaba.csp:sentinel-core 1.8.9, which lets calls wait in a queue. A stock JDK 25.0.3.
#
#   guessed   40 at most in any second: a second's permits that nobody took, and those of the next one
#   seen                                          before the stop        after it
#             Guava, Sentinel                            18 to 37      119 to 121
#             Resilience4j                                     40             120
#             Bucket4j                                   38 to 39      120 to 121
#             Failsafe                                   21 to 25      120 to 121
#             Resilience4j, by semaphore                 40 to 41              40
#             Who waits has reserved a permit of a later time, and sleeps until then. A stop lets the times of all pass,
#             so that each goes at once: a limiter of 20 a second gives 6 seconds' permits in one after a stop of 5, and
#             what it protects has them all. The one by a semaphore has nothing to reserve. The sum is right with each:
#             none gives more than 20 for each second that has passed, the stop among them. Only a limit at the other
#             side, or of calls at the same time, bounds such a burst
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
program=
end() {
  [[ -z $program ]] || kill -KILL "$program" 2> /dev/null || true
  wait
  rm -rf "$work"
}
trap end EXIT
cd "$work"
dependency() {
  echo "<dependency><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version></dependency>"
}
{
  echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
  echo '<groupId>findings</groupId><artifactId>limited</artifactId><version>1</version><dependencies>'
  dependency com.google.guava guava 33.5.0-jre
  dependency io.github.resilience4j resilience4j-ratelimiter 2.4.0
  dependency com.bucket4j bucket4j_jdk17-core 8.19.0
  dependency dev.failsafe failsafe 3.3.2
  dependency com.alibaba.csp sentinel-core 1.8.9
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Limited.java << 'JAVA'
import com.alibaba.csp.sentinel.SphU;
import com.alibaba.csp.sentinel.slots.block.RuleConstant;
import com.alibaba.csp.sentinel.slots.block.flow.FlowRule;
import com.alibaba.csp.sentinel.slots.block.flow.FlowRuleManager;
import io.github.bucket4j.Bucket;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.github.resilience4j.ratelimiter.internal.SemaphoreBasedRateLimiter;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

public class Limited {
    static final int RATE = 20;
    static final Duration SECOND = Duration.ofSeconds(1);

    interface Limiter {
        void take() throws Exception;
    }

    static Limiter resilience(boolean semaphore) {
        RateLimiterConfig config = RateLimiterConfig.custom().limitForPeriod(RATE).limitRefreshPeriod(SECOND)
            .timeoutDuration(Duration.ofMinutes(2)).build();
        RateLimiter limiter = semaphore ? new SemaphoreBasedRateLimiter("limited", config)
            : RateLimiter.of("limited", config);
        return () -> {
            if (!limiter.acquirePermission()) {
                throw new IllegalStateException("no permit");
            }
        };
    }

    static Limiter sentinel() {
        FlowRule rule = new FlowRule("limited");
        rule.setGrade(RuleConstant.FLOW_GRADE_QPS);
        rule.setCount(RATE);
        rule.setControlBehavior(RuleConstant.CONTROL_BEHAVIOR_RATE_LIMITER);
        rule.setMaxQueueingTimeMs(120_000);
        FlowRuleManager.loadRules(List.of(rule));
        return () -> SphU.entry("limited").exit();
    }

    static Limiter limiter(String name) {
        switch (name) {
            case "Guava":
                var guava = com.google.common.util.concurrent.RateLimiter.create(RATE);
                return guava::acquire;
            case "Resilience4j":
                return resilience(false);
            case "semaphore":
                return resilience(true);
            case "Bucket4j":
                Bucket bucket = Bucket.builder().addLimit(l -> l.capacity(RATE).refillGreedy(RATE, SECOND)).build();
                return () -> bucket.asBlocking().consume(1);
            case "Failsafe":
                var failsafe = dev.failsafe.RateLimiter.smoothBuilder(RATE, SECOND).build();
                return failsafe::acquirePermit;
            default:
                return sentinel();
        }
    }

    /** The most permits in one second, of those whose second begins at this time or later and ends before that one. */
    static int most(List<Long> times, long from, long to) {
        int most = 0;
        for (int first = 0, last = 0; first < times.size(); first++) {
            while (last < times.size() && times.get(last) - times.get(first) < 1_000_000_000L) {
                last++;
            }
            if (times.get(first) >= from && times.get(last - 1) < to) {
                most = Math.max(most, last - first);
            }
        }
        return most;
    }

    public static void main(String[] args) throws Exception {
        Limiter limiter = limiter(args[0]);
        Queue<Long> taken = new ConcurrentLinkedQueue<>();
        long begin = System.nanoTime();
        for (int i = 0; i < 200; i++) {
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    while (true) {
                        limiter.take();
                        taken.add(System.nanoTime() - begin);
                    }
                } catch (Exception e) {
                    e.printStackTrace();
                    System.exit(1);
                }
            });
        }
        Thread.sleep(4000);
        long stop = System.nanoTime() - begin;
        System.out.println("ready");
        System.in.read();
        Thread.sleep(3000);
        List<Long> times = taken.stream().sorted().toList();
        System.out.println(most(times, 0, stop) + " " + most(times, stop, Long.MAX_VALUE));
        System.exit(0);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Limited.java 2> errors || { cat errors; exit 1; }
bad=0
for limiter in Guava Resilience4j Bucket4j Failsafe Sentinel semaphore; do
  rm -f go said
  mkfifo go
  "$java/java" -Xmx100m -cp 'lib/*:.' Limited $limiter < go > said 2> errors &
  program=$!
  exec 5> go
  for ((SECONDS = 0; SECONDS < 60;)); do
    if grep -qs ready said; then break; fi
    sleep 0.1
  done
  kill -STOP $program
  sleep 5
  kill -CONT $program
  echo >&5
  wait $program || { cat errors; exit 1; }
  program=
  exec 5>&-
  read -r before after < <(tail -n 1 said)
  printf '%-14s most permits in a second: %3d before the stop, %3d after it\n' $limiter "$before" "$after"
  ((before >= 15 && before <= 45)) || bad=1
  if [[ $limiter == semaphore ]]; then ((after <= 45)) || bad=1; else ((after >= 90)) || bad=1; fi
done
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
