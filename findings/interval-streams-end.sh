#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What becomes of a job that is done each second, and takes 50 ms, when its program stands for ten seconds (SIGSTOP), as
# in a long pause or a frozen container. As a stream: io.projectreactor:reactor-core 3.8.2 (Flux.interval),
# io.reactivex.rxjava3:rxjava 3.1.12 (Flowable.interval), io.smallrye.reactive:mutiny 3.3.0 (ticks),
# org.apache.pekko:pekko-stream_2.13 1.7.0 (Source.tick). As a timer at a fixed rate: the JDK's, of a stock JDK 25.0.3,
# org.springframework:spring-context 7.0.5 (two schedulers), io.vertx:vertx-core 5.1.0, Pekko's,
# org.quartz-scheduler:quartz 2.5.2.
#
#   guessed   each goes on; the ten ticks that are missing are made up for, or left out
#   seen      ticks                                     in the 3 s after the stop    in the 5 s after these
#             timers, all six                                            12 to 14                         5
#             Pekko's stream; Reactor, onBackpressureDrop                  3 to 4                         5
#             Reactor, publishOn                                         12 to 14                         5
#             Reactor, concatMap                                                1                         0
#             RxJava, concatMapSingle                                      0 to 1                         0
#             Mutiny, transformToUniAndConcatenate                              1                         0
#             The clock of these three makes up for what is missing at once, and who takes one after the other has
#             asked for a few. A tick that nobody has asked for ends the stream with an error (OverflowException,
#             MissingBackpressureException, BackPressureFailure). So a job that takes a twentieth of its period is
#             done no more after one pause of some periods; 3.5 s ended two of the three. An operator that drops, before
#             the one that waits, helps. A timer does the missing ones in a burst
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
  echo '<groupId>findings</groupId><artifactId>ticks</artifactId><version>1</version><dependencies>'
  dependency io.projectreactor reactor-core 3.8.2
  dependency io.reactivex.rxjava3 rxjava 3.1.12
  dependency io.smallrye.reactive mutiny 3.3.0
  dependency org.apache.pekko pekko-stream_2.13 1.7.0
  dependency org.springframework spring-context 7.0.5
  dependency io.vertx vertx-core 5.1.0
  dependency org.quartz-scheduler quartz 2.5.2
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Ticks.java << 'JAVA'
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Single;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.stream.javadsl.Source;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

public class Ticks {
    static final Duration PERIOD = Duration.ofSeconds(1);
    static final Map<String, Ticks> ALL = new LinkedHashMap<>();
    final Queue<Long> times = new ConcurrentLinkedQueue<>();
    volatile String error = "";

