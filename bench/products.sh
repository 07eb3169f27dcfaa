#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Server products and compilers as they come. Each server is started by its own script with Lull, serves a light load,
# is watched by jcmd (Lull.info, a recording, a class histogram, a heap dump), and is stopped by its own script. Each
# compiler compiles with Lull and on the stock JDK to the same classes. Prints one table. Exit code 0 if each has
# started, answered right and stopped cleanly. Needs curl and Maven; Maven gets 750 MB of archives, once.
#
# Settings, all optional:
#   PRODUCTS="wiremock tomcat jetty artemis wildfly payara keycloak ecj kotlin scala groovy"
#   PRODUCTS_JAVA_HOME=FOLDER   default: build/jdk
#   PRODUCTS_FLAGS="..."        default: -XX:+UseLullGC -Xmx256m
#   PRODUCTS_REQUESTS=3000      how many requests, or a tenth of it messages, tokens or source files
#   PRODUCTS_PORT=18600         the first of two ports
#   PRODUCTS_WAIT=180           seconds until a product that has not started or stopped has failed
#   LULL_BASE_JDK               runs Maven, and the compiler that ECJ's classes are compared with: as for demo.sh

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"
find_base_jdk
known='wiremock tomcat jetty artemis wildfly payara keycloak ecj kotlin scala groovy'
PRODUCTS=${PRODUCTS:-$known}
PRODUCTS_JAVA_HOME=${PRODUCTS_JAVA_HOME:-$LULL_BUILD/jdk}
PRODUCTS_FLAGS=${PRODUCTS_FLAGS:--XX:+UseLullGC -Xmx256m}
PRODUCTS_REQUESTS=${PRODUCTS_REQUESTS:-3000}
PRODUCTS_PORT=${PRODUCTS_PORT:-18600}
PRODUCTS_WAIT=${PRODUCTS_WAIT:-180}
for tool in java jcmd jfr; do
  [ -x "$PRODUCTS_JAVA_HOME/bin/$tool" ] ||
    die "PRODUCTS_JAVA_HOME is '$PRODUCTS_JAVA_HOME', which has no bin/$tool: run 'make jdk', or name a JDK"
done
command -v curl > /dev/null || die "there is no curl: install it"
archives=$LULL_BUILD/products/archives
work=$LULL_BUILD/products/run
export JAVA_HOME=$PRODUCTS_JAVA_HOME
# shellcheck source=bench/products/products.sh
. "$BENCH/products/products.sh"
# shellcheck source=bench/products/compilers.sh
. "$BENCH/products/compilers.sh"

fetch() {
  need_maven
  mkdir -p "$archives"
  if ! (cd "$archives" && sha256sum --quiet -c "$BENCH/products/SHA256SUMS" 2> /dev/null); then
    JAVA_HOME=$LULL_BASE_JDK mvn -q -B -f "$BENCH/products/pom.xml" dependency:copy-dependencies \
      -DoutputDirectory="$archives" > "$archives/maven.log" 2>&1 ||
      die "Maven could not get the archives: $archives/maven.log"
    (cd "$archives" && sha256sum --quiet -c "$BENCH/products/SHA256SUMS") ||
      die "an archive in $archives is not the one that bench/products/SHA256SUMS names: remove it and try again"
  fi
}

# until_true SECONDS COMMAND...: waits until the command succeeds.
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@" > /dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.5
  done
}

gone() { ! kill -0 "$1" 2> /dev/null; }
jcmd() { "$PRODUCTS_JAVA_HOME/bin/jcmd" "$@"; }

# Watches process $1, which has served, from the folder of the product: writes info, histogram, r.jfr, heap.hprof.
# Prints what did not work, a word each.
watch() {
  jcmd "$1" Lull.info > info 2>&1 && grep -q '^heap.used: ' info || echo info
  jcmd "$1" GC.class_histogram > histogram 2>&1 && grep -q '^Total ' histogram || echo histogram
  jcmd "$1" JFR.dump name=products filename="$PWD/r.jfr" > jfr.out 2>&1 &&
    "$PRODUCTS_JAVA_HOME/bin/jfr" summary r.jfr > events 2>&1 || echo recording
  jcmd "$1" GC.heap_dump "$PWD/heap.hprof" > dump.out 2>&1 && [ "$(head -c 18 heap.hprof)" = 'JAVA PROFILE 1.0.2' ] ||
    echo heap-dump
}

key() { sed -n "s/^$1: //p" info; }

# What the table says of privacy: whether objects are tracked, and the modes of threads, with the first reasons.
privacy() {
  local reasons
  reasons=$(sed -n 's/^threads.public_mode.reason: //p' info | sort -rn | head -3 | sed 's/,//' | paste -sd';' |
    sed 's/;/; /g')
  echo "$(key publication.tracking); $(key publication.share) published; $(key threads.private_mode) threads private," \
    "$(key threads.public_mode) not${reasons:+: $reasons}"
}

# Runs product $1 in its folder; prints its row of the table. Returns 1 if anything was wrong.
run_server() {
  local name=$1 pid wrong rss failed errors cause stopped=yes
  "${name}_prepare"
  "${name}_start" > start.out 2>&1
  until_true "$PRODUCTS_WAIT" "${name}_ready" ||
    { "${name}_stop" > stop.out 2>&1 || true; echo "| $name | no: $PWD/start.out | | | | | | |"; return 1; }
  pid=$("${name}_pid")
  jcmd "$pid" JFR.start name=products settings=profile > jfr.start 2>&1 || true
  wrong=$("${name}_load")
  rss=$(awk '/^VmRSS/ { print int($2 / 1024) }' "/proc/$pid/status")
  failed=$(watch "$pid" | paste -sd' ')
  "${name}_stop" > stop.out 2>&1 || true
  until_true "$PRODUCTS_WAIT" gone "$pid" || { stopped=no; kill -9 "$pid"; }
  errors=$(cat ./*.out logs/* broker/log/* data/log/* 2> /dev/null | grep -cE 'SEVERE|ERROR|Exception|Multiple garbage' || true)
  cause=$(key global.last.cause)
  find . -name 'hs_err*' | grep -q . && stopped="crashed: $PWD"
  echo "| $name | yes | $errors | $wrong | ${failed:+not: }${failed:-work} | $stopped | $rss MB |" \
    "$(key young.collections) young, $(key global.collections) global${cause:+, last: $cause}; $(key marking.cycles) cycles | $(privacy) |"
  [ "$wrong" = 0 ] && [ -z "$failed" ] && [ "$stopped" = yes ]
}

fetch
bad=0
echo '| product | started | lines of errors | answers wrong | jcmd, JFR, dump | stopped | RSS | collections | privacy |'
echo '|---|---|---|---|---|---|---|---|---|'
for name in $PRODUCTS; do
  run=run_server
  if declare -F "${name}_run" > /dev/null; then
    run=${name}_run
  elif ! declare -F "${name}_prepare" > /dev/null; then
    die "PRODUCTS has '$name': known are $known"
  fi
  rm -rf "${work:?}/$name"
  mkdir -p "$work/$name"
  (cd "$work/$name" && "$run" "$name") || bad=1
done
exit "$bad"
