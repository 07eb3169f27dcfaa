// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Where requests end, by the gate and by servers of others: known forms of HTTP/1.1 and changes of them, each followed
//! by a plain request, go to a server, whose answers say what it has read. Where the gate would take a request, the
//! server reads the same bytes, or refuses and closes: no input is one request to the gate and another to the server.
//! What the gate leaves alone is not compared. HTTP/2: [`super::framing2`].

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lull_gate::http1::Http1;
use lull_gate::protocol::{Front, Protocol};

use super::client::{Random, crc32};
use super::server::Server;
use super::{PARALLEL, Setting};

/// Servers, by GateServer's names.
pub const SERVERS: [&str; 5] = ["tomcat", "jetty", "undertow", "httpserver", "netty-nio"];

/// So many inputs for each of them.
const INPUTS: u64 = 10_000;
const THREADS: u64 = 4;

/// A server that does not answer for so long waits for more than the gate has taken.
const PATIENCE: Duration = Duration::from_secs(20);

/// No pause turns anything away: the agent only follows.
pub const FOLLOWS: &str = "deadline=600000";

/// What requests look like that are read alike, and otherwise.
const CORPUS: &[&str] = &[
    "GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 05\r\n\r\nhello",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5 \r\n\r\nhello",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length:5\r\n\r\nhello",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nhello",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "POST /a HTTP/1.1\r\nHost: a\r\ncontent-length: 5\r\n\r\nhello",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\nhello",
    "GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n005\r\nhello\r\n000\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0;z\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "PUT /a HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "GET /a HTTP/1.1\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a b\r\n\r\n",
    "GET /a HTTP/1.1\nHost: a\n\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nX: y\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\n X: y\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nX: y\rz\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nX: y\0z\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nX\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\n: y\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nX:\r\n\r\n",
    "\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n",
    "\n\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET  /a HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /a  HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /a HTTP/1.1 \r\nHost: a\r\n\r\n",
    "GET\t/a HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /a\r\nHost: a\r\n\r\n",
    "GET /a HTTP/0.9\r\nHost: a\r\n\r\n",
    "GET /a HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
    "GET /a HTTP/1.2\r\nHost: a\r\n\r\n",
    "GET /a HTTP/2.0\r\nHost: a\r\n\r\n",
    "GET /a http/1.1\r\nHost: a\r\n\r\n",
    "get /a HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /a?b=c#d HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /%00%zz HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /{|} HTTP/1.1\r\nHost: a\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    "DELETE /a HTTP/1.1\r\nHost: a\r\n\r\n",
    "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
    "GET /a HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 42\r\n\r\nGET /inside HTTP/1.1\r\nHost: a\r\nX: yzabc\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
];

/// What a change puts in.
const WORDS: &[&str] = &[
    "\r\n",
    "\n",
    "\r",
    " ",
    "\t",
    ":",
    ",",
    ";",
    "0",
    "1",
    "5",
    "-",
    "+",
    "\0",
    "\x0b",
    "chunked",
    "identity",
    "Content-Length: 3\r\n",
    "Content-Length: 0\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Connection: close\r\n",
    "Host: b\r\n",
    "Expect: 100-continue\r\n",
    "HTTP/1.0",
    "0\r\n\r\n",
    "X: y\r\n",
    "\r\n ",
    "GET / HTTP/1.1\r\n",
    "%",
    "\u{80}",
];

