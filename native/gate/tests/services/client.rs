// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Clients that send all that HTTP/1.1 allows, in pieces, and check each byte of the answers.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A request without an answer for so long is lost. Long, for a machine that others use.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Processed, and of the request's own content.
    Ok,
    /// The gate's.
    Busy,
}

pub struct Request {
    /// Unique in a run; `/connection/number...`.
    pub target: String,
    pub answer: Answer,
}

/// How a request of a client looks, and its answer.
pub trait Wire: Sync {
    /// One request's bytes.
    fn request(&self, random: &mut Random, connection: &str, number: u64) -> (Vec<u8>, Sent);

    /// Reads one answer, which must be the one to `sent`.
    fn answer(&self, reader: &mut BufReader<TcpStream>, sent: &Sent) -> Result<Answer, String>;
}

/// HTTP/1.1.
pub struct Http;

pub struct Load {
    pub wire: &'static dyn Wire,
    pub port: u16,
    /// Of several loads on one service: targets differ.
    pub round: u32,
    pub connections: usize,
    pub duration: Duration,
    /// Requests sent at once, at most.
    pub pipelined: u64,
    /// The longest time between answers and the next requests of a connection, and a little more than between pieces of requests;
    /// microseconds, 2 or more.
    pub think: u64,
    /// Whether connections are closed and made anew now and then.
    pub reconnect: bool,
    /// Whether a connection with a busy answer is left open and silent, and another one made: who relies on what the gate has taken
    /// then waits on it for ever.
    pub abandon: bool,
}

/// Silent connections of one client, at most: descriptors are few.
const MOST_SILENT: usize = 40;

/// xorshift64: the same sequence in each run.
pub struct Random(u64);

impl Random {
    /// One of many sequences.
    pub fn new(number: u64) -> Random {
        Random(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}

/// CRC-32 as java.util.zip has it.
pub fn crc32(bytes: &[u8]) -> u32 {
    !bytes
        .iter()
        .fold(!0u32, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())))
}

/// What an answer is compared with.
pub struct Sent {
    pub target: String,
    /// The answer is not like those to others: it has no content, to HEAD, or others come before it, in a transaction.
    pub special: bool,
    pub crc: u32,
}

/// One request's bytes.
fn request(random: &mut Random, connection: &str, number: u64) -> (Vec<u8>, Sent) {
    let chunked_answer = if random.below(4) == 0 { "c" } else { "" };
    let target = format!("/{connection}/{number}{chunked_answer}");
    let mut bytes = Vec::new();
    let mut body = Vec::new();
    let mut head = false;
    let fields = "Host: localhost\r\nX-Other: a, b;c=\"d\"\r\n";
    // Bodies look like what they must not be taken for.
    let text = format!("GET /inside/{number} HTTP/1.1\r\nHost: x\r\n\r\n0\r\n\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    match random.below(6) {
        0 => {
            head = true;
            write!(bytes, "HEAD {target} HTTP/1.1\r\n{fields}\r\n").unwrap();
        }
        1 => {
            body = text.repeat(random.below(40) as usize).into_bytes();
            write!(bytes, "POST {target} HTTP/1.1\r\n{fields}Content-Length: {}\r\n\r\n", body.len()).unwrap();
            bytes.extend_from_slice(&body);
        }
        2 => {
            write!(bytes, "PUT {target} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n{fields}\r\n").unwrap();
            for i in 0..random.below(5) {
                // No line of a chunk's own that is only a zero: the simplest of the servers looks for it.
                let chunk = format!("chunk {i} GET / HTTP/1.1\r\n\r\n");
                write!(bytes, "{:x}\r\n{chunk}\r\n", chunk.len()).unwrap();
                body.extend_from_slice(chunk.as_bytes());
            }
            bytes.extend_from_slice(b"0\r\n\r\n");
        }
        _ => write!(bytes, "GET {target} HTTP/1.1\r\n{fields}\r\n").unwrap(),
    }
    (bytes, Sent { target, special: head, crc: crc32(&body) })
}

pub fn line(reader: &mut BufReader<TcpStream>) -> Result<String, String> {
    let mut line = String::new();
    reader.read_line(&mut line).map_err(|e| format!("no line of an answer: {e}"))?;
    line.strip_suffix("\r\n").map(str::to_string).ok_or(format!("'{line}' is no line"))
}

