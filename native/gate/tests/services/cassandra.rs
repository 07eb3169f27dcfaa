// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A Cassandra node under the agent, with clients of versions 4 and 5 of its protocol that have several requests under way on each
//! connection. Each request inserts a row of its own: it is there if the answer was a result, and not there if it was OVERLOADED.

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::client::{Answer, crc32};
use super::{Setting, server};

const CUSTOM_PAYLOAD: u8 = 4;
const QUERY: u8 = 7;
const ERROR: u8 = 0;
const RESULT: u8 = 8;
const OVERLOADED: [u8; 4] = [0, 0, 0x10, 1];

/// A connection of one thread.
struct Cql {
    stream: TcpStream,
    version: u8,
    /// Whether messages lie in segments.
    segments: bool,
    /// Messages that have come in a segment with others.
    unread: Vec<u8>,
}

fn crc24(bytes: &[u8]) -> u32 {
    let mut crc = 0x87_5060u32;
    for &byte in bytes {
        crc ^= u32::from(byte) << 16;
        for _ in 0..8 {
            crc <<= 1;
            if crc & 0x100_0000 != 0 {
                crc ^= 0x197_4f0b;
            }
        }
    }
    crc
}

fn checksum(payload: &[u8]) -> [u8; 4] {
    let mut bytes = vec![0xfa, 0x2d, 0x55, 0xca];
    bytes.extend(payload);
    crc32(&bytes).to_le_bytes()
}

impl Cql {
    fn connect(port: u16, version: u8) -> Result<Cql, String> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|e| e.to_string())?;
        stream.set_nodelay(true).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(120))).map_err(|e| e.to_string())?;
        let mut cql = Cql { stream, version, segments: false, unread: Vec::new() };
        cql.send(&cql.message(0, 1, b"\x00\x01\x00\x0bCQL_VERSION\x00\x053.0.0"))?;
        match cql.receive()? {
            (0, 2, _) => {}
            other => return Err(format!("not READY: {other:?}")),
        }
        cql.segments = version == 5;
        Ok(cql)
    }

    fn message(&self, stream: u16, opcode: u8, body: &[u8]) -> Vec<u8> {
        self.flagged(0, stream, opcode, body)
    }

    fn flagged(&self, flags: u8, stream: u16, opcode: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![self.version, flags];
        bytes.extend(stream.to_be_bytes());
        bytes.push(opcode);
        bytes.extend((body.len() as u32).to_be_bytes());
        bytes.extend(body);
        bytes
    }

    /// A statement whose client will wait a millisecond, if `hurried`: in a custom payload.
    fn query(&self, stream: u16, text: &str, hurried: bool) -> Vec<u8> {
        let mut body = Vec::new();
        if hurried {
            body.extend(b"\x00\x01\x00\x0ax-deadline\x00\x00\x00\x011");
        }
        body.extend((text.len() as u32).to_be_bytes());
        body.extend(text.as_bytes());
        body.extend([0, 1]);
        // Flags: a byte, and four from version 5 on.
        body.extend(vec![0; if self.version == 5 { 4 } else { 1 }]);
        self.flagged(if hurried { CUSTOM_PAYLOAD } else { 0 }, stream, QUERY, &body)
    }

    /// Sends messages; in one segment if there are segments.
    fn send(&mut self, messages: &[u8]) -> Result<(), String> {
        let mut bytes = Vec::new();
        if self.segments {
            let header = (messages.len() as u32 | 1 << 17).to_le_bytes();
            bytes.extend(&header[..3]);
            bytes.extend(&crc24(&header[..3]).to_le_bytes()[..3]);
            bytes.extend(messages);
            bytes.extend(checksum(messages));
        } else {
            bytes.extend(messages);
        }
        self.stream.write_all(&bytes).map_err(|e| format!("not sent: {e}"))
    }

    fn exactly(&mut self, length: usize) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).map_err(|e| format!("no answer: {e}"))?;
        Ok(bytes)
    }

    /// A message: stream, opcode, body.
    fn receive(&mut self) -> Result<(u16, u8, Vec<u8>), String> {
        if self.segments && self.unread.is_empty() {
            let header = self.exactly(6)?;
            let bits = u32::from_le_bytes([header[0], header[1], header[2], 0]);
            if crc24(&header[..3]).to_le_bytes()[..3] != header[3..] || bits >> 17 != 1 {
                return Err(format!("a segment that begins with {header:?}"));
            }
            self.unread = self.exactly(bits as usize & 0x1_ffff)?;
            if checksum(&self.unread)[..] != self.exactly(4)?[..] {
                return Err("a segment with another checksum".to_string());
            }
        }
        let header = if self.segments { self.unread.drain(..9).collect() } else { self.exactly(9)? };
        if header[0] != self.version | 0x80 {
            return Err(format!("an answer that begins with {header:?}"));
        }
        let length = u32::from_be_bytes([header[5], header[6], header[7], header[8]]) as usize;
        let body = if self.segments { self.unread.drain(..length).collect() } else { self.exactly(length)? };
        Ok((u16::from_be_bytes([header[2], header[3]]), header[4], body))
    }

    /// One request; its answer's body must be a result.
    fn ask(&mut self, text: &str) -> Result<Vec<u8>, String> {
        self.send(&self.query(1, text, false))?;
        match self.receive()? {
            (1, RESULT, body) => Ok(body),
            other => Err(format!("{text}: {other:?}")),
        }
    }
}

