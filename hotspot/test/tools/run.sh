#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# run.sh: what do tools that others have written say of Lull, and is it so? Each tool's own classes, from its own jars,
# pinned in pom.xml, look at the same program (Load.java), in which many threads collect and two pauses are asked for.
# For each collector it prints the tool's lines, "tool ...", and the truth, "true ...". Judging is left to the reader:
# docs/reference/tools.md.
#
#   LULL_TEST_JDK     the JDK                                   (default: build/jdk)
#   LULL_TEST_TOOLS   names of tools, between spaces            (default: all folders here)
#   LULL_TEST_FLAGS   collectors to run with, between spaces    (default: -XX:+UseLullGC -XX:+UseG1GC)
#
# Downloads up to 450 MB, once, to build/tools. Needs Maven.

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

sources=$ROOT/hotspot/test/tools
compile_programs tools jdk "$sources/Load.java"
read -ra collectors <<< "${LULL_TEST_FLAGS:--XX:+UseLullGC -XX:+UseG1GC}"
cd "$work"

fetch() {   # TOOL
  local jars=$BUILD/tools/$1
  if [[ -e $jars/done && ! $sources/pom.xml -nt $jars/done ]]; then return; fi
  rm -rf "$jars"
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
    cassandra) printf '%s\n' "--add-opens=java.base/java.nio=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow" ;;
    *) printf '\n' ;;
  esac
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
      grep -E '^(tool|true) ' "$1/out" || true
      grep -E 'pause of approximately|GC pool|No GCs|To enable non-built-in' "$1/err" | tail -n 12 | cut -c 1-900 || true
    done
  done < <(flags_of "$1")
}

read -ra tools <<< "${LULL_TEST_TOOLS:-infinispan hazelcast elasticsearch cassandra spark hadoop actuator async-profiler jol}"
for tool in "${tools[@]}"; do
  [[ -d $sources/$tool ]] || die "there is no tool '$tool'" "there are: $(cd "$sources" && printf '%s ' */)"
  look "$tool"
done
