#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What one call of a Redis client does while its server stands for 0.8 s (SIGSTOP), as in a pause; the client's timeout
# is 0.5 s. Redis 7.0.15 (Debian's). PyPI's redis 8.1.0 and its fork valkey 6.2.0 (socket_timeout), npm's ioredis 6.0.0
# and redis 6.3.1, redis.clients:jedis 7.2.0, io.lettuce:lettuce-core 7.2.0.
#
#   guessed   a call that ends without an error has been done once, and one that was done twice raises an error. What
#             no client says is: there were three elements, LPOP gave one of them, and two are gone
#   seen      client says (server has)      INCR         LPOP of a b c     SET lock NX
#             redis-py                      2 (2)        b (1 left)        none (it is set)
#             ioredis, socketTimeout        2 (2)        b (1 left)        none (it is set)
#             valkey-py, Jedis, Lettuce     error (1)    error (2 left)    error (it is set)
#             ioredis, commandTimeout, and node-redis, socketTimeout: as these
#             node-redis, timeout           1 (1)        a (2 left)        OK (it is set), each after 0.8 s
#             redis-py, unlike its fork, sends again by default, and so does ioredis where its socket times out; the
#             server, when it goes on, does both. No error says so: the element `a` is lost, and the lock is taken by a
#             client that was told it is not, so by nobody. And commandOptions.timeout of node-redis ends no wait: it is
#             for commands that are not sent yet
#
# Needs a JDK 25 (JAVA_HOME), Maven, Node, Python with pip, and apt of Debian. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download redis-tools libjemalloc2 liblzf1 > apt.log 2>&1
for package in redis-tools_*7.0.15-*.deb libjemalloc2_*.deb liblzf1_*.deb; do dpkg -x "$package" .; done
python3 -m pip install -q --no-deps --target python redis==8.1.0 valkey==6.2.0 2> pip.log
npm install --silent --no-fund --no-audit ioredis@6.0.0 redis@6.3.1 > npm.log
cat > client.py << 'PYTHON'
import importlib, sys
sys.path.insert(0, "python")
library, port, call = sys.argv[1:]
module = importlib.import_module(library)
client = (module.Redis if library == "redis" else module.Valkey)(port=int(port), socket_timeout=0.5)
client.ping()
print("ready", flush=True)
sys.stdin.readline()
try: print({"incr": lambda: client.incr("n"), "lpop": lambda: client.lpop("q").decode(),
            "lock": lambda: client.set("l", "me", nx=True)}[call]())
except module.exceptions.RedisError if library == "redis" else module.exceptions.ValkeyError: print("error")
PYTHON
cat > client.mjs << 'JS'
import { Redis } from 'ioredis';
import { createClient } from 'redis';
const [, , kind, port, call] = process.argv;
const [library, option] = kind.split('/');
let client;
if (library === 'ioredis') client = new Redis({ port: +port, [option]: 500 });
else {
  const timeout = option === 'timeout' ? { commandOptions: { timeout: 500 } } : {};
  client = createClient({ socket: { port: +port, ...(option === 'timeout' ? {} : { [option]: 500 }) }, ...timeout });
}
client.on('error', () => {});
if (library === 'redis') await client.connect();
await client.ping();
console.log('ready');
await new Promise((go) => process.stdin.once('data', go));
const send = (...words) => library === 'redis' ? client.sendCommand(words) : client.call(...words);
try {
  console.log(await send(...{ incr: ['INCR', 'n'], lpop: ['LPOP', 'q'], lock: ['SET', 'l', 'me', 'NX'] }[call]));
} catch { console.log('error'); }
setTimeout(() => process.exit(0), 1000);
JS
cat > pom.xml << 'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>stopped</artifactId><version>1</version><dependencies>
<dependency><groupId>redis.clients</groupId><artifactId>jedis</artifactId><version>7.2.0</version></dependency>
<dependency><groupId>io.lettuce</groupId><artifactId>lettuce-core</artifactId>
<version>7.2.0.RELEASE</version></dependency>
</dependencies></project>
POM
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Client.java << 'JAVA'
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SetArgs;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisPooled;
import redis.clients.jedis.params.SetParams;