/// Inserts rows until `end`, several at once in random order of streams; the row's key and its answer.
fn insert(port: u16, version: u8, client: usize, end: Instant) -> Result<Vec<(u32, Answer)>, String> {
    let mut cql = Cql::connect(port, version)?;
    let mut all = Vec::new();
    let mut number = client as u32 * 1_000_000;
    let mut round = 0u16;
    while Instant::now() < end {
        round = round.wrapping_add(1);
        let mut under_way = HashMap::new();
        let mut messages = Vec::new();
        for i in 0..1 + round % 5 {
            let stream = (round.wrapping_mul(7) % 1000) * 8 + i;
            messages.extend(cql.query(stream, &format!("INSERT INTO gate.rows (key, value) VALUES ({number}, 'x')"), true));
            under_way.insert(stream, number);
            number += 1;
        }
        // In two pieces now and then, of which neither may be a message.
        if round.is_multiple_of(3) && !cql.segments {
            let (one, other) = messages.split_at(messages.len() / 2);
            cql.send(one)?;
            std::thread::sleep(Duration::from_millis(1));
            cql.send(other)?;
        } else {
            cql.send(&messages)?;
        }
        while !under_way.is_empty() {
            let (stream, opcode, body) = cql.receive()?;
            let key = under_way.remove(&stream).ok_or(format!("an answer to stream {stream}, which has no request"))?;
            match opcode {
                RESULT => all.push((key, Answer::Ok)),
                ERROR if body.starts_with(&OVERLOADED) => all.push((key, Answer::Busy)),
                _ => return Err(format!("opcode {opcode}: {}", String::from_utf8_lossy(&body))),
            }
        }
    }
    Ok(all)
}

/// The node, which ends with us.
struct Node {
    child: Child,
    data: PathBuf,
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.data);
    }
}

impl Node {
    /// Prepares the data, starts a node with the gate before its port, and waits until it is there.
    fn start(setting: &Setting, port: u16, metrics: u16) -> Result<Node, String> {
        let class_path = server::setting("LULL_GATE_CASSANDRA")?;
        let data = std::env::temp_dir().join(format!("lull-gate-cassandra-{}", std::process::id()));
        std::fs::create_dir_all(&data).map_err(|e| e.to_string())?;
        let agent = format!(
            "-agentpath:{}=cql-port={port},metrics={metrics},deadline=600000,deadline-header=x-deadline",
            server::setting("LULL_GATE_LIBRARY")?
        );
        let flags = server::setting("LULL_GATE_CASSANDRA_FLAGS")?;
        let prepared = crate::server::java(&setting.jdk)
            .args(["-cp", &class_path, "lull.bench.service.PrepareMain", "--service", "cassandra", "--options", "rows=10 field=10"])
            .args(["--data", &data.to_string_lossy()])
            .stdout(Stdio::null())
            .status()
            .map_err(|e| e.to_string())?;
        if !prepared.success() {
            return Err(format!("no data for Cassandra: {prepared}"));
        }
        let log = std::fs::File::create(data.join("log")).map_err(|e| e.to_string())?;
        let child = crate::server::java(&setting.jdk)
            .args(["-XX:+UseParallelGC", "-XX:ParallelGCThreads=1", "-Xms1g", "-Xmx1g", "-XX:+PerfDisableSharedMem", &agent])
            .args(flags.split_whitespace())
            .args(["-cp", &class_path, "lull.bench.service.ServerMain", "--service", "cassandra", "--until-eof", "true"])
            .args(["--port", &port.to_string(), "--ready", &data.join("ready").to_string_lossy(), "--data", &data.to_string_lossy()])
            .stdin(Stdio::piped())
            .stdout(log.try_clone().map_err(|e| e.to_string())?)
            .stderr(log)
            .spawn()
            .map_err(|e| e.to_string())?;
        let mut node = Node { child, data };
        node.wait_until_ready()?;
        Ok(node)
    }

