#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Mission Control's rules (org.openjdk.jmc:flightrecorder.rules.jdk 9.1.2), used as a library on a recording of a stock JDK 25.
#
#   guessed   each rule that RuleRegistry names can be evaluated by itself: IRule.createEvaluation, then run
#   seen      5 of 68 (FileForce, GcPauseTargetRule, GcStall, SystemGc, HeapInspectionGc) end with a NullPointerException;
#             evaluated together by RulesToolkit.evaluateParallel none does
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>rules</artifactId><version>1</version><dependencies><dependency>
<groupId>org.openjdk.jmc</groupId><artifactId>flightrecorder.rules.jdk</artifactId><version>9.1.2</version>
</dependency></dependencies></project>
POM
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib
cat > Garbage.java <<'JAVA'
public class Garbage {
    static volatile Object last;
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 3_000_000; i++) {
            last = new byte[1000];
        }
        Thread.sleep(1000);
    }
}
JAVA
cat > Rules.java <<'JAVA'
import java.io.File;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.RunnableFuture;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.util.IPreferenceValueProvider;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;
import org.openjdk.jmc.flightrecorder.rules.IResult;
import org.openjdk.jmc.flightrecorder.rules.IRule;
import org.openjdk.jmc.flightrecorder.rules.ResultProvider;
import org.openjdk.jmc.flightrecorder.rules.RuleRegistry;
import org.openjdk.jmc.flightrecorder.rules.util.RulesToolkit;

public class Rules {
    static boolean isNull(Throwable t) {
        for (; t != null; t = t.getCause()) {
            if (t instanceof NullPointerException) {
                return true;
            }
        }
        return false;
    }

    public static void main(String[] args) throws Exception {
        IItemCollection items = JfrLoaderToolkit.loadEvents(new File(args[0]));
        int alone = 0;
        for (IRule rule : RuleRegistry.getRules()) {
            try {
                RunnableFuture<IResult> result =
                    rule.createEvaluation(items, IPreferenceValueProvider.DEFAULT_VALUES, new ResultProvider());
                result.run();
                result.get();
            } catch (Exception e) {
                if (isNull(e)) {
                    alone++;
                    System.out.println("alone: " + rule.getId());
                }
            }
        }
        int together = 0;
        Map<IRule, Future<IResult>> all = RulesToolkit.evaluateParallel(RuleRegistry.getRules(), items, null, 1);
        for (Future<IResult> result : all.values()) {
            try {
                result.get();
            } catch (Exception e) {
                together++;
            }
        }
        System.out.println(alone + " rules fail alone, " + together + " together, of " + all.size());
        System.exit(alone == 5 && together == 0 ? 0 : 1);
    }
}
JAVA
"$java/javac" -cp 'lib/*' -d classes ./*.java
"$java/java" -XX:+UseSerialGC -Xmx64m -XX:StartFlightRecording:filename=rec.jfr,settings=profile -Xlog:disable -cp classes Garbage > /dev/null
"$java/java" -cp 'classes:lib/*' Rules rec.jfr || { echo "what was seen has changed" >&2; exit 1; }
