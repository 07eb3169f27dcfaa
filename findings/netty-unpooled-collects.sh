#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Netty's unpooled direct buffers on a stock JDK 25.0.3, with -XX:MaxDirectMemorySize=64m: io.netty:netty-buffer
# 4.1.137 and 4.2.18. A thousand times one buffer of 1 MB is taken and released at once, so 1 MB is in use.
#
#   guessed   release() frees the memory at once, with each version and each flag
#   seen      Netty 4.1: no collection. Netty 4.2: release() leaves the memory to the collector, which the JDK then
#             calls itself: 15 times System.gc(), with everything stopped, in a program that has no garbage to speak
#             of. The allocator that 4.2 takes by default frees at once, and so does 4.2 with
#             --enable-native-access=ALL-UNNAMED or with Unsafe allowed
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for version in 4.1.137.Final 4.2.18.Final; do
  cat > pom.xml <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>unpooled</artifactId><version>1</version><dependencies><dependency>
<groupId>io.netty</groupId><artifactId>netty-buffer</artifactId><version>$version</version>
</dependency></dependencies></project>
POM
  mvn -q -B dependency:copy-dependencies -DoutputDirectory="${version%.*.Final}"
done
cat > Release.java <<'JAVA'
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;

public class Release {
    public static void main(String[] args) {
        for (int i = 0; i < 1000; i++) {
            ByteBuf buffer = args[0].equals("unpooled") ? Unpooled.directBuffer(1 << 20)
                : ByteBufAllocator.DEFAULT.directBuffer(1 << 20);
            buffer.writeZero(1000).release();
        }
    }
}
JAVA
"$java/javac" -cp '4.2/*' Release.java
bad=0
# the least and the largest number of System.gc(), the library's version, the kind of buffer, and flags of the JVM
check() {
  local least=$1 most=$2 version=$3 kind=$4 got
  shift 4
  "$java/java" "$@" -Xlog:gc:file=gc.txt -Xmx256m -XX:MaxDirectMemorySize=64m -cp "$version/*:." Release \
    "$kind" 2> errors || { cat errors; exit 1; }
  got=$(grep -c 'Pause Full (System.gc())' gc.txt || true)
  printf '%-62s System.gc() %3s times\n' "$version $kind $*" "$got"
  [ "$got" -ge "$least" ] && [ "$got" -le "$most" ] || bad=1
}
check 0 0 4.1 unpooled
check 8 40 4.2 unpooled
check 0 0 4.2 default
check 0 0 4.2 unpooled --enable-native-access=ALL-UNNAMED
check 0 0 4.2 unpooled --sun-misc-unsafe-memory-access=allow
[ "$bad" = 0 ] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