public class Client {
    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[1]);
        Map<String, Callable<Object>> calls;
        if (args[0].equals("jedis")) {
            var jedis = new JedisPooled(new HostAndPort("127.0.0.1", port),
                DefaultJedisClientConfig.builder().socketTimeoutMillis(500).build());
            jedis.ping();
            calls = Map.of("incr", () -> jedis.incr("n"), "lpop", () -> jedis.lpop("q"), "lock",
                () -> jedis.set("l", "me", SetParams.setParams().nx()));
        } else {
            var connection = RedisClient.create(RedisURI.create("127.0.0.1", port)).connect();
            var lettuce = connection.sync();
            lettuce.ping();
            connection.setTimeout(Duration.ofMillis(500));
            calls = Map.of("incr", () -> lettuce.incr("n"), "lpop", () -> lettuce.lpop("q"), "lock",
                () -> lettuce.set("l", "me", SetArgs.Builder.nx()));
        }
        System.out.println("ready");
        System.in.read();
        Object result;
        try {
            result = calls.get(args[2]).call();
        } catch (RuntimeException e) {
            result = "error";
        }
        System.out.println(result);
        Thread.sleep(1000);
        System.exit(0);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Client.java 2> errors || { cat errors; exit 1; }
cat > stop.py << 'PYTHON'
# Each client, each call: starts it, stops the server, lets it call, lets the server go on.
import atexit, os, signal, socket, subprocess, sys, time

with socket.create_server(("127.0.0.1", 0)) as free: port = free.getsockname()[1]
server = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""],
                          executable="usr/bin/redis-check-rdb", stdout=subprocess.DEVNULL,
                          env={**os.environ, "LD_LIBRARY_PATH": "usr/lib/x86_64-linux-gnu"})
atexit.register(server.kill)

def ask(command):
    for attempt in range(100):
        try: connection = socket.create_connection(("127.0.0.1", port))
        except OSError: time.sleep(0.1)
        else: break
    with connection:
        connection.sendall(command.encode() + b"\r\n")
        return connection.recv(1000).decode().split("\r\n")[0].lstrip(":")

def call(argv, kind):
    """What the client says, and what the server has of it."""
    for command in ("flushall", "rpush q a b c"): ask(command)
    client = subprocess.Popen([*argv, str(port), kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    if client.stdout.readline() != "ready\n": raise SystemExit(f"{argv} is not ready")
    server.send_signal(signal.SIGSTOP)
    print(file=client.stdin, flush=True)
    time.sleep(0.8)
    server.send_signal(signal.SIGCONT)
    said = client.stdout.readline().strip()
    client.wait()
    left = ask({"incr": "incr n", "lpop": "llen q", "lock": "exists l"}[kind])
    return ("none" if said in ("None", "null", "") else said), (int(left) - 1 if kind == "incr" else int(left))

java, node = [sys.argv[1], "-cp", "lib/*:.", "Client"], ["node", "client.mjs"]
python = [sys.executable, "client.py"]
twice = [("2", 2), ("b", 1), ("none", 1)]
error = [("error", 1), ("error", 2), ("error", 1)]
once = [("1", 1), ("a", 2), ("OK", 1)]
bad = False
for name, argv, wanted in (("redis-py", [*python, "redis"], twice), ("valkey-py", [*python, "valkey"], error),
                           ("ioredis, socketTimeout", [*node, "ioredis/socketTimeout"], twice),
                           ("ioredis, commandTimeout", [*node, "ioredis/commandTimeout"], error),
                           ("node-redis, socketTimeout", [*node, "redis/socketTimeout"], error),
                           ("node-redis, timeout", [*node, "redis/timeout"], once),
                           ("Jedis", [*java, "jedis"], error), ("Lettuce", [*java, "lettuce"], error)):
    seen = [call(argv, kind) for kind in ("incr", "lpop", "lock")]
    print(f"{name:26}", *(f"{said:>5} ({state})" for said, state in seen), flush=True)
    bad |= seen != wanted
sys.exit(bad)
PYTHON
echo 'each client says (and the server has)   INCR, LPOP of a b c, SET NX'
python3 stop.py "$java/java" || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
