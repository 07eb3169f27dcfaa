#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What a client has of a 503 by which a server turns an upload away: POSTs of 10 MB, the server answers after the header
# fields and closes the connection, with the body unread. Direct, and through Debian's nginx 1.22.1, Apache 2.4.71,
# HAProxy 2.6.12 and lighttpd 1.4.69 as they come. Forty of each (HAProxy 200), one after the other.
#
#   guessed   the 503 comes through each, as it does direct: all of the answer is there before the connection ends
#   seen      direct, lighttpd    503: 40
#             nginx               503: 0 to 13     502: 27 to 40
#             Apache                               502: 40
#             HAProxy             503: 152 to 160                     no answer at all: 40 to 48
#             All but lighttpd stop at the failed write of the body, and do not look for an answer that has come before.
#             So what says *come later* is a fault of the server behind most proxies, and behind HAProxy a connection
#             that ends. Where the server reads the rest after its answer, each client has the 503
#
# Needs Python and apt of Debian. Fails if what was seen has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download nginx apache2-bin libapr1 libaprutil1 haproxy liblua5.3-0 libopentracing-c-wrapper0 \
  libopentracing1 lighttpd > apt.log 2>&1
for package in *.deb; do dpkg -x "$package" .; done
cat > drive.py << 'PYTHON'
# Prints, for each proxy, what the clients had; fails if it is not what was seen.
import atexit, collections, os, socket, subprocess, sys, threading, time

here = os.getcwd()
libraries = {**os.environ, "LD_LIBRARY_PATH": f"{here}/usr/lib/x86_64-linux-gnu"}

def serve(connection):
    """Closes with the body unread, so the connection is reset, or reads the rest."""
    with connection:
        got = b""
        while b"\r\n\r\n" not in got:
            part = connection.recv(1000)
            if not part: return
            got += part
        connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy")
        try:
            if reads: connection.shutdown(socket.SHUT_WR)
            while reads and connection.recv(100_000): pass
        except OSError: pass # the client has its answer, and has gone

def accept(listener):
    while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

def upload(port, size=10_000_000):
    """A client that reads while it sends."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        def send():
            try:
                connection.sendall(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n".encode())
                connection.sendall(bytes(size))
            except OSError: pass
        sender = threading.Thread(target=send)
        sender.start()
        try: got = connection.recv(1000)
        except OSError: got = b""
        try: connection.shutdown(socket.SHUT_RDWR)
        except OSError: pass
        sender.join()
        return got[9:12].decode() or "nothing"

listener = socket.create_server(("127.0.0.1", 0), backlog=100)
threading.Thread(target=accept, args=(listener,), daemon=True).start()
server = listener.getsockname()[1]
taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(4)]
nginx, apache, haproxy, lighttpd = (one.getsockname()[1] for one in taken)
for one in taken: one.close()

temporary = "".join(f"{kind}_temp_path {here}/temp-{kind}; " for kind in ("proxy", "fastcgi", "uwsgi", "scgi"))
modules = "".join(f"LoadModule {name}_module {here}/usr/lib/apache2/modules/mod_{name}.so\n"
                  for name in ("mpm_event", "authz_core", "proxy", "proxy_http"))
for name, text in {
    "nginx": f"""daemon off; master_process off; pid {here}/nginx.pid; events {{}} http {{ access_log off; {temporary}
        client_max_body_size 20m; client_body_temp_path {here}/temp-body;
        server {{ listen 127.0.0.1:{nginx}; location / {{ proxy_pass http://127.0.0.1:{server}; }} }} }}""",
    "apache": f"""ServerRoot {here}\nPidFile {here}/apache.pid\nErrorLog {here}/apache.log\nListen 127.0.0.1:{apache}
        {modules}\nServerName a\nUser nobody\nGroup nogroup\nProxyPass / http://127.0.0.1:{server}/""",
    "haproxy": f"""defaults\n mode http\n timeout client 20s\n timeout server 20s\n timeout connect 5s
        \nlisten all\n bind 127.0.0.1:{haproxy}\n server one 127.0.0.1:{server}\n""",
    "lighttpd": f"""server.document-root="{here}"\nserver.bind="127.0.0.1"\nserver.port={lighttpd}
        server.modules=("mod_proxy")\nproxy.server=(""=>(("host"=>"127.0.0.1","port"=>{server})))"""}.items():
    with open(name + ".conf", "w") as file: file.write(text + "\n")
for command in (["nginx", "-p", here, "-c", here + "/nginx.conf", "-e", here + "/nginx.log"],
                ["apache2", "-DFOREGROUND", "-f", here + "/apache.conf"], ["haproxy", "-db", "-f", "haproxy.conf"],
                ["lighttpd", "-D", "-f", "lighttpd.conf", "-m", here + "/usr/lib/lighttpd"]):
    process = subprocess.Popen(["usr/sbin/" + command[0], *command[1:]], env=libraries, stderr=subprocess.DEVNULL)
    atexit.register(process.terminate)
time.sleep(2)
seen, reads = {}, False
proxies = (("direct", server), ("nginx", nginx), ("Apache", apache), ("HAProxy", haproxy), ("lighttpd", lighttpd))
for name, port in proxies:
    seen[name] = collections.Counter(upload(port) for _ in range(200 if name == "HAProxy" else 40))
    print(f"{name:10}", *(f"{what}: {number}  " for what, number in sorted(seen[name].items())), flush=True)
reads = True
patient = [upload(port) for name, port in proxies for _ in range(10)].count("503")
print("503 of 50, if the server reads the rest:", patient)
sys.exit(not (patient == 50 and seen["direct"]["503"] == seen["lighttpd"]["503"] == 40 and
              seen["nginx"]["502"] >= 10 and seen["Apache"]["502"] >= 20 and seen["HAProxy"]["nothing"] >= 3))
PYTHON
python3 drive.py || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
