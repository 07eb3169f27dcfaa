#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Native memory that is taken by java.lang.foreign.Arena of a stock JDK 25.0.3, with -XX:MaxDirectMemorySize=128m: 200
# MB in two pieces by each kind of arena. What the platform's BufferPoolMXBean `direct` says after the first.
#
#   guessed   the bean counts each, as it counts direct buffers, and the second piece ends with an OutOfMemoryError
#   seen      Arena.ofAuto: so it is. Arena.ofShared, ofConfined and global: the bean says 0, and no limit holds. So
#             the kind of arena decides whether its memory is seen and bounded
#
# Needs a JDK 25 (JAVA_HOME). Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > Taken.java <<'JAVA'
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;

public class Taken {
    public static void main(String[] args) {
        Arena arena = switch (args[0]) {
            case "ofAuto" -> Arena.ofAuto();
            case "ofShared" -> Arena.ofShared();
            case "ofConfined" -> Arena.ofConfined();
            default -> Arena.global();
        };
        MemorySegment first = arena.allocate(100 << 20);
        long bean = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(p -> p.getName().equals("direct")).mapToLong(BufferPoolMXBean::getMemoryUsed).sum();
        String second;
        try {
            second = "has " + (arena.allocate(100 << 20).byteSize() >> 20);
        } catch (OutOfMemoryError e) {
            second = "OutOfMemoryError";
        }
        System.out.println("bean " + (bean >> 20) + " of " + (first.byteSize() >> 20) + ", second " + second);
    }
}
JAVA
"$java/javac" Taken.java
bad=0
check() {
  local got
  got=$("$java/java" -Xmx256m -XX:MaxDirectMemorySize=128m -cp . Taken "$1")
  printf '%-12s %s\n' "$1" "$got"
  [ "$got" = "bean $2" ] || bad=1
}
check ofAuto '100 of 100, second OutOfMemoryError'
check ofShared '0 of 100, second has 100'
check ofConfined '0 of 100, second has 100'
check global '0 of 100, second has 100'
[ "$bad" = 0 ] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
