# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Sourced by ../products.sh: compilers, which end by themselves. Each compiles the same kind of sources with Lull and on
# the stock JDK; the classes are to be the same. While it runs, jcmd asks for Lull.info; a recording is made at its end.
# NAME_source I NEXT prints one source, NAME_compiler OUT prints what follows `java` and its flags, a line each.

# Runs NAME's compiler with Lull, in the background of this shell; leaves info, and peak, the resident MB at most.
compile_watched() {
  local pid
  # shellcheck disable=SC2046
  "$JAVA_HOME/bin/java" $(our_flags) -Xlog:gc:file=gc.log -XX:StartFlightRecording=filename=r.jfr,settings=profile \
    "${command[@]}" > compiler.out 2>&1 &
  pid=$!
  peak=0
  while ! gone "$pid"; do
    peak=$(awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$pid/status" 2> /dev/null || true)
    [ -z "$peak" ] || echo "$peak" > peak
    if jcmd "$pid" Lull.info > info.new 2>&1 && grep -q '^heap.used: ' info.new; then mv info.new info; fi
    sleep 0.5
  done
  wait "$pid"
}

compiler_run() {
  local name=$1 n=$((PRODUCTS_REQUESTS / 10)) i wrong used errors failed='' started=yes command peak
  mkdir -p src
  touch info
  for i in $(seq 1 "$n"); do "${name}_source" "$i" $((i % n + 1)) > "src/C$i.$("${name}_suffix")"; done
  mkdir -p ours stock
  mapfile -t command < <("${name}_compiler" ours)
  compile_watched || started=no
  mapfile -t command < <("${name}_compiler" stock)
  "$LULL_BASE_JDK/bin/java" "${command[@]}" > stock.out 2>&1 || true
  wrong=$({ diff -rq ours stock || true; } | grep -c . || true)
  errors=$(grep -cE 'ERROR|error:|Exception' compiler.out || true)
  used=$(find ours -name '*.class' | wc -l)
  [ -s info ] || failed=info
  "$PRODUCTS_JAVA_HOME/bin/jfr" summary r.jfr > events 2>&1 || failed="$failed recording"
  ! find . -name 'hs_err*' | grep -q . || started="crashed: $PWD"
  echo "| $name, $used classes | $started | $errors | $wrong | ${failed:+not: }${failed:-work} | ends by itself |" \
    "$(cat peak) MB at most | $(key young.collections) young, $(key global.collections) global; $(key marking.cycles)" \
    "cycles | $(privacy) |"
  [ "$started" = yes ] && [ "$wrong" = 0 ] && [ "$used" -gt "$n" ] && [ -z "$failed" ]
}

# jars_of PATTERN...: a class path of the archives of these names.
jars_of() {
  local pattern
  for pattern in "$@"; do printf '%s\n' "$archives"/$pattern; done | paste -sd:
}

ecj_run() { compiler_run ecj; }
ecj_suffix() { echo java; }
ecj_compiler() { printf '%s\n' -jar "$archives"/ecj-*.jar --release 21 -nowarn -d "$1" src; }
ecj_source() {
  cat <<JAVA
import java.util.*;
import java.util.function.*;
public class C$1<T extends Comparable<T>> {
    record Pair<A, B>(A a, B b) { }
    sealed interface Shape permits Circle, Square { }
    record Circle(double r) implements Shape { }
    record Square(double a) implements Shape { }
    static double area(Shape s) {
        return switch (s) { case Circle(double r) -> r * r * $1; case Square(double a) -> a * a; };
    }
    Map<String, List<Pair<T, Integer>>> all = new TreeMap<>();
    void add(T t) {
        all.computeIfAbsent(t.toString(), k -> new ArrayList<>()).add(new Pair<>(t, C$2.number()));
    }
    static int number() {
        Function<Integer, Integer> f = x -> x + $1;
        return f.andThen(y -> y * 2).apply($1);
    }
}
JAVA
}

kotlin_run() { compiler_run kotlin; }
kotlin_suffix() { echo kt; }
kotlin_compiler() {
  printf '%s\n' -cp "$(jars_of 'kotlin*.jar' 'annotations-*.jar')" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler \
    -no-stdlib -no-reflect -classpath "$(jars_of 'kotlin-stdlib-[0-9]*.jar')" -d "$1" src
}
kotlin_source() {
  cat <<KOTLIN
sealed interface Shape$1
data class Circle$1(val r: Double) : Shape$1
data class Square$1(val a: Double) : Shape$1
class C$1<T : Comparable<T>> {
    private val all = sortedMapOf<String, MutableList<Pair<T, Int>>>()
    fun add(t: T) { all.getOrPut(t.toString()) { mutableListOf() }.add(t to C$2<T>().number()) }
    fun number(): Int = listOf(1, 2, 3).map { it * $1 }.filter { it % 2 == 0 }.sumOf { it }
    fun area(s: Shape$1): Double = when (s) { is Circle$1 -> s.r * s.r * $1; is Square$1 -> s.a * s.a }
}
KOTLIN
}

scala_run() { compiler_run scala; }
scala_suffix() { echo scala; }
scala_compiler() {
  printf '%s\n' -cp "$(jars_of 'scala*.jar' 'tasty-core*.jar' '*-interface-*.jar' 'jline-*.jar')" \
    dotty.tools.dotc.Main -classpath "$(jars_of 'scala3-library*.jar' 'scala-library*.jar')" -d "$1" src/*.scala
}
scala_source() {
  cat <<SCALA
enum Shape$1:
  case Circle(r: Double)
  case Square(a: Double)
class C$1[T]:
  private val all = scala.collection.mutable.TreeMap.empty[String, List[(T, Int)]]
  def add(t: T): Unit = all.updateWith(t.toString)(old => Some((t, C$2.number) :: old.getOrElse(Nil)))
  def area(s: Shape$1): Double = s match
    case Shape$1.Circle(r) => r * r * $1
    case Shape$1.Square(a) => a * a
object C$1:
  def number: Int = (1 to 10).map(_ * $1).filter(_ % 2 == 0).sum
SCALA
}

groovy_run() { compiler_run groovy; }
groovy_suffix() { echo groovy; }
groovy_compiler() {
  printf '%s\n' -cp "$(jars_of 'groovy-[0-9]*.jar')" org.codehaus.groovy.tools.FileSystemCompiler -d "$1" \
    src/*.groovy
}
groovy_source() {
  cat <<GROOVY
import groovy.transform.*
@CompileStatic @Canonical class Circle$1 { double r }
@CompileStatic class C$1<T extends Comparable<T>> {
    final Map<String, List<T>> all = new TreeMap<>()
    void add(T t) { all.computeIfAbsent(t.toString()) { String k -> new ArrayList<T>() }.add(t) }
    static int number() { (1..10).collect { int x -> x * $1 }.findAll { int x -> x % 2 == 0 }.size() }
    double area(Circle$1 c) { c.r * c.r * C$2.number() }
}
GROOVY
}
