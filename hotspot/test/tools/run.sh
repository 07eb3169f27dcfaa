#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# run.sh: what do tools that others have written say of Lull, and is it so? Each tool's own classes, from its own jars,
# pinned in pom.xml or here, look at the same program (Load.java), in which many threads collect and two pauses are asked for.
# For each collector it prints the tool's lines, "tool ...", and the truth, "true ...". Judging is left to the reader:
# docs/reference/tools.md.
#
#   LULL_TEST_JDK     the JDK                                   (default: build/jdk)
#   LULL_TEST_TOOLS   names of tools, between spaces            (default: all folders here)
#   LULL_TEST_FLAGS   collectors to run with, between spaces    (default: -XX:+UseLullGC -XX:+UseG1GC)
#
# Downloads up to 450 MB, once, to build/tools. Needs Maven; for VisualVM, which is not in Maven Central, Debian's apt-get.

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

sources=$ROOT/hotspot/test/tools
compile_programs tools jdk "$sources/Load.java"
read -ra collectors <<< "${LULL_TEST_FLAGS:--XX:+UseLullGC -XX:+UseG1GC}"
cd "$work"

# VisualVM's modules, and those of NetBeans that they stand on.
visualvm_packages=(visualvm=2.1.5-1 libnb-platform18-java=12.1-2 libnb-org-openide-modules-java=12.1-2 libnb-org-openide-util-java=12.1-2
  libnb-org-openide-util-lookup-java=12.1-2)

fetch_packages() {   # DIRECTORY PACKAGE=VERSION...: their jars
  local jars=$1 file
  shift
  if ! have apt-get || ! have dpkg-deb; then die "VisualVM is taken from Debian's packages, and there is no apt-get here"; fi
  mkdir -p packages/root "$jars"
  (cd packages && apt-get -q download "$@" > download.log 2>&1) || die "these packages are not to be had: $*" "$(grep -m 3 '^E:' packages/download.log)"
  for file in packages/*.deb; do dpkg-deb -x "$file" packages/root; done
  # The one for JavaFX names a file by a path that is none.
  find -L packages/root -type f -name '*.jar' ! -name '*javafx*' -exec cp -L {} "$jars" \;
  rm -rf packages
}

fetch() {   # TOOL
  local jars=$BUILD/tools/$1
  if [[ -e $jars/done && ! $sources/pom.xml -nt $jars/done ]]; then return; fi
  rm -rf "$jars"
  if [[ $1 == visualvm ]]; then
    fetch_packages "$jars" "${visualvm_packages[@]}"
    touch "$jars/done"
    return
  fi
  JAVA_HOME=$(boot_jdk) mvn -q -B -f "$sources/pom.xml" -P "$1" dependency:copy-dependencies -DincludeScope=runtime \
    -DoutputDirectory="$jars" > "maven-$1.log" 2>&1 || die "the jars of $1 are not to be had" "$(grep -m 3 ERROR "maven-$1.log")"
  touch "$jars/done"
}

# flags_of TOOL: a line for each run of it.
flags_of() {
  local jars=$BUILD/tools/$1
  case $1 in
    async-profiler)
      unzip -q -o -j "$jars"/async-profiler-*.jar linux-x64/libasyncProfiler.so -d "$jars"
      printf '%s\n' "-Dlibrary=$jars/libasyncProfiler.so" "-Dlibrary=$jars/libasyncProfiler.so -Dlive=true" ;;
    jol) printf '%s\n' "-Djol.magicFieldOffset=true --sun-misc-unsafe-memory-access=allow" ;;
    spark)
      local opens="--add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED --add-opens=java.base/java.lang.invoke=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow"
      printf '%s\n' "$opens" "$opens -Dspark.settings=spark.eventLog.gcMetrics.youngGenerationGarbageCollectors=Lull\ Young;spark.eventLog.gcMetrics.oldGenerationGarbageCollectors=Lull\ Global" ;;
    opentelemetry)
      # By default, with metrics of the flight recorder, and with these where both beans and recorder have one.
      local agent="-javaagent:$jars/opentelemetry-javaagent-2.33.1.jar -Dotel.traces.exporter=none -Dotel.logs.exporter=none -Dotel.metrics.exporter=console -Dotel.metric.export.interval=2000"
      local settings=otel.instrumentation.runtime-telemetry
      printf '%s\n' "$agent" "$agent -D$settings.emit-experimental-jfr-metrics=true" "$agent -D$settings.experimental.prefer-jfr=true" ;;
    visualvm) printf '%s\n' "-Djava.awt.headless=true --add-exports=jdk.internal.jvmstat/sun.jvmstat.monitor=ALL-UNNAMED --add-exports=jdk.internal.jvmstat/sun.jvmstat.monitor.event=ALL-UNNAMED" ;;
    cassandra) printf '%s\n' "--add-opens=java.base/java.nio=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow" ;;
    *) printf '\n' ;;
  esac
}

# Of the agent's metrics, one a line, those of the heap and of collections, as they were last.
agent_metrics() {
  awk 'match($0, / name=jvm[.](gc|memory)[^,]*/) {
    name = substr($0, RSTART + 6, RLENGTH - 6)
    n = split($0, points, /PointData[{]/)
    for (i = 2; i <= n; i++) {
      if (points[i] ~ /"non_heap"/) continue
      match(points[i], /ttributes=[{][^}]*[}]/)
      line = name " " substr(points[i], RSTART + 10, RLENGTH - 10)
      match(points[i], /(value|getSum)=[^,}]*(, getCount=[^,}]*)?/)
      last[line] = substr(points[i], RSTART, RLENGTH)
    }
  }
  END { for (line in last) print "tool " line " " last[line] }' "$1" | sort
}

class_of() { sed -E 's/(^|-)(.)/\U\2/g' <<< "$1"; }

look() {   # TOOL
  local line collector flags
  fetch "$1"
  mkdir "$1"
  mapfile -t files < <(find "$sources/$1" -name '*.java')
  cleanly "$jdk/bin/javac" -nowarn -cp "$work:$BUILD/tools/$1/*" -d "$1" "${files[@]}" 2> "$1/javac.log" || die "$1 does not compile" "$(cat "$1/javac.log")"
  while read -r line; do
    for collector in "${collectors[@]}"; do
      flags=()
      while read -r flag; do if [[ -n $flag ]]; then flags+=("$flag"); fi; done < <(xargs -n 1 printf '%s\n' <<< "$line")
      say "==> $1, $collector"
      cleanly "$jdk/bin/java" "$collector" -Xmx128m "${flags[@]}" -cp "$1:.:$BUILD/tools/$1/*" Load "$(class_of "$1")Tool" > "$1/out" 2> "$1/err" ||
        die "$1 fails with $collector" "$(tail -n 5 "$1/err")" "$(tail -n 3 "$1/out")"
      grep '^tool ' "$1/out" || true
      if [[ $1 == opentelemetry ]]; then agent_metrics "$1/err"; fi
      grep '^true ' "$1/out" || true
      grep -E 'pause of approximately|GC pool|No GCs|To enable non-built-in' "$1/err" | tail -n 12 | cut -c 1-900 || true
    done
  done < <(flags_of "$1")
}

read -ra tools <<< "${LULL_TEST_TOOLS:-infinispan hazelcast elasticsearch cassandra spark hadoop actuator opentelemetry visualvm async-profiler jol}"
for tool in "${tools[@]}"; do
  [[ -d $sources/$tool ]] || die "there is no tool '$tool'" "there are: $(cd "$sources" && printf '%s ' */)"
  look "$tool"
done
