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
  # On a disk that is nearly full it would let producers wait for ever.
  sed -i 's|<max-disk-usage>.*</max-disk-usage>|<max-disk-usage>100</max-disk-usage>|' broker/etc/broker.xml
  # The profile names G1 and a heap of its own.
  sed -i "s/-XX:+UseG1GC//; s/-XX:+UseStringDeduplication//; s/-Xms[0-9]*[MG]//; s|-Xmx[0-9]*[MG]|$(our_flags)|" \
    broker/etc/artemis.profile
}
artemis_start() { broker/bin/artemis-service start; }
artemis_client() { # the client of the product, as it comes, on the JDK's default collector
  timeout "$PRODUCTS_WAIT" broker/bin/artemis "$1" --url "tcp://127.0.0.1:$PRODUCTS_PORT" --user admin \
    --password admin --message-count $((PRODUCTS_REQUESTS / 10)) "${@:2}"
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

wildfly_prepare() {
  mkdir -p home
  tar xzf "$archives"/wildfly-dist-*.tar.gz -C home --strip-components=1
  mkdir -p home/standalone/deployments/products.war
  hello_jsp home/standalone/deployments/products.war/hello.jsp
  touch home/standalone/deployments/products.war.dodeploy
  ln -s home/standalone/log logs
}
wildfly_start() {
  # Without JAVA_OPTS the script sets a heap of its own.
  JAVA_OPTS="$(our_flags) -Djava.net.preferIPv4Stack=true" home/bin/standalone.sh -b 127.0.0.1 -bmanagement 127.0.0.1 \
    -Djboss.http.port="$PRODUCTS_PORT" -Djboss.management.http.port=$((PRODUCTS_PORT + 1)) -Djboss.https.port=0 \
    -Djboss.management.https.port=0 > server.out 2>&1 &
}
wildfly_ready() { serves '/products/hello.jsp?n=0' 'hello 0'; }
wildfly_pid() { pid_of_folder; }
wildfly_load() { load_http '/products/hello.jsp?n='; }
wildfly_stop() {
  home/bin/jboss-cli.sh --connect --controller="127.0.0.1:$((PRODUCTS_PORT + 1))" --command=shutdown
}

# One jar, without a script of its own.
payara_prepare() {
  local http=configs.config.server-config.network-config.network-listeners.network-listener.http-listener
  mkdir -p war root
  hello_jsp war/hello.jsp
  "$LULL_BASE_JDK/bin/jar" --create --file products.war -C war .
  # It has no option for the address.
  echo "set $http.address=127.0.0.1" > preboot
}
payara_start() {
  # shellcheck disable=SC2046
  "$JAVA_HOME/bin/java" $(our_flags) -jar "$archives"/payara-micro-*.jar --rootdir root --prebootcommandfile preboot \
    --port "$PRODUCTS_PORT" --nohazelcast --disablephonehome --deploy products.war > server.out 2>&1 &
}
payara_ready() { grep -q ' ready in ' server.out && serves '/products/hello.jsp?n=0' 'hello 0'; }
payara_pid() { pid_of_folder; }
payara_load() { load_http '/products/hello.jsp?n='; }
payara_stop() { kill -TERM "$(payara_pid)"; }

keycloak_prepare() { tar xzf "$archives"/keycloak-quarkus-dist-*.tar.gz --strip-components=1; }
keycloak_start() {
  # Without JAVA_OPTS the script names G1 and a heap of its own.
  JAVA_OPTS=$(our_flags) KC_BOOTSTRAP_ADMIN_USERNAME=admin KC_BOOTSTRAP_ADMIN_PASSWORD=admin \
    bin/kc.sh start-dev --cache=local --http-host=127.0.0.1 --http-port="$PRODUCTS_PORT" \
    --http-management-port=$((PRODUCTS_PORT + 1)) > server.out 2>&1 &
}
keycloak_ready() { curl -sf --max-time 20 "$(url /realms/master)" | grep -q '"realm":"master"'; }
keycloak_pid() { pid_of_folder; }
# What a realm says of itself, and for each tenth of that a token, for which a password is hashed.
keycloak_load() {
  local n=$((PRODUCTS_REQUESTS / 10)) right
  curl -s --max-time 600 -w '\n' "$(url '/realms/master/.well-known/openid-configuration?n=')[1-$PRODUCTS_REQUESTS]" \
    > answers || true
  curl -s --max-time 600 -w '\n' -d grant_type=password -d client_id=admin-cli -d username=admin -d password=admin \
    "$(url '/realms/master/protocol/openid-connect/token?n=')[1-$n]" > tokens || true
  right=$(grep -c "^{\"issuer\":\"$(url /realms/master)\",.*}\$" answers || true)
  echo $((PRODUCTS_REQUESTS - right + n - $(grep -c '^{"access_token":"ey.*}$' tokens || true)))
}
keycloak_stop() { kill -TERM "$(keycloak_pid)"; }
