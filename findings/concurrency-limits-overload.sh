#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Limits of requests at the same time that find themselves, by how long answers take:
# com.netflix.concurrency-limits:concurrency-limits-core 0.5.4, SimpleLimiter with its limits as they come (newDefault),
# and each within a WindowedLimit. A service does ten requests at a time, of 20 ms each, so 500 a second; what is more
# waits in a queue. Requests and clock are simulated, the limiter is the real one. An hour of 600 requests a second, as
# when a node is lost; and five minutes of 300 a second with a pause of 100 ms each second, whose requests come at its
# end.
#
#   guessed   in the hour each limit stays between 10 and 60, so that what it lets in is answered within 120 ms; of 300
#             a second each rejects 5 % at most, pauses or not
#   seen                               an hour of 600/s:            of 300/s rejected:
#                                      limit    answered after      no pauses    pauses
#             Gradient2                  200            390 ms            0 %       3 %
#             Gradient2, windowed        200            390 ms            0 %       0 %
#             Vegas                  8 to 20             21 ms            2 %      10 %
#             Vegas, windowed             30             50 ms            0 %       3 %
#             Gradient2 compares with an average of the last answers, and slow answers become what is usual: under a
#             load that lasts it goes up to its maximum, which is 200, in seconds, and windowed in 20 minutes. So it is
#             that number which bounds how long a request waits. Vegas compares with the best answer there was, and
#             keeps to it; but it turns away a tenth of what could be served where pauses make requests come in heaps
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml << 'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>limits</artifactId><version>1</version><dependencies><dependency>
<groupId>com.netflix.concurrency-limits</groupId><artifactId>concurrency-limits-core</artifactId>
<version>0.5.4</version></dependency></dependencies></project>
POM
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Limits.java << 'JAVA'
import com.netflix.concurrency.limits.Limit;
import com.netflix.concurrency.limits.Limiter;
import com.netflix.concurrency.limits.limit.Gradient2Limit;
import com.netflix.concurrency.limits.limit.VegasLimit;
import com.netflix.concurrency.limits.limit.WindowedLimit;
import com.netflix.concurrency.limits.limiter.SimpleLimiter;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;

public class Limits {
    static final long SECOND = 1_000_000_000;
    static final long PAUSE = SECOND / 10;
    static final int PLACES = 10;

    static class Request {
        final long begin;
        final Limiter.Listener listener;
        long end;

        Request(long begin, Limiter.Listener listener) {
            this.begin = begin;
            this.listener = listener;
        }
    }

    final SimpleLimiter<Void> limiter;
    final double rate;
    final Random random = new Random(1);
    final PriorityQueue<Request> served = new PriorityQueue<>(Comparator.comparingLong(r -> r.end));
    final Queue<Request> waiting = new ArrayDeque<>();
    long now = SECOND;
    long next = SECOND;
    long requests;
    long rejected;
    long answered;
    long time;

    Limits(Limit limit, double rate) {
        limiter = SimpleLimiter.newBuilder().nanoClock(() -> now).limit(limit).build();
        this.rate = rate;
    }

    /** 20 ms, on the average. */
    void serve(Request request) {
        request.end = now + (long) (SECOND / 50 * (0.5 + random.nextDouble()));
        served.add(request);
    }

    void arrive() {
        requests++;
        var listener = limiter.acquire(null);
        if (listener.isEmpty()) {
            rejected++;
            return;
        }
        Request request = new Request(now, listener.get());
        if (served.size() < PLACES) {
            serve(request);
        } else {
            waiting.add(request);
        }
    }

    void answer() {
        Request request = served.poll();
        request.listener.onSuccess();
        answered++;
        time += now - request.begin;
        if (!waiting.isEmpty()) {
            serve(waiting.poll());
        }
    }

    /** Requests arrive at random times, independent of each other, and are answered, until that time. */
    void run(long until) {
        while (true) {
            long end = served.isEmpty() ? Long.MAX_VALUE : served.peek().end;
            if (Math.min(end, next) > until) {
                now = until;
                return;
            }
            now = Math.max(now, Math.min(end, next));
            if (end <= next) {
                answer();
            } else {
                arrive();
                next += (long) (-Math.log(1 - random.nextDouble()) * SECOND / rate);
            }
        }
    }

    /** Nothing is done. Who was served is answered at the end, and all who would have come are there then. */
    void pause() {
        now += PAUSE;
        next = Math.max(next, now);
        for (int i = 0; i < rate * PAUSE / SECOND; i++) {
            arrive();
        }
    }

    /** Limit, milliseconds in the last second, and percent that was rejected. */
    static String course(Limit limit, double rate, int seconds, boolean pauses) {
        Limits limits = new Limits(limit, rate);
        for (int i = 1; i <= seconds; i++) {
            if (pauses) {
                limits.pause();
            }
            limits.answered = 0;
            limits.time = 0;
            limits.run((i + 1) * SECOND);
        }
        return limits.limiter.getLimit() + " " + limits.time / 1_000_000 / limits.answered + " "
            + Math.round(100.0 * limits.rejected / limits.requests);
    }

    static Limit limit(String name) {
        Limit limit = name.startsWith("Gradient2") ? Gradient2Limit.newDefault() : VegasLimit.newDefault();
        return name.endsWith("windowed") ? WindowedLimit.newBuilder().build(limit) : limit;
    }

    public static void main(String[] args) {
        for (String name : new String[] {"Gradient2", "Gradient2-windowed", "Vegas", "Vegas-windowed"}) {
            System.out.println(name + " " + course(limit(name), 600, 3600, false) + " "
                + course(limit(name), 300, 300, false) + " " + course(limit(name), 300, 300, true));
        }
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Limits.java 2> errors || { cat errors; exit 1; }
"$java/java" -cp 'lib/*:.' Limits > said 2> errors || { cat errors; exit 1; }
[[ $(wc -l < said) == 4 ]] || { cat errors; exit 1; }
bad=0
while read -r name limit ms _ _ _ plain _ _ pauses; do
  printf '%-20s an hour of 600/s: limit %3d, answered after %3d ms; of 300/s rejected %2d %%, with pauses %2d %%\n' \
    "$name" "$limit" "$ms" "$plain" "$pauses"
  case $name in
    Gradient2*) ((limit == 200 && ms > 300 && plain == 0 && pauses <= 5)) || bad=1 ;;
    Vegas) ((limit < 60 && ms < 60 && plain <= 5 && pauses >= 7)) || bad=1 ;;
    *) ((limit < 100 && ms < 150 && plain == 0 && pauses <= 7)) || bad=1 ;;
  esac
done < said
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