    /** Takes 50 ms. */
    long work(long n) {
        try {
            times.add(System.nanoTime());
            Thread.sleep(50);
            return n;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    void failed(Throwable e) {
        error = e.getClass().getSimpleName();
    }

    static Ticks of(String name) {
        return ALL.computeIfAbsent(name, n -> new Ticks());
    }

    static void streams(ActorSystem system) {
        Ticks reactor = of("Reactor, concatMap");
        Flux.interval(PERIOD).concatMap(n -> Mono.fromCallable(() -> reactor.work(n))
            .subscribeOn(Schedulers.boundedElastic())).subscribe(n -> { }, reactor::failed);
        Ticks published = of("Reactor, publishOn");
        Flux.interval(PERIOD).publishOn(Schedulers.boundedElastic()).subscribe(published::work, published::failed);
        Ticks dropping = of("Reactor, onBackpressureDrop");
        Flux.interval(PERIOD).onBackpressureDrop().concatMap(n -> Mono.fromCallable(() -> dropping.work(n))
            .subscribeOn(Schedulers.boundedElastic())).subscribe(n -> { }, dropping::failed);
        Ticks rx = of("RxJava, concatMapSingle");
        Flowable.interval(1, TimeUnit.SECONDS).concatMapSingle(n -> Single.fromCallable(() -> rx.work(n))
            .subscribeOn(io.reactivex.rxjava3.schedulers.Schedulers.io())).subscribe(n -> { }, rx::failed);
        Ticks mutiny = of("Mutiny, concatenate");
        Multi.createFrom().ticks().every(PERIOD).onItem().transformToUniAndConcatenate(n -> Uni.createFrom()
            .item(() -> mutiny.work(n)).runSubscriptionOn(Infrastructure.getDefaultWorkerPool()))
            .subscribe().with(n -> { }, mutiny::failed);
        Ticks pekko = of("Pekko, mapAsync");
        Source.tick(PERIOD, PERIOD, 1L).mapAsync(1, n -> CompletableFuture.supplyAsync(() -> pekko.work(n)))
            .runForeach(n -> { }, system).exceptionally(e -> {
                pekko.failed(e);
                return null;
            });
    }

    public static class Job implements org.quartz.Job {
        @Override
        public void execute(JobExecutionContext context) {
            of("Quartz").work(0);
        }
    }

    static void timers(ActorSystem system) throws Exception {
        Ticks jdk = of("JDK");
        Executors.newScheduledThreadPool(1).scheduleAtFixedRate(() -> jdk.work(0), 1, 1, TimeUnit.SECONDS);
        Ticks spring = of("Spring");
        var scheduler = new ThreadPoolTaskScheduler();
        scheduler.initialize();
        scheduler.scheduleAtFixedRate(() -> spring.work(0), PERIOD);
        Ticks threads = of("Spring, virtual threads");
        var simple = new SimpleAsyncTaskScheduler();
        simple.setVirtualThreads(true);
        simple.scheduleAtFixedRate(() -> threads.work(0), PERIOD);
        Ticks vertx = of("Vert.x");
        Vertx.vertx().setPeriodic(1000, vertx::work);
        Ticks pekko = of("Pekko, timer");
        system.scheduler().scheduleAtFixedRate(PERIOD, PERIOD, () -> pekko.work(0), system.dispatcher());
        of("Quartz");
        System.setProperty("org.quartz.threadPool.threadCount", "1");
        var quartz = StdSchedulerFactory.getDefaultScheduler();
        quartz.scheduleJob(JobBuilder.newJob(Job.class).build(), TriggerBuilder.newTrigger()
            .withSchedule(SimpleScheduleBuilder.repeatSecondlyForever()).build());
        quartz.start();
    }

    public static void main(String[] args) throws Exception {
        ActorSystem system = ActorSystem.create();
        streams(system);
        timers(system);
        Thread.sleep(8000);
        System.out.println("ready");
        long stop = System.nanoTime();
        System.in.read();
        long go = System.nanoTime();
        Thread.sleep(8000);
        ALL.forEach((name, ticks) -> {
            long before = ticks.times.stream().filter(t -> t < stop).count();
            long burst = ticks.times.stream().filter(t -> t >= stop && t < go + 3_000_000_000L).count();
            long later = ticks.times.stream().filter(t -> t >= go + 3_000_000_000L).count();
            System.out.println("seen " + before + " " + burst + " " + later + " " + name + " " + ticks.error);
        });
        System.exit(0);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Ticks.java 2> errors || { cat errors; exit 1; }
mkfifo go
"$java/java" -XX:TieredStopAtLevel=1 -Xmx200m -cp 'lib/*:.' Ticks < go > said 2> errors &
program=$!
exec 5> go
for ((SECONDS = 0; SECONDS < 120;)); do
  if grep -qs ready said; then break; fi
  sleep 0.1
done
kill -STOP $program
sleep 10
kill -CONT $program
echo >&5
wait $program || { cat errors; exit 1; }
program=
grep -q '^seen ' said || { cat errors; exit 1; }
bad=0
while read -r _ before soon later name; do
  printf '%2d before the stop, %2d in 3 s after it, %d in 5 s after these: %s\n' "$before" "$soon" "$later" "$name"
  ((before >= 4)) || bad=1
  case $name in
    *Exception | *Failure) ((soon <= 2 && later == 0)) || bad=1 ;;
    *concatMap* | *concatenate*) bad=1 ;;
    *onBackpressureDrop | *mapAsync) ((soon <= 6 && later >= 4)) || bad=1 ;;
    *) ((soon >= 10 && later >= 4)) || bad=1 ;;
  esac
done < <(grep '^seen ' said)
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
