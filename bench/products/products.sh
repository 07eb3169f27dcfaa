# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Sourced by ../products.sh: how each product is set up, started, loaded and stopped, in the current folder.
# NAME_ready succeeds once it serves; NAME_load prints how many answers were wrong or missing.

url() { echo "http://127.0.0.1:$PRODUCTS_PORT$1"; }
serves() { [ "$(curl -s --max-time 20 "$(url "$1")")" = "$2" ]; }
# The process that listens: the JVM in whose command line this folder is.
pid_of_folder() { pgrep -f -- "-Dproducts.folder=$PWD " | head -1; }
our_flags() { echo "$PRODUCTS_FLAGS -Dproducts.folder=$PWD -XX:ErrorFile=$PWD/hs_err.log"; }

# load_http PATH: asks for PATH with 1 to N behind it, in one connection; each answer is to be `hello` and the number.
load_http() {
  curl -s --max-time 600 "$(url "$1")[1-$PRODUCTS_REQUESTS]" > answers || true
  seq 1 "$PRODUCTS_REQUESTS" | sed 's/^/hello /' | { diff - answers || true; } | grep -c '^[<>]' || true
}
hello_jsp() { printf '%s\n' 'hello <%= request.getParameter("n") %>' > "$1"; }

wiremock_prepare() {
  mkdir -p root/mappings
  cat > root/mappings/hello.json <<'JSON'
{ "request": { "urlPathPattern": "/hello/.*" },
  "response": { "status": 200, "body": "hello {{request.path.[1]}}\n", "transformers": ["response-template"] } }
JSON
}
wiremock_start() {
  # shellcheck disable=SC2046
  "$JAVA_HOME/bin/java" $(our_flags) -jar "$archives"/wiremock-standalone-*.jar --port "$PRODUCTS_PORT" \
    --bind-address 127.0.0.1 --root-dir root --no-request-journal > server.out 2>&1 &
}
wiremock_ready() { serves /hello/0 'hello 0'; }
wiremock_pid() { pid_of_folder; }
wiremock_load() { load_http /hello/; }
wiremock_stop() { curl -s -X POST "$(url /__admin/shutdown)"; }

tomcat_prepare() {
  tar xzf "$archives"/tomcat-*.tar.gz --strip-components=1
  sed -i "s/port=\"8080\"/address=\"127.0.0.1\" port=\"$PRODUCTS_PORT\"/
    s/port=\"8005\"/port=\"$((PRODUCTS_PORT + 1))\"/" conf/server.xml
  mkdir -p webapps/products
  hello_jsp webapps/products/hello.jsp
}
tomcat_start() { CATALINA_OPTS=$(our_flags) CATALINA_PID=$PWD/pid bin/catalina.sh start; }
tomcat_ready() { serves '/products/hello.jsp?n=0' 'hello 0'; }
tomcat_pid() { cat pid; }
tomcat_load() { load_http '/products/hello.jsp?n='; }
tomcat_stop() { CATALINA_PID=$PWD/pid bin/catalina.sh stop; }

jetty_prepare() {
  mkdir -p home base/webapps/products logs
  tar xzf "$archives"/jetty-home-*.tar.gz -C home --strip-components=1
  hello_jsp base/webapps/products/hello.jsp
  (cd base && "$JAVA_HOME/bin/java" -jar ../home/start.jar --add-modules=http,ee10-deploy,ee10-jsp) > prepare.out 2>&1
}
jetty_script() {
  JAVA="$JAVA_HOME/bin/java" JETTY_HOME=$PWD/home JETTY_BASE=$PWD/base JETTY_RUN=$PWD JETTY_PID=$PWD/pid \
    JAVA_OPTIONS=$(our_flags) \
    JETTY_ARGS="jetty.http.port=$PRODUCTS_PORT jetty.http.host=127.0.0.1" home/bin/jetty.sh "$1"
}
jetty_start() { jetty_script start; }
jetty_ready() { serves '/products/hello.jsp?n=0' 'hello 0'; }
jetty_pid() { cat pid; }
jetty_load() { load_http '/products/hello.jsp?n='; }
jetty_stop() { jetty_script stop; }

