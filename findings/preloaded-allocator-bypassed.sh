#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Whose memory it is when an allocator is preloaded: LD_PRELOAD of jemalloc (Debian's libjemalloc2, 5.3.0), a stock JDK
# 25.0.3, io.netty:netty-buffer 4.2.18 and 4.1.137. 100 MB each by direct buffers, by an Arena, by `malloc` of
# Linker.defaultLookup(), and by Netty's unpooled direct buffers. What jemalloc says that it has allocated then.
#
#   guessed   all of it is jemalloc's: that is why it was preloaded
#   seen      direct buffers and arenas are. `malloc` of the default lookup is the C library's, whatever is preloaded,
#             and so is all that Netty 4.2 takes with --enable-native-access, which the JDK's warnings ask for. Without
#             that flag, and with Netty 4.1, it is jemalloc's. So a flag that silences a warning moves a service's
#             largest native memory back to the allocator that it was to be kept from
#
# Needs a JDK 25 (JAVA_HOME), Maven, and apt of Debian. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download libjemalloc2 > apt.log 2>&1
dpkg -x libjemalloc2_5.3.0-*.deb .
jemalloc=$(echo "$work"/usr/lib/*/libjemalloc.so.2)
cat > Preloaded.java <<'JAVA'
import io.netty.buffer.UnpooledByteBufAllocator;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;

public class Preloaded {
    static final Object[] KEPT = new Object[100];

    public static void main(String[] args) throws Throwable {
        MethodHandle malloc = args[0].equals("lookup") ? Linker.nativeLinker().downcallHandle(
                Linker.nativeLinker().defaultLookup().find("malloc").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG)) : null;
        for (int i = 0; i < KEPT.length; i++) {
            KEPT[i] = switch (args[0]) {
                case "direct" -> ByteBuffer.allocateDirect(1 << 20);
                case "arena" -> Arena.global().allocate(1 << 20);
                case "lookup" -> (MemorySegment) malloc.invokeExact(1L << 20);
                case "netty" -> UnpooledByteBufAllocator.DEFAULT.directBuffer(1 << 20);
                default -> null;
            };
        }
    }
}
JAVA
for version in 4.1.137.Final 4.2.18.Final; do
  cat > pom.xml <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>preloaded</artifactId><version>1</version><dependencies><dependency>
<groupId>io.netty</groupId><artifactId>netty-buffer</artifactId><version>$version</version>
</dependency></dependencies></project>
POM
  mvn -q -B dependency:copy-dependencies -DoutputDirectory="$version"
done
"$java/javac" -cp '4.2.18.Final/*' Preloaded.java
# Megabytes that jemalloc has at the JVM's end, by what it prints itself.
of_jemalloc() {
  MALLOC_CONF=stats_print:true,stats_print_opts:mdablxe LD_PRELOAD=$jemalloc \
    "$java/java" -Xmx128m "${@:2}" Preloaded "$1" 2>&1 |
    awk '/^Allocated: / { gsub(/[^0-9]/, "", $2); print int($2 / 1000000) }'
}
nothing=$(of_jemalloc nothing -cp '4.2.18.Final/*:.')
# seen NAME WHAT OPTION...
seen() {
  local megabytes=$(($(of_jemalloc "${@:2}") - nothing)) whose="both"
  if ((megabytes > 90)); then whose=jemalloc; elif ((megabytes < 20)); then whose="C library"; fi
  echo "$1: $whose"
}
{
  seen "direct buffers" direct -cp '4.2.18.Final/*:.'
  seen "arena" arena -cp '4.2.18.Final/*:.'
  seen "malloc by the default lookup" lookup -cp '4.2.18.Final/*:.' --enable-native-access=ALL-UNNAMED
  seen "Netty 4.1" netty -cp '4.1.137.Final/*:.' --enable-native-access=ALL-UNNAMED
  seen "Netty 4.2" netty -cp '4.2.18.Final/*:.'
  seen "Netty 4.2 with native access" netty -cp '4.2.18.Final/*:.' --enable-native-access=ALL-UNNAMED
} | tee seen
diff seen - << 'SEEN'
direct buffers: jemalloc
arena: jemalloc
malloc by the default lookup: C library
Netty 4.1: jemalloc
Netty 4.2: jemalloc
Netty 4.2 with native access: C library
SEEN