pub fn body(reader: &mut BufReader<TcpStream>, length: usize) -> Result<Vec<u8>, String> {
    let mut body = vec![0; length];
    reader.read_exact(&mut body).map_err(|e| format!("no body: {e}"))?;
    Ok(body)
}

/// Reads one answer, which must be the one to `sent`.
fn answer(reader: &mut BufReader<TcpStream>, sent: &Sent) -> Result<Answer, String> {
    let status = line(reader)?;
    let (mut length, mut chunked, mut until) = (None, false, None);
    loop {
        let field = line(reader)?;
        if field.is_empty() {
            break;
        }
        let (name, value) = field.split_once(':').ok_or(format!("'{field}' is no header"))?;
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = Some(value.trim().parse::<usize>().map_err(|e| e.to_string())?),
            "transfer-encoding" => chunked = value.trim() == "chunked",
            "busy-until" => until = Some(value.trim().parse::<u64>().map_err(|e| e.to_string())?),
            _ => {}
        }
    }
    if status == "HTTP/1.1 503 Service Unavailable" && length == Some(0) && until.is_some() {
        return Ok(Answer::Busy);
    }
    if status.trim_end() != "HTTP/1.1 200" && status != "HTTP/1.1 200 OK" {
        return Err(status);
    }
    if sent.special {
        return Ok(Answer::Ok);
    }
    let content = if chunked {
        let mut all = Vec::new();
        loop {
            let size = usize::from_str_radix(&line(reader)?, 16).map_err(|e| e.to_string())?;
            all.extend(body(reader, size)?);
            if !line(reader)?.is_empty() {
                return Err("a chunk of another length".to_string());
            }
            if size == 0 {
                break all;
            }
        }
    } else {
        body(reader, length.ok_or("no length")?)?
    };
    let expected = format!("{} {:x}", sent.target, sent.crc);
    if content == expected.as_bytes() { Ok(Answer::Ok) } else { Err(format!("'{}', not '{expected}'", String::from_utf8_lossy(&content))) }
}

impl Wire for Http {
    fn request(&self, random: &mut Random, connection: &str, number: u64) -> (Vec<u8>, Sent) {
        request(random, connection, number)
    }

    fn answer(&self, reader: &mut BufReader<TcpStream>, sent: &Sent) -> Result<Answer, String> {
        answer(reader, sent)
    }
}

/// The longest time that a client waits before it sends more, in microseconds, if nothing else is said.
pub const THINK: u64 = 4000;

impl Load {
    /// One request at a time, on connections that stay.
    pub fn simple(port: u16, connections: usize, duration: Duration) -> Load {
        Load { wire: &Http, port, round: 0, connections, duration, pipelined: 1, think: THINK, reconnect: false, abandon: false }
    }

    /// Runs it; each request that was sent is in the result with its answer, or there is an error.
    pub fn run(&self) -> Result<Vec<Request>, String> {
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..self.connections).map(|i| scope.spawn(move || self.client(i))).collect();
            let mut all = Vec::new();
            for client in clients {
                all.extend(client.join().map_err(|_| "a client panicked")??);
            }
            Ok(all)
        })
    }

    fn client(&self, index: usize) -> Result<Vec<Request>, String> {
        let mut random = Random(0x1234_5678_9abc_def1 ^ (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let end = Instant::now() + self.duration;
        let mut all = Vec::new();
        let mut connection = 0;
        let mut silent = Vec::new();
        while Instant::now() < end {
            let name = format!("{}-{index}-{connection}", self.round);
            connection += 1;
            self.connection(&mut random, &name, end, &mut all, &mut silent).map_err(|e| format!("connection {name}: {e}"))?;
        }
        Ok(all)
    }

    fn connection(
        &self,
        random: &mut Random,
        name: &str,
        end: Instant,
        all: &mut Vec<Request>,
        silent: &mut Vec<TcpStream>,
    ) -> Result<(), String> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(|e| e.to_string())?;
        stream.set_nodelay(true).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|e| e.to_string())?;
        let mut writer = stream.try_clone().map_err(|e| e.to_string())?;
        let mut reader = BufReader::new(stream);
        let mut number = 0;
        // One request at least: a connection that was made as time ran out is counted by the gate, and would not be by its targets.
        loop {
            let mut bytes = Vec::new();
            let mut sent = Vec::new();
            for _ in 0..=random.below(self.pipelined) {
                let (more, request) = self.wire.request(random, name, number);
                number += 1;
                bytes.extend(more);
                sent.push(request);
            }
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let whole = random.below(3) != 0;
                let n = if whole { rest.len() } else { 1 + random.below(rest.len() as u64) as usize };
                writer.write_all(&rest[..n]).map_err(|e| format!("not sent: {e}"))?;
                rest = &rest[n..];
                if !rest.is_empty() {
                    std::thread::sleep(Duration::from_micros(random.below(self.think * 3 / 4)));
                }
            }
            for request in sent {
                let answer = self.wire.answer(&mut reader, &request).map_err(|e| format!("{}: {e}", request.target))?;
                all.push(Request { target: request.target, answer });
            }
            if self.abandon && silent.len() < MOST_SILENT && all.last().is_some_and(|request| request.answer == Answer::Busy) {
                silent.push(writer);
                break;
            }
            std::thread::sleep(Duration::from_micros(random.below(self.think)));
            if Instant::now() >= end || (self.reconnect && random.below(200) == 0) {
                break;
            }
        }
        if !reader.buffer().is_empty() {
            return Err("bytes behind the last answer".to_string());
        }
        Ok(())
    }
}

