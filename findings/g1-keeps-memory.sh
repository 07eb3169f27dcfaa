#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# How much of its heap G1 gives back by System.gc(), after a program has dropped 300 MB of 512 and 1 MB is alive: a
# stock JDK 25.0.3, and a stock JDK 27.0.1 (Debian's, as bench/jdk27.sh makes it).
#
#   guessed   both give back nine tenths, and JDK 27 goes below -XX:SoftMaxHeapSize=64m where that is said
#   seen      share of the peak that is given back by four calls
#             JDK 25                                       98
#             JDK 27                                        0
#             JDK 27, -XX:SoftMaxHeapSize=64m               0
#             JDK 27, -XX:MaxHeapFreeRatio=70              98
#             With G1, JDK 27 takes 0 and 100 for MinHeapFreeRatio and MaxHeapFreeRatio, which were 40 and 70: any
#             share may stay free. A full collection resizes the heap by these alone. With Serial they are 40 and 70
#             still. So System.gc(), by which an idle program returned its memory, returns nothing unless the flag is
#             named. Collections of young objects do shrink the heap now, but an idle program has none
#
# Needs a JDK 25 (JAVA_HOME) and a JDK 27 (JAVA_HOME_27). Fails if what was seen has changed.
set -euo pipefail
java25=${JAVA_HOME:?a JDK 25}/bin/java
java27=${JAVA_HOME_27:?a JDK 27}/bin/java
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > Drop.java <<'JAVA'
import java.lang.management.ManagementFactory;

public class Drop {
    static Object[] alive;

    static long committed() {
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted();
    }

    /** Prints which share of the committed heap, in per cent, has been given back. */
    public static void main(String[] args) throws Exception {
        alive = new Object[300_000];
        for (int i = 0; i < alive.length; i++) {
            alive[i] = new byte[1000];
        }
        long peak = committed();
        alive = null;
        for (int i = 0; i < 4; i++) {
            System.gc();
        }
        System.out.println(100 * (peak - committed()) / peak);
    }
}
JAVA
"$JAVA_HOME/bin/javac" Drop.java
bad=0
# the least and the largest share, the JVM, and flags
check() {
  local least=$1 most=$2 java=$3 got
  shift 3
  got=$("$java" -XX:+UseG1GC -Xms8m -Xmx512m "$@" -cp . Drop)
  printf '%-50s %4s %% given back\n' "$("$java" --version | head -n 1 | cut -d' ' -f1,2) $*" "$got"
  [ "$got" -ge "$least" ] && [ "$got" -le "$most" ] || bad=1
}
# the value of a flag, with the flags of the JVM
value() { "$1" "${@:3}" -XX:+PrintFlagsFinal -version 2> errors | awk -v name="$2" '$2 == name { print $4 }'; }
check 80 100 "$java25"
check 0 10 "$java27"
check 0 10 "$java27" -XX:SoftMaxHeapSize=64m
check 80 100 "$java27" -XX:MaxHeapFreeRatio=70
ratios="$(value "$java25" MaxHeapFreeRatio -XX:+UseG1GC) $(value "$java27" MaxHeapFreeRatio -XX:+UseG1GC)"
ratios+=" $(value "$java27" MaxHeapFreeRatio -XX:+UseSerialGC)"
echo "MaxHeapFreeRatio of G1 in JDK 25, of G1 and Serial in JDK 27: $ratios"
[ "$ratios" = '70 100 70' ] || bad=1
[ "$bad" = 0 ] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
