#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Clients of memcached whose timeout is 0.5 s, and a server that stands for 2 s (SIGSTOP), as in a long pause, and goes
# on. One call while it stands, then eight, each of another key; once `incr` of counters, once `get`. Debian's memcached
# 1.6.18. PyPI's pymemcache 4.0.0 (timeout), emcache 1.3.3 and aiomcache 0.8.2 (asyncio.wait_for); crates.io's
# async-memcached 0.9.0 (tokio::time::timeout) and memcache 0.21.0 (`timeout=0.5` of the URL, and with_read_timeout).
#
#   guessed   the call ends after 0.5 s with an error, and of the next ones each is right
#   seen      of the next eight      the call ends after    incr right    get right    otherwise
#             pymemcache, emcache                  0.5 s             8            8
#             aiomcache                            0.5 s             0            0    the answer of the call before
#             async-memcached                      0.5 s             0            0    ConnectionClosed, for ever
#             memcache, both ways            2.0 s to 3 s             8            8
#             aiomcache takes a cancelled call for a finished one, and lends the connection again, with an answer on
#             the way: each call has the answer of the one before, so that `incr` gives the number of another counter,
#             and `get` None for a key that is there. async-memcached has one connection and opens no other. memcache
#             sets the URL's timeout, and takes it away at once, as its builder has none; the builder's own is set on
#             one connection, and gone when the pool, which tests that one first, replaces it
#
# Needs cargo, Python with pip, and apt of Debian. Fails if what was seen has changed.
set -euo pipefail
work=$(mktemp -d)
server=
end() {
  [[ -z $server ]] || kill -KILL "$server" 2> /dev/null || true
  wait
  rm -rf "$work"
}
trap end EXIT
cd "$work"
apt-get -q download memcached libevent-2.1-7 libsasl2-2 > apt.log 2>&1
for package in memcached_1.6.18-*.deb libevent-*.deb libsasl2-2_*.deb; do dpkg -x "$package" .; done
LD_LIBRARY_PATH=$(find "$PWD/usr/lib" -name 'libevent-2.1.so.*' -printf '%h\n' -quit)
export LD_LIBRARY_PATH
python3 -m pip install -q --no-deps --target python pymemcache==4.0.0 emcache==1.3.3 aiomcache==0.8.2 2> pip.log
cat > client.py << 'PYTHON'
import asyncio
import sys
import time

sys.path.insert(0, 'python')
KIND, CALL, PORT = sys.argv[1], sys.argv[2], int(sys.argv[3])


async def connect():
    """Three coroutines of (key), (key), (key, value): get, incr, set."""
    if KIND == 'pymemcache':
        from pymemcache.client.base import Client
        c = Client(('127.0.0.1', PORT), timeout=0.5)

        async def value(x):
            return x
        return (lambda k: value(c.get(k)), lambda k: value(c.incr(k, 1)), lambda k, v: value(c.set(k, v)))
    if KIND == 'emcache':
        import emcache
        host = emcache.MemcachedHostAddress('127.0.0.1', PORT)
        c = await emcache.create_client([host], timeout=None, max_connections=1)

        async def get(k):
            item = await c.get(k)
            return item and item.value
        return get, lambda k: c.increment(k, 1), c.set
    import aiomcache
    c = aiomcache.Client('127.0.0.1', PORT, pool_size=1)
    return c.get, lambda k: c.incr(k, 1), c.set


async def attempt(call):
    try:
        return await asyncio.wait_for(call(), 0.5)
    except Exception as e:
        return type(e).__name__


async def main():
    get, incr, put = await connect()
    for i in range(8):
        await put(b'k%d' % i, b'v%d' % i)
        await put(b'n%d' % i, b'%d' % (1000 * i))

    def call(i):
        return get(b'k%d' % i) if CALL == 'get' else incr(b'n%d' % i)

    print('ready', flush=True)
    sys.stdin.readline()
    begin = time.monotonic()
    await attempt(lambda: call(7))
    print('ended', round(time.monotonic() - begin, 1), flush=True)
    sys.stdin.readline()
    right = 0
    for i in range(8):
        answer = await attempt(lambda: call(i))
        right += answer == b'v%d' % i or isinstance(answer, int) and answer // 1000 == i
        if i == 3:
            third = answer
    print('right', right, third)


asyncio.run(main())
PYTHON
mkdir -p client/src
cat > client/Cargo.toml << 'TOML'
[package]
name = "client"
version = "1.0.0"
edition = "2021"

[dependencies]
async-memcached = "=0.9.0"
memcache = { version = "=0.21.0", default-features = false }
tokio = { version = "1", features = ["full"] }
TOML
cat > client/src/main.rs << 'RUST'
use async_memcached::AsciiProtocol;
use std::future::Future;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_millis(500);