/// Many connections that stay, and few requests at a time: each thread sends on some of its own at once, then reads all the answers.
pub struct Crowd {
    pub port: u16,
    pub connections: usize,
    pub threads: usize,
    /// Requests of a thread that are under way at once.
    pub at_once: usize,
    /// After there has been a request on each connection.
    pub duration: Duration,
}

impl Crowd {
    /// Runs it; each request that was sent is in the result with its answer, or there is an error.
    pub fn run(&self) -> Result<Vec<Request>, String> {
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..self.threads).map(|i| scope.spawn(move || self.client(i))).collect();
            let mut all = Vec::new();
            for client in clients {
                all.extend(client.join().map_err(|_| "a client panicked")??);
            }
            Ok(all)
        })
    }

    fn client(&self, index: usize) -> Result<Vec<Request>, String> {
        let mut random = Random(0x1234_5678_9abc_def1 ^ (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut connections = Vec::new();
        for _ in 0..self.connections / self.threads {
            let stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(|e| format!("connection {}: {e}", connections.len()))?;
            stream.set_nodelay(true).map_err(|e| e.to_string())?;
            stream.set_read_timeout(Some(PATIENCE)).map_err(|e| e.to_string())?;
            connections.push(BufReader::with_capacity(512, stream));
        }
        let mut all = Vec::new();
        let mut number = 0;
        for first in (0..connections.len()).step_by(self.at_once) {
            let some: Vec<_> = (first..connections.len().min(first + self.at_once)).collect();
            self.exchange(index, &mut connections, &some, &mut random, &mut number, &mut all)?;
        }
        let end = Instant::now() + self.duration;
        while Instant::now() < end {
            let mut some: Vec<_> = (0..self.at_once).map(|_| random.below(connections.len() as u64) as usize).collect();
            some.sort_unstable();
            some.dedup();
            self.exchange(index, &mut connections, &some, &mut random, &mut number, &mut all)?;
            std::thread::sleep(Duration::from_micros(random.below(20_000)));
        }
        match connections.iter().position(|connection| !connection.buffer().is_empty()) {
            Some(i) => Err(format!("bytes behind the last answer of connection {i}")),
            None => Ok(all),
        }
    }

    fn exchange(
        &self,
        index: usize,
        connections: &mut [BufReader<TcpStream>],
        some: &[usize],
        random: &mut Random,
        number: &mut u64,
        all: &mut Vec<Request>,
    ) -> Result<(), String> {
        let mut sent = Vec::new();
        for &i in some {
            let (bytes, request) = request(random, &format!("{index}-{i}"), *number);
            *number += 1;
            connections[i].get_mut().write_all(&bytes).map_err(|e| format!("{}: not sent: {e}", request.target))?;
            sent.push(request);
        }
        for (&i, request) in some.iter().zip(sent) {
            let answer = answer(&mut connections[i], &request).map_err(|e| format!("{}: {e}", request.target))?;
            all.push(Request { target: request.target, answer });
        }
        Ok(())
    }
}

/// How many connections there were.
pub fn connections(requests: &[Request]) -> usize {
    requests.iter().filter_map(|request| request.target.split('/').nth(1)).collect::<HashSet<_>>().len()
}
