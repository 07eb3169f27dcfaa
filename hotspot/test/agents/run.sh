#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# run.sh: do threads keep their objects private while an agent looks on? A service (Service.java) answers 12,000 requests
# with each agent as it comes from Maven Central, and `jcmd PID Lull.info` says what its threads do. A line for each:
# threads in private and in public mode at the end, after a trial of tracking if there is one; of what was allocated since
# request 4,000 what local collections have freed, and what was published, and the pauses; the reasons for public mode but
# for the VM's own threads. Agents find nobody to report to: nothing leaves this machine.
#
#   LULL_TEST_JDK      the JDK                                       (default: build/jdk)
#   LULL_TEST_AGENTS   names of the lines, between spaces            (default: all)
#   LULL_TEST_FLAGS    more flags for the service's JVM              (default: none; without trials what an agent costs
#                      stands alone: -XX:+UnlockExperimentalVMOptions -XX:-LullSuspendTracking)
#
# Downloads some 150 MB, once, to build/agents. Needs Maven.

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

sources=$ROOT/hotspot/test/agents
jars=$BUILD/agents
compile_programs agents jdk "$sources/Debugger.java"
cleanly "$jdk/bin/javac" -g -d "$work" "$sources/Service.java"   # a debugger reads its local variables
cd "$work"

