#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Who allocated and who was on a processor, by github.com/grafana/jfr-parser v0.9.3, the parser of Go by which Pyroscope
# reads recordings, of a recording of a stock JDK 25.0.3 (jdk.jfr, settings `profile`): four platform threads, which all
# live to its end, allocate for three seconds. Once the recording is dumped at its end only, once four times before, as
# `jcmd JFR.dump` does. The truth is the JDK's own parser of the same file.
#
#   guessed   each sample of allocations and of execution has its thread and its stack, as the JDK says it
#   seen      of 100 samples without      thread, JDK    jfr-parser    stack, JDK    jfr-parser
#             dumped at the end                     0      97 to 99             0       0 or 99
#             dumped before, too                    0      25 to 32             0       2 to 26
#             A chunk of the JDK may have many constant pools of each kind. The parser goes through all of them, and
#             each replaces the one before it, so that what is in the one that it reads last, the chunk's first, is all
#             that it knows. Recordings of async-profiler, for which it says it is made, have one. No error says so, and
#             the number of samples is right
#
# Needs a JDK 25 (JAVA_HOME) and Go. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > Allocate.java << 'JAVA'
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

public class Allocate {
    static volatile Object sink;

    static void allocate(CountDownLatch done, CountDownLatch end) {
        for (long until = System.nanoTime() + 3_000_000_000L; System.nanoTime() < until;) {
            sink = new byte[200];
        }
        done.countDown();
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Records, and prints samples, those without a thread, and those without a stack. */
    public static void main(String[] args) throws Exception {
        try (Recording recording = new Recording(Configuration.getConfiguration("profile"))) {
            recording.start();
            CountDownLatch done = new CountDownLatch(4);
            CountDownLatch end = new CountDownLatch(1);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                threads.add(Thread.ofPlatform().start(() -> allocate(done, end)));
            }
            for (int i = 0; i < Integer.parseInt(args[1]); i++) {
                Thread.sleep(500);
                recording.dump(Path.of(args[0]));
            }
            done.await();
            recording.stop();
            recording.dump(Path.of(args[0]));
            end.countDown();
        }
        int samples = 0;
        int threads = 0;
        int stacks = 0;
        for (RecordedEvent event : RecordingFile.readAllEvents(Path.of(args[0]))) {
            String name = event.getEventType().getName();
            boolean execution = name.equals("jdk.ExecutionSample");
            if (execution || name.equals("jdk.ObjectAllocationSample")) {
                RecordedThread thread = execution ? event.getThread("sampledThread") : event.getThread();
                samples++;
                threads += thread == null ? 1 : 0;
                stacks += event.getStackTrace() == null ? 1 : 0;
            }
        }
        System.out.println(samples + " " + threads + " " + stacks);
    }
}
JAVA
cat > main.go << 'GO'
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/grafana/jfr-parser/parser"
	"github.com/grafana/jfr-parser/parser/types"
)

func main() {
	file, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	p := parser.NewParser(file, parser.Options{})
	samples, threads, stacks := 0, 0, 0
	count := func(thread types.ThreadRef, stack types.StackTraceRef) {
		samples++
		if _, known := p.Threads.IDMap[thread]; !known {
			threads++
		}
		if p.GetStacktrace(stack) == nil {
			stacks++
		}
	}
	for {
		kind, err := p.ParseEvent()
		if err == io.EOF {
			break
		}
		if err != nil {
			panic(err)
		}
		switch kind {
		case p.TypeMap.T_EXECUTION_SAMPLE:
			count(p.ExecutionSample.SampledThread, p.ExecutionSample.StackTrace)
		case p.TypeMap.T_ALLOC_SAMPLE:
			count(p.ObjectAllocationSample.EventThread, p.ObjectAllocationSample.StackTrace)
		}
	}
	fmt.Println(samples, threads, stacks)
}
GO
"$java/javac" Allocate.java
{
  go mod init findings && go get github.com/grafana/jfr-parser@v0.9.3 golang.org/x/text@v0.28.0 && go mod tidy &&
    go build -o count .
} > errors 2>&1 || { cat errors; exit 1; }
bad=0
for dumps in 0 4; do
  read -r samples threads stacks < <("$java/java" -XX:+UseG1GC -Xmx100m -cp . Allocate a.jfr $dumps)
  read -r seen no_thread no_stack < <(./count a.jfr)
  echo "dumped $dumps times before its end"
  echo "  JDK:        $samples samples, $threads without a thread, $stacks without a stack"
  echo "  jfr-parser: $seen samples, $no_thread without a thread, $no_stack without a stack"
  ((samples > 200 && seen == samples && threads * 50 < samples && stacks * 50 < samples)) || bad=1
  ((no_thread * 10 > samples)) || bad=1
  rm a.jfr
done
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