/// One of the corpus as it is, then with up to three changes.
fn input(random: &mut Random, number: u64) -> Vec<u8> {
    let below = |random: &mut Random, n: usize| random.below(n as u64) as usize;
    if let Some(known) = CORPUS.get(number as usize) {
        return known.as_bytes().to_vec();
    }
    let mut bytes = CORPUS[below(random, CORPUS.len())].as_bytes().to_vec();
    for _ in 0..=below(random, 3) {
        let at = below(random, bytes.len());
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => _ = bytes.remove(at),
            2 => bytes.insert(at, bytes[at]),
            3 => bytes[at] = random.below(256) as u8,
            4 => drop(bytes.splice(at..at, WORDS[below(random, WORDS.len())].bytes())),
            _ => {
                // A line once more, somewhere.
                let line = bytes.split_inclusive(|byte| *byte == b'\n').nth(below(random, 4)).unwrap_or_default().to_vec();
                drop(bytes.splice(at..at, line));
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

/// What the gate would take at the front of `bytes`, one request after the other: where each begins and ends.
fn taken(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut http = Http1::new(Arc::from(Vec::new()));
    let (mut requests, mut at) = (Vec::new(), 0);
    while let Front::Request { length, .. } = http.front(&bytes[at..]) {
        http.taken(&bytes[at..at + length]);
        requests.push(at..at + length);
        at += length;
        if at == bytes.len() {
            break;
        }
    }
    requests
}

/// What the body of a request is that the gate has understood.
fn body(request: &[u8]) -> Vec<u8> {
    let end = request.windows(4).position(|four| four == b"\r\n\r\n").map_or(request.len(), |at| at + 4);
    let (head, mut rest) = request.split_at(end);
    if !String::from_utf8_lossy(head).to_ascii_lowercase().contains("\r\ntransfer-encoding:") {
        return rest.to_vec();
    }
    let mut body = Vec::new();
    while let Some(line) = rest.windows(2).position(|two| two == b"\r\n") {
        let digits: String = rest[..line].iter().map(|byte| char::from(*byte)).take_while(char::is_ascii_hexdigit).collect();
        let size = usize::from_str_radix(&digits, 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        body.extend_from_slice(&rest[line + 2..line + 2 + size]);
        rest = &rest[line + 2 + size + 2..];
    }
    body
}

/// A final answer of the server's.
struct Answer {
    status: u16,
    content: String,
}

/// What a server sends, as it comes.
struct Answers {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Answers {
    /// More of it; false at the end.
    fn more(&mut self) -> Result<bool, String> {
        let mut buffer = [0; 4096];
        match self.stream.read(&mut buffer) {
            Ok(0) => Ok(false),
            Ok(n) => {
                self.bytes.extend_from_slice(&buffer[..n]);
                Ok(true)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Err("it waits for more".to_string()),
            // Closed, with bytes that it has not read.
            Err(_) => Ok(false),
        }
    }

    fn line(&mut self) -> Result<Option<String>, String> {
        loop {
            if let Some(end) = self.bytes.windows(2).position(|two| two == b"\r\n") {
                let line: Vec<u8> = self.bytes.drain(..end + 2).collect();
                return Ok(Some(String::from_utf8_lossy(&line[..end]).into_owned()));
            }
            if !self.more()? {
                return Ok(None);
            }
        }
    }

    fn exactly(&mut self, length: usize) -> Result<Option<Vec<u8>>, String> {
        while self.bytes.len() < length {
            if !self.more()? {
                return Ok(None);
            }
        }
        Ok(Some(self.bytes.drain(..length).collect()))
    }

    /// The next one; none if the server has closed, within it, too.
    fn next(&mut self) -> Result<Option<Answer>, String> {
        let Some(first) = self.line()? else { return Ok(None) };
        let status = first.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or(format!("'{first}' is no answer"))?;
        let (mut length, mut is_chunked) = (None, false);
        loop {
            let Some(line) = self.line()? else { return Ok(None) };
            let line = line.to_ascii_lowercase();
            if line.is_empty() {
                break;
            } else if let Some(n) = line.strip_prefix("content-length:") {
                length = Some(n.trim().parse().map_err(|_| line.clone())?);
            } else if line.starts_with("transfer-encoding:") && line.contains("chunked") {
                is_chunked = true;
            }
        }
        if status < 200 {
            return self.next();
        }
        let mut content = Vec::new();
        while is_chunked {
            let Some(line) = self.line()? else { return Ok(None) };
            let size = usize::from_str_radix(line.trim(), 16).map_err(|_| format!("'{line}' is no chunk's size"))?;
            let Some(chunk) = self.exactly(size + 2)? else { return Ok(None) };
            content.extend_from_slice(&chunk[..size]);
            is_chunked = size > 0;
        }
        match length {
            Some(length) => {
                let Some(bytes) = self.exactly(length)? else { return Ok(None) };
                content = bytes;
            }
            // To the end of the connection.
            None if content.is_empty() && ![204, 304].contains(&status) && status != 200 => while self.more()? {},
            None => {}
        }
        Ok(Some(Answer { status, content: String::from_utf8_lossy(&content).into_owned() }))
    }
}

/// Sums over inputs.
#[derive(Default)]
struct Sums {
    /// Of which the gate takes something.
    compared: AtomicUsize,
    /// Of which the server has answered all that the gate takes.
    alike: AtomicUsize,
    /// In which it has refused something, and closed.
    refused: AtomicUsize,
}

/// One input: whether the server reads what the gate would take.
fn compare(port: u16, bytes: &[u8], probe: &str, sums: &Sums) -> Result<(), String> {
    let all = [bytes, format!("GET {probe} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()].concat();
    let requests = taken(&all);
    if requests.is_empty() {
        return Ok(());
    }
    sums.compared.fetch_add(1, Ordering::Relaxed);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(|e| e.to_string())?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(|e| e.to_string())?;
    // It may have closed before it has all.
    let _ = stream.write_all(&all);
    let mut answers = Answers { stream, bytes: Vec::new() };
    for request in requests {
        let Some(answer) = answers.next()? else {
            sums.refused.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        };
        if answer.status != 200 {
            // If it goes on, then behind the same bytes.
            continue;
        }
        let request = &all[request];
        // Some is the server's own: to `OPTIONS *`.
        let Some((target, crc)) = answer.content.rsplit_once(' ').filter(|(target, _)| !target.contains(' ')) else { continue };
        let want = format!("{:x}", crc32(&body(request)));
        let is_probe = request.split(|byte| *byte == b' ').nth(1) == Some(probe.as_bytes());
        if crc != want || (target == probe) != is_probe {
            return Err(format!("it has read '{}' where the gate reads '{}'", answer.content, String::from_utf8_lossy(request)));
        }
    }
    sums.alike.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// All inputs to one server.
pub fn framing(setting: &Setting, mode: &str) -> Result<String, String> {
    let mut server = Server::start(&setting.jdk, PARALLEL, FOLLOWS, &[mode, "1", "0"])?;
    let (port, sums) = (server.port, Sums::default());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let sums = &sums;
                scope.spawn(move || {
                    let mut random = Random::new(thread + 1);
                    for number in (thread..INPUTS).step_by(THREADS as usize) {
                        let bytes = input(&mut random, number);
                        compare(port, &bytes, &format!("/probe{number}"), sums)
                            .map_err(|error| format!("input {number}, '{}': {error}", bytes.escape_ascii()))?;
                    }
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Err("a panic".to_string())))
    })?;
    server.stop()?;
    let [compared, alike, refused] = [sums.compared, sums.alike, sums.refused].map(AtomicUsize::into_inner);
    if alike < INPUTS as usize / 20 || refused == 0 {
        return Err(format!("of {INPUTS} inputs the gate takes {compared}; {alike} read alike, {refused} refused: that compares little"));
    }
    Ok(format!("of {INPUTS} inputs the gate takes {compared}: {alike} read alike, {refused} refused, no difference"))
}
