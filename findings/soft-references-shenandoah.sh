#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# A thousand soft references, each read just before System.gc(), with each collector of a stock JDK 25.0.3. Of a heap
# of 300 MB hardly any is in use, and -XX:SoftRefLRUPolicyMSPerMB has its default of 1000: a reference may be idle for
# minutes.
#
#   guessed   none is cleared, with any collector
#   seen      Serial, Parallel, G1 and ZGC clear none. Shenandoah clears all thousand, with one generation or two. Its
#             source says so: a cycle that is asked for takes them all. One System.gc() empties each cache of theirs
#
# Needs a JDK 25 with Shenandoah (JAVA_HOME). Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > Soft.java <<'JAVA'
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.List;

public class Soft {
    /** Prints how many of a thousand are cleared. */
    public static void main(String[] args) {
        List<SoftReference<Object>> references = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            references.add(new SoftReference<>(new Object()));
        }
        System.gc();
        System.out.print(references.stream().filter(r -> r.get() == null).count());
        references.replaceAll(r -> new SoftReference<>(new Object()));
        references.forEach(SoftReference::get);
        System.gc();
        System.out.println(" " + references.stream().filter(r -> r.refersTo(null)).count());
    }
}
JAVA
"$java/javac" Soft.java
bad=0
check() {
  local expected=$1 got
  shift
  got=$("$java/java" -Xmx300m "$@" -cp . Soft)
  printf '%-64s cleared by the first and the second: %s\n' "$*" "$got"
  [ "$got" = "$expected" ] || bad=1
}
check '0 0' -XX:+UseSerialGC
check '0 0' -XX:+UseParallelGC
check '0 0' -XX:+UseG1GC
check '0 0' -XX:+UseZGC
check '1000 1000' -XX:+UseShenandoahGC
check '1000 1000' -XX:+UseShenandoahGC -XX:ShenandoahGCMode=generational
[ "$bad" = 0 ] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