fn line() {
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

/// The course of the program, with a function that says what this call answers.
async fn course(get: bool, mut call: impl AsyncFnMut(String) -> Result<String, String>) {
    println!("ready");
    line();
    let begin = Instant::now();
    let key = |i| if get { format!("k{i}") } else { format!("n{i}") };
    let _ = call(key(7)).await;
    println!("ended {:.1}", begin.elapsed().as_secs_f64());
    line();
    let (mut right, mut third) = (0, String::new());
    for i in 0..8 {
        let answer = call(key(i)).await.unwrap_or_else(|e| e);
        let number = answer.parse::<u64>().ok();
        right += usize::from(answer == format!("v{i}") || number.is_some_and(|n| n / 1000 == i));
        if i == 3 {
            third = answer;
        }
    }
    println!("right {right} {third}");
}

async fn in_time<T, E: std::fmt::Display>(call: impl Future<Output = Result<T, E>>) -> Result<T, String> {
    match tokio::time::timeout(LIMIT, call).await {
        Ok(done) => done.map_err(|e| e.to_string()),
        Err(e) => Err(e.to_string()),
    }
}

async fn asynchronous(address: String, get: bool) {
    let mut client = async_memcached::Client::new(format!("tcp://{address}")).await.unwrap();
    for i in 0..8u64 {
        client.set(format!("k{i}"), format!("v{i}").as_str(), None, None).await.unwrap();
        client.set(format!("n{i}"), 1000 * i, None, None).await.unwrap();
    }
    course(get, async |key| {
        if get {
            let value = in_time(client.get(key)).await?;
            return Ok(String::from_utf8(value.and_then(|v| v.data).unwrap_or_default()).unwrap());
        }
        in_time(client.increment(key, 1)).await.map(|n| n.to_string())
    })
    .await;
}

async fn blocking(client: memcache::Client, get: bool) {
    for i in 0..8u64 {
        client.set(&format!("k{i}"), format!("v{i}"), 0).unwrap();
        client.set(&format!("n{i}"), 1000 * i, 0).unwrap();
    }
    course(get, async |key| {
        if get {
            return client.get::<String>(&key).map(Option::unwrap_or_default).map_err(|e| e.to_string());
        }
        client.increment(&key, 1).map(|n| n.to_string()).map_err(|e| e.to_string())
    })
    .await;
}

fn main() {
    let word = |n| std::env::args().nth(n).unwrap();
    let get = word(2) == "get";
    let address = format!("127.0.0.1:{}", word(3));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        match word(1).as_str() {
            "async-memcached" => asynchronous(address, get).await,
            "memcache-url" => {
                let client = memcache::connect(format!("memcache://{address}?timeout=0.5")).unwrap();
                blocking(client, get).await
            }
            _ => {
                let builder = memcache::Client::builder().add_server(format!("memcache://{address}")).unwrap();
                blocking(builder.with_read_timeout(LIMIT).build().unwrap(), get).await
            }
        }
    });
}
RUST
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$work/target}
cargo build --quiet --manifest-path client/Cargo.toml > errors 2>&1 || { cat errors; exit 1; }
# until_said WORD: waits until the client has said it; at most a minute
until_said() {
  for ((SECONDS = 0; SECONDS < 60;)); do
    if grep -qs "^$1" said; then return; fi
    sleep 0.1
  done
  echo "$(cat said): no $1" >&2
  exit 1
}
# one CLIENT CALL COMMAND…: with a server of its own
one() {
  local port client
  port=$(python3 -c 'import random; print(random.randrange(20000, 30000))')
  usr/bin/memcached -u "$(id -un)" -l 127.0.0.1 -p "$port" -t 1 2> memcached.log &
  server=$!
  sleep 1
  rm -f go said
  mkfifo go
  "${@:3}" "$1" "$2" "$port" < go > said 2> errors &
  client=$!
  exec 5> go
  until_said ready
  kill -STOP $server
  sleep 0.2
  echo >&5
  sleep 2
  kill -CONT $server
  until_said ended
  sleep 0.5
  echo >&5
  wait $client || { cat errors; exit 1; }
  exec 5>&-
  kill -TERM $server
  wait $server || true
  server=
  ended=$(sed -n 's/^ended //p' said)
  read -r right third < <(sed -n 's/^right //p' said)
  printf '%-17s %-4s ends after %s s; right of the next 8: %d; the fourth says %s\n' "$1" "$2" "$ended" "$right" \
    "$third"
}
bad=0
for call in incr get; do
  for client in pymemcache emcache aiomcache async-memcached memcache-url memcache-builder; do
    case $client in
      *mcache) one $client $call python3 client.py ;;
      *) one $client $call "$CARGO_TARGET_DIR/debug/client" ;;
    esac
    case $client in
      aiomcache) [[ $right == 0 && $third =~ ^(2001|None)$ ]] || bad=1 ;;
      async-memcached) ((right == 0)) || bad=1 ;;
      *) ((right == 8)) || bad=1 ;;
    esac
    case $client in
      memcache-*) awk "BEGIN { exit !($ended >= 1.8) }" || bad=1 ;;
      *) awk "BEGIN { exit !($ended >= 0.4 && $ended <= 1.2) }" || bad=1 ;;
    esac
  done
done
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
