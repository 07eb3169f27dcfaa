#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Who sees 100 MB of Netty's direct buffers on a stock JDK 25.0.3: io.netty:netty-buffer 4.1.137 and 4.2.18, with
# their default allocators.
#
#   guessed   as ever: Netty 4.2 takes memory by Unsafe; PlatformDependent.usedDirectMemory() and native memory
#             tracking see it, the platform's BufferPoolMXBean `direct` does not. Flags for access to native code do
#             not matter to that
#   seen      MB                          BufferPoolMXBean   PlatformDependent   native memory tracking, `Other`
#             4.1                                      100                  -1                               100
#             4.2                                        0                 100                               100
#             4.2 and --enable-native-access             0                 100                                 0
#             4.2 and Unsafe allowed                   100                 100                               100
#             With --enable-native-access=ALL-UNNAMED, which warnings of the JDK ask for, Netty 4.2 calls the C library
#             itself: neither the JDK's bean nor its native memory tracking knows of the memory. Only Netty does
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
<groupId>findings</groupId><artifactId>direct</artifactId><version>1</version><dependencies><dependency>
<groupId>io.netty</groupId><artifactId>netty-buffer</artifactId><version>$version</version>
</dependency></dependencies></project>
POM
  mvn -q -B dependency:copy-dependencies -DoutputDirectory="${version%.*.Final}"
done
cat > Direct.java <<'JAVA'
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.internal.PlatformDependent;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.ObjectName;

public class Direct {
    public static void main(String[] args) throws Exception {
        List<ByteBuf> buffers = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            buffers.add(ByteBufAllocator.DEFAULT.directBuffer(1 << 20).writeZero(1 << 20));
        }
        long bean = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(p -> p.getName().equals("direct")).mapToLong(BufferPoolMXBean::getMemoryUsed).sum();
        long netty = PlatformDependent.usedDirectMemory();
        String summary = (String) ManagementFactory.getPlatformMBeanServer().invoke(
            new ObjectName("com.sun.management:type=DiagnosticCommand"), "vmNativeMemory",
            new Object[] {new String[] {"summary", "scale=KB"}}, new String[] {String[].class.getName()});
        String other = summary.lines().filter(l -> l.contains("Other (")).findFirst().get()
            .replaceAll(".*committed=([0-9]+)KB.*", "$1");
        System.out.println((bean >> 20) + " " + (netty < 0 ? netty : netty >> 20) + " "
            + (Long.parseLong(other) >> 10));
        buffers.forEach(ByteBuf::release);
    }
}
JAVA
"$java/javac" -cp '4.2/*' Direct.java
bad=0
printf '%-52s %10s %10s %10s\n' MB bean netty tracked
# the library's version, what is expected, and flags of the JVM
check() {
  local version=$1 expected=$2 got
  shift 2
  got=$("$java/java" "$@" -XX:NativeMemoryTracking=summary -Xmx256m -cp "$version/*:." Direct 2> errors) ||
    { cat errors; exit 1; }
  # shellcheck disable=SC2086
  printf '%-52s %10s %10s %10s\n' "$version $*" $got
  [ "$got" = "$expected" ] || bad=1
}
check 4.1 '100 -1 100'
check 4.2 '0 100 100'
check 4.2 '0 100 0' --enable-native-access=ALL-UNNAMED
check 4.2 '100 100 100' --sun-misc-unsafe-memory-access=allow
[ "$bad" = 0 ] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