fetch() {
  if [[ -e $jars/done && ! $sources/pom.xml -nt $jars/done ]]; then return; fi
  rm -rf "$jars"
  say "==> agents"
  JAVA_HOME=$(boot_jdk) mvn -q -B -f "$sources/pom.xml" dependency:copy-dependencies -DexcludeTransitive=true -Dmdep.stripVersion=true \
    -DoutputDirectory="$jars" > "$work/maven.log" 2>&1 || die "the agents are not to be had" "$(grep -m 3 ERROR "$work/maven.log")"
  unzip -q -o -j "$jars/async-profiler.jar" linux-x64/libasyncProfiler.so -d "$jars"
  touch "$jars/done"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

nobody=127.0.0.1:1   # where agents would report to
profiler="-agentpath:$jars/libasyncProfiler.so=start"
jdwp=-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0
# name|what the debugger does|flags
lines=(
  "none||"
  "opentelemetry||-javaagent:$jars/opentelemetry-javaagent.jar -Dotel.traces.exporter=none -Dotel.metrics.exporter=none -Dotel.logs.exporter=none"
  "newrelic||-javaagent:$jars/newrelic-agent.jar -Dnewrelic.config.license_key=0123456789012345678901234567890123456789 -Dnewrelic.config.app_name=service -Dnewrelic.config.host=127.0.0.1 -Dnewrelic.config.port=1 -Dnewrelic.config.log_file_path=$work"
  "datadog||-javaagent:$jars/dd-java-agent.jar -Ddd.trace.agent.url=http://$nobody -Ddd.service=service"
  "datadog-profiler||-javaagent:$jars/dd-java-agent.jar -Ddd.trace.agent.url=http://$nobody -Ddd.service=service -Ddd.profiling.enabled=true -Ddd.profiling.start-delay=0 -Ddd.profiling.start-force-first=true"
  "datadog-profiler-live||-javaagent:$jars/dd-java-agent.jar -Ddd.trace.agent.url=http://$nobody -Ddd.service=service -Ddd.profiling.enabled=true -Ddd.profiling.start-delay=0 -Ddd.profiling.start-force-first=true -Ddd.profiling.ddprof.alloc.enabled=true -Ddd.profiling.ddprof.liveheap.enabled=true"
  "elastic-apm||-javaagent:$jars/elastic-apm-agent.jar -Delastic.apm.server_url=http://$nobody -Delastic.apm.service_name=service -Delastic.apm.cloud_provider=NONE"
  "glowroot||-javaagent:$jars/glowroot-agent.jar -Dglowroot.agent.port=0 -Dglowroot.data.dir=$work/glowroot"
  "jacoco||-javaagent:$jars/org.jacoco.agent-runtime.jar=destfile=$work/jacoco.exec"
  "jmx-exporter||-javaagent:$jars/jmx_prometheus_javaagent.jar=127.0.0.1:$(free_port):$work/exporter.yaml"
  "jolokia||-javaagent:$jars/jolokia-agent-jvm-javaagent.jar=port=0,host=127.0.0.1,discoveryEnabled=false"
  "pyroscope||-javaagent:$jars/agent.jar -Dpyroscope.server.address=http://$nobody -Dpyroscope.application.name=service"
  "async-profiler-cpu||$profiler,event=itimer,file=$work/cpu.jfr"
  "async-profiler-wall||$profiler,event=wall,file=$work/wall.jfr"
  "async-profiler-alloc||$profiler,event=alloc,file=$work/alloc.jfr"
  "async-profiler-live||$profiler,event=alloc,live,file=$work/live.jfr"
  "flight-recorder||-XX:StartFlightRecording:settings=profile,filename=$work/rec.jfr"
  "jdwp-idle|idle|$jdwp"
  "jdwp-attached|attach|$jdwp"
  "jdwp-locals|locals|$jdwp"
)

# ask FILE: what the service says of itself.
ask() { "$jdk/bin/jcmd" "$(pgrep -P "$service" java || echo "$service")" Lull.info > "$1"; }

tell() {   # NAME
  local reasons
  reasons=$(sed -n 's/^threads.public_mode.reason: \([0-9]*\), \(.*\)/\1 \2/p' info | grep -v -e 'the VM starts' -e 'a thread of the VM' | paste -sd ';' || true)
  awk -F'[: ,]+' -v name="$1" -v reasons="$reasons" '
    FNR == NR { before[$1] = $2; next }
    { after[$1] = $2 }
    function rise(key) { return after[key] - before[key] }
    END {
      allocated = rise("publication.allocated")
      printf "%-24s %2d private, %2d public; freed by threads %3.0f %%, published %3.0f %%, %3d pauses; %s\n", name,
        after["threads.private_mode"], after["threads.public_mode"], 100 * rise("local.freed") / allocated,
        100 * rise("publication.published") / allocated, rise("global.collections") + rise("young.collections"), reasons
    }' warm info
}

# wait_for WHAT: until the service has printed that.
wait_for() {
  until grep -q "^$1" service.out 2> /dev/null; do
    kill -0 "$service" 2> /dev/null || die "$name: the service has ended" "$(tail -n 3 "$name.err")"
    sleep 0.2
  done
}

# look NAME DEBUGGER FLAGS: starts the service, waits until it has served, asks it, and ends it.
look() {
  local name=$1 action=$2 service input debugger='' port flags tries
  read -ra flags <<< "${LULL_TEST_FLAGS:-} $3"
  rm -f info service.out debugger.out pipe
  mkfifo pipe
  cleanly "$jdk/bin/java" -XX:+UseLullGC -Xmx128m -Xlog:gc*:file="$name.log" "${flags[@]}" -cp . Service < pipe > service.out 2> "$name.err" &
  service=$!
  exec {input}> pipe
  if [[ $action == attach || $action == locals ]]; then
    wait_for 'Listening for transport'
    port=$(sed -n 's/^Listening for transport .*: //p' service.out)
    cleanly "$jdk/bin/java" -Dline="$(grep -n 'int length = 0;' "$sources/Service.java" | cut -d: -f1)" -cp . Debugger "$port" "$action" \
      < <(exec sleep 60) > debugger.out 2>&1 &
    debugger=$!
    until grep -q attached debugger.out 2> /dev/null; do
      kill -0 "$debugger" 2> /dev/null || die "$name: the debugger fails" "$(cat debugger.out)"
      sleep 0.2
    done
  fi
  wait_for warm
  ask warm
  wait_for served
  # While all threads are on trial none says what it would do.
  for ((tries = 0; tries < 60; tries++)); do
    ask info
    grep -q '^publication.tracking: .*on trial' info || break
    sleep 2
  done
  cp info "$name.info"
  if [[ -n $debugger ]]; then kill "$debugger" 2> /dev/null || true; wait "$debugger" 2> /dev/null || true; fi
  exec {input}>&-
  wait "$service" || die "$name: the service fails" "$(tail -n 5 "$name.err")"
  tell "$name"
}

fetch
echo "lowercaseOutputName: true" > exporter.yaml
for line in "${lines[@]}"; do
  IFS='|' read -r name action flags <<< "$line"
  if [[ -z ${LULL_TEST_AGENTS:-} || " $LULL_TEST_AGENTS " == *" $name "* ]]; then look "$name" "$action" "$flags"; fi
done