artemis_prepare() {
  mkdir -p home
  tar xzf "$archives"/apache-artemis-*.tar.gz -C home --strip-components=1
  home/bin/artemis create broker --silent --user admin --password admin --allow-anonymous --no-web --no-autotune \
    --default-port "$PRODUCTS_PORT" --no-amqp-acceptor --no-hornetq-acceptor --no-mqtt-acceptor --no-stomp-acceptor \
    > prepare.out 2>&1
  # The profile names G1 and a heap of its own.
  sed -i "s/-XX:+UseG1GC//; s/-XX:+UseStringDeduplication//; s/-Xms[0-9]*[MG]//; s|-Xmx[0-9]*[MG]|$(our_flags)|" \
    broker/etc/artemis.profile
}
artemis_start() { broker/bin/artemis-service start; }
artemis_client() { # the client of the product, as it comes, on the JDK's default collector
  broker/bin/artemis "$1" --url "tcp://127.0.0.1:$PRODUCTS_PORT" --user admin --password admin \
    --message-count $((PRODUCTS_REQUESTS / 10)) "${@:2}"
}
artemis_ready() { grep -q 'AMQ221007' broker/log/artemis.log; }
artemis_pid() { pid_of_folder; }
artemis_load() {
  local got
  artemis_client producer > producer.out 2>&1 || true
  artemis_client consumer --break-on-null --receive-timeout 10000 > consumer.out 2>&1 || true
  got=$(sed -n 's/.*Consumed: \([0-9]*\) messages.*/\1/p' consumer.out | tail -1)
  echo $((PRODUCTS_REQUESTS / 10 - ${got:-0}))
}
artemis_stop() { broker/bin/artemis-service stop; }

# A compiler ends by itself, so nothing is watched. Its classes are to be those that it makes on the stock JDK.
ecj_run() {
  local n=$((PRODUCTS_REQUESTS / 10)) i wrong used errors started=yes
  mkdir -p src
  for i in $(seq 1 "$n"); do
    cat > "src/C$i.java" <<JAVA
import java.util.*;
import java.util.function.*;
public class C$i<T extends Comparable<T>> {
    record Pair<A, B>(A a, B b) { }
    sealed interface Shape permits Circle, Square { }
    record Circle(double r) implements Shape { }
    record Square(double a) implements Shape { }
    static double area(Shape s) {
        return switch (s) { case Circle(double r) -> r * r * $i; case Square(double a) -> a * a; };
    }
    Map<String, List<Pair<T, Integer>>> all = new TreeMap<>();
    void add(T t) {
        all.computeIfAbsent(t.toString(), k -> new ArrayList<>()).add(new Pair<>(t, C$((i % n + 1)).number()));
    }
    static int number() {
        Function<Integer, Integer> f = x -> x + $i;
        return f.andThen(y -> y * 2).apply($i);
    }
}
JAVA
  done
  # shellcheck disable=SC2086
  "$JAVA_HOME/bin/java" $PRODUCTS_FLAGS -XX:ErrorFile="$PWD/hs_err.log" -Xlog:gc:file=gc.log \
    -jar "$archives"/ecj-*.jar --release 21 -nowarn -d ours src > ecj.out 2>&1 || started=no
  "$LULL_BASE_JDK/bin/java" -jar "$archives"/ecj-*.jar --release 21 -nowarn -d stock src > stock.out 2>&1 || true
  wrong=$({ diff -rq ours stock || true; } | grep -c . || true)
  errors=$(grep -cE 'ERROR|Exception' ecj.out || true)
  used=$(find ours -name '*.class' | wc -l)
  echo "| ecj, $used classes | $started | $errors | $wrong | ends by itself | $started | |" \
    "$(grep -c 'Pause' gc.log || true) | |"
  [ "$started" = yes ] && [ "$wrong" = 0 ] && [ "$used" -gt "$n" ]
}