    fn wait_until_ready(&mut self) -> Result<(), String> {
        let give_up = Instant::now() + Duration::from_secs(300);
        while !self.data.join("ready").exists() {
            if Instant::now() > give_up || self.child.try_wait().map_err(|e| e.to_string())?.is_some() {
                let text = std::fs::read_to_string(self.data.join("log")).unwrap_or_default();
                let end: Vec<_> = text.lines().rev().take(8).collect();
                return Err(format!("Cassandra did not start: {}", end.into_iter().rev().collect::<Vec<_>>().join(" / ")));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        drop(self.child.stdin.take());
        let status = self.child.wait().map_err(|e| e.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("Cassandra ended with {status}")) }
    }
}

/// Clients of both versions insert rows while the node collects, until some of either version were told busy.
fn insert_in_pauses(setting: &Setting, node: &Node, port: u16) -> Result<Vec<(u32, Answer)>, String> {
    let pid = node.child.id().to_string();
    let jcmd = setting.jdk.join("bin/jcmd");
    let mut all = Vec::new();
    for round in 0..10 {
        let end = Instant::now() + setting.seconds;
        let answers = std::thread::scope(|scope| {
            let clients: Vec<_> =
                (0..8).map(|i| scope.spawn(move || insert(port, if i % 2 == 0 { 4 } else { 5 }, round * 8 + i, end))).collect();
            while Instant::now() < end {
                let run = Command::new(&jcmd).args([&pid, "GC.run"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
                if !run.is_ok_and(|status| status.success()) {
                    break;
                }
            }
            clients.into_iter().map(|client| client.join().unwrap_or(Err("a client panicked".to_string()))).collect::<Vec<_>>()
        });
        for answer in answers {
            all.extend(answer?);
        }
        let busy =
            |version: usize| all.iter().any(|(key, answer)| *answer == Answer::Busy && (*key / 1_000_000) as usize % 2 == version % 2);
        if busy(4) && busy(5) {
            break;
        }
    }
    Ok(all)
}

/// `LULL_GATE_CASSANDRA` is the class path of bench/cassandra.
pub fn cassandra(setting: &Setting) -> Result<String, String> {
    let (port, metrics) = (server::free_port()?, server::free_port()?);
    let mut node = Node::start(setting, port, metrics)?;
    let mut first = Cql::connect(port, 4)?;
    first.ask("CREATE KEYSPACE gate WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")?;
    first.ask("CREATE TABLE gate.rows (key int PRIMARY KEY, value text)")?;
    let all = insert_in_pauses(setting, &node, port)?;
    // What is in the table, token by token: pages would be more of the protocol than is needed.
    let mut there = HashSet::new();
    for (key, _) in &all {
        let rows = first.ask(&format!("SELECT key FROM gate.rows WHERE key = {key}"))?;
        // The last value, if there is a row, is the key.
        if rows.ends_with(&key.to_be_bytes()) && rows[..rows.len() - 4].ends_with(&[0, 0, 0, 1, 0, 0, 0, 4]) {
            there.insert(*key);
        }
    }
    let text = server::get(metrics, "GET /metrics HTTP/1.1\r\n\r\n")?;
    node.end()?;
    for (key, answer) in &all {
        if there.contains(key) != (*answer == Answer::Ok) {
            return Err(format!("row {key} was answered {answer:?}, and is in the table: {}", there.contains(key)));
        }
    }
    if let Some(line) = text.lines().find(|line| line.starts_with("lull_gate_opaque") && !line.ends_with(" 0")) {
        return Err(line.to_string());
    }
    let (ok, busy) = (there.len(), all.len() - there.len());
    // Several requests of version 5 may come, and be answered, as one segment.
    if !text.lines().any(|line| line == format!("lull_gate_answered_total {busy}")) {
        let line = text.lines().find(|line| line.starts_with("lull_gate_answered_total"));
        return Err(format!("{busy} were told busy, the gate says {line:?}"));
    }
    let of_5 = all.iter().filter(|(key, answer)| *answer == Answer::Busy && key / 1_000_000 % 2 == 1).count();
    if ok == 0 || of_5 == 0 || of_5 == busy {
        return Err(format!("{ok} processed, {busy} busy, {of_5} of them in version 5"));
    }
    Ok(format!("{ok} processed, {busy} busy, {of_5} of them in version 5"))
}
