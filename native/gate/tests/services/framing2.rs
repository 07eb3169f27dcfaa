// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! As [`super::framing`], of HTTP/2: frames of requests and changes of them go to a server, behind a request that it
//! has answered, and in front of one that tells whether it goes on. If it does, it has answered or reset each stream
//! that ends and that the gate would take, and has processed no other one. If it does not go on, it has refused all.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use lull_gate::http2::Http2;
use lull_gate::protocol::{Front, Protocol};

use super::client::Random;
use super::framing::FOLLOWS;
use super::server::Server;
use super::{PARALLEL, Setting};

const INPUTS: u64 = 2000;
const PATIENCE: Duration = Duration::from_secs(20);

// Frames (RFC 9113, 6).
pub const HEADER: usize = 9;
pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;
pub const END_STREAM: u8 = 1;
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;

/// The stream of the request behind all others: none is higher.
const LAST: u32 = 0x7fff_ffff;

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// The first frame of `bytes`: kind, flags, stream, and all of it; none if it has not all come.
pub fn first(bytes: &[u8]) -> Option<(u8, u8, u32, &[u8])> {
    let header = bytes.get(..HEADER)?;
    let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
    let stream = u32::from_be_bytes(header[5..9].try_into().ok()?) & 0x7fff_ffff;
    Some((header[3], header[4], stream, bytes.get(..HEADER + length)?))
}

/// Fields of a request by literals and the static table only: method, scheme, path, authority.
pub fn block(method: u8, path: &str) -> Vec<u8> {
    let mut block = vec![method, 0x86];
    for (name, value) in [(4, path), (1, "a")] {
        block.extend([name, value.len() as u8]);
        block.extend(value.as_bytes());
    }
    block
}

/// Requests on streams 3, 5 and 7, in the forms that there are, and other frames between them.
fn known(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for stream in [3, 5, 7] {
        let get = block(0x82, &format!("/{stream}"));
        let post = block(0x83, &format!("/{stream}"));
        match random.below(6) {
            0 => bytes.extend(frame(HEADERS, END_HEADERS | END_STREAM, stream, &get)),
            1 => bytes.extend([frame(HEADERS, END_HEADERS, stream, &post), frame(DATA, END_STREAM, stream, b"hello")].concat()),
            2 => {
                let (one, other) = get.split_at(1 + random.below(get.len() as u64 - 1) as usize);
                bytes.extend([frame(HEADERS, END_STREAM, stream, one), frame(CONTINUATION, END_HEADERS, stream, other)].concat());
            }
            3 => {
                let padded = [&[3][..], &get, &[0; 3]].concat();
                bytes.extend(frame(HEADERS, END_HEADERS | END_STREAM | 8, stream, &padded));
            }
            4 => {
                let dependent = [&[0, 0, 0, 0, 9][..], &get].concat();
                bytes.extend(frame(HEADERS, END_HEADERS | END_STREAM | 0x20, stream, &dependent));
            }
            // Trailers.
            _ => {
                bytes.extend([frame(HEADERS, END_HEADERS, stream, &post), frame(DATA, 0, stream, b"hello")].concat());
                bytes.extend(frame(HEADERS, END_HEADERS | END_STREAM, stream, b"\x00\x01x\x01y"));
            }
        }
        match random.below(16) {
            0 => bytes.extend(frame(PING, 0, 0, b"12345678")),
            1 => bytes.extend(frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 9])),
            2 => bytes.extend(frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])),
            3 => bytes.extend(frame(0x55, 0, 0, b"unknown")),
            4 => bytes.extend(frame(SETTINGS, 0, 0, &[])),
            _ => {}
        }
    }
    bytes
}

/// With up to three changes; each fourth with none.
fn input(random: &mut Random) -> Vec<u8> {
    let mut bytes = known(random);
    let changes = if random.below(4) == 0 { 0 } else { 1 + random.below(3) };
    for _ in 0..changes {
        let at = random.below(bytes.len() as u64) as usize;
        match random.below(4) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => _ = bytes.remove(at),
            2 => bytes.insert(at, random.below(256) as u8),
            _ => bytes[at] = [0, 1, 3, 4, 5, 7, 8, 9, 0x20, 0x82, 0xbe, 0xff][random.below(12) as usize],
        }
    }
    bytes
}

/// A client, and what the gate would know of its connection.
struct Client {
    stream: TcpStream,
    http: Http2,
    received: Vec<u8>,
}

impl Client {
    fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.http.received(bytes).map_err(|error| format!("the gate does not follow a plain client: {error:?}"))?;
        self.stream.write_all(bytes).map_err(|e| e.to_string())
    }

    /// The next frame of the server's; none at the end. The gate follows it if it `follows`.
    fn next(&mut self, follows: bool) -> Result<Option<(u8, u8, u32)>, String> {
        loop {
            if let Some((kind, flags, stream, whole)) = first(&self.received) {
                let length = whole.len();
                if follows {
                    self.http.sent(whole).map_err(|error| format!("the gate does not follow the server: {error:?}"))?;
                }
                self.received.drain(..length);
                return Ok(Some((kind, flags, stream)));
            }
            let mut buffer = [0; 4096];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Ok(None),
                Ok(n) => self.received.extend_from_slice(&buffer[..n]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Err("the server waits for more".to_string());
                }
                Err(_) => return Ok(None),
            }
        }
    }

    /// A connection on which the gate may answer: a first request was answered by the server.
    fn ready(port: u16) -> Result<Client, String> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|e| e.to_string())?;
        stream.set_nodelay(true).map_err(|e| e.to_string())?;
        let http = Http2::new(Arc::from(Vec::new()), Duration::from_secs(1));
        let mut client = Client { stream, http, received: Vec::new() };
        client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")?;
        client.send(&frame(SETTINGS, 0, 0, &[]))?;
        let mut has_settings = false;
        let mut is_acknowledged = false;
        while !has_settings || !is_acknowledged {
            match client.next(true)?.ok_or("the server has closed at its greeting")? {
                (SETTINGS, flags, _) if flags & ACK == 0 => {
                    has_settings = true;
                    client.send(&frame(SETTINGS, ACK, 0, &[]))?;
                }
                (SETTINGS, ..) => is_acknowledged = true,
                _ => {}
            }
        }
        // The table has size 0 from now on.
        client.send(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &[&[0x20][..], &block(0x82, "/first")].concat()))?;
        loop {
            let (_, flags, stream) = client.next(true)?.ok_or("the server has closed at its first request")?;
            if stream == 1 && flags & END_STREAM != 0 {
                break;
            }
        }
        Ok(client)
    }

    /// The streams that the gate would answer at the front of `bytes`, those of them that end, and whether it would
    /// take all.
    fn taken(&self, bytes: &[u8]) -> (BTreeSet<u32>, BTreeSet<u32>, bool) {
        let mut http = self.http.clone();
        let (mut answered, mut ended, mut at) = (BTreeSet::new(), BTreeSet::new(), 0);
        let mut nameless = BTreeSet::new();
        while at < bytes.len() {
            let (length, is_request) = match http.front(&bytes[at..]) {
                Front::Request { length, .. } => (length, true),
                Front::Aside { length } => (length, false),
                _ => return (answered, ended, false),
            };
            let Some((kind, flags, stream, _)) = first(&bytes[at..]) else { return (answered, ended, false) };
            if is_request {
                answered.insert(stream);
                // Without a method, or with a path that is none, Netty's own handlers neither answer nor refuse it.
                let line = http.describe(&bytes[at..at + length]).line;
                let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
                if words.len() != 3 || words.iter().any(|word| word.is_empty() || !word.iter().all(u8::is_ascii_graphic)) {
                    nameless.insert(stream);
                }
            }
            let ends = (kind == HEADERS || kind == DATA) && flags & END_STREAM != 0 || kind == RST_STREAM;
            if ends && !nameless.contains(&stream) {
                ended.insert(stream);
            }
            http.taken(&bytes[at..at + length]);
            at += length;
            if http.has_lost() || http.is_overrun() {
                return (answered, ended, false);
            }
        }
        (answered, ended, true)
    }
}

/// One input. Whether it was compared, and whether the server has gone on.
fn compare(port: u16, bytes: &[u8]) -> Result<(bool, bool), String> {
    let mut client = Client::ready(port)?;
    let all = [bytes, &frame(HEADERS, END_HEADERS | END_STREAM, LAST, &block(0x82, "/last"))].concat();
    let (taken, ended, takes_all) = client.taken(&all);
    if taken.is_empty() || !ends_with_a_frame(bytes) {
        return Ok((false, false));
    }
    let takes_all = takes_all && taken.contains(&LAST);
    // It may have closed before it has all.
    let _ = client.stream.write_all(&all);
    let (mut answered, mut reset, mut goes_on) = (BTreeSet::new(), BTreeSet::new(), false);
    // The application's handlers answer in the order of the frames; a PING behind them tells that no more comes.
    while let Some((kind, flags, stream)) = client.next(false)? {
        match kind {
            HEADERS => _ = answered.insert(stream),
            RST_STREAM => _ = reset.insert(stream),
            GOAWAY => return Ok((true, false)),
            PING if flags & ACK != 0 && goes_on => break,
            _ => {}
        }
        if stream == LAST && flags & END_STREAM != 0 && !goes_on {
            goes_on = true;
            let _ = client.stream.write_all(&frame(PING, 0, 0, b"the last"));
        }
    }
    if !goes_on {
        return Ok((true, false));
    }
    // Behind what the gate leaves, all is the application's.
    if let Some(stream) = answered.iter().find(|stream| takes_all && !taken.contains(stream)) {
        return Err(format!("it has answered stream {stream}, which the gate has not seen: {taken:?}"));
    }
    let told: BTreeSet<u32> = answered.union(&reset).copied().collect();
    if let Some(stream) = ended.intersection(&taken).find(|stream| !told.contains(stream) && !is_given_up(&all, **stream)) {
        return Err(format!("it has not read stream {stream}, which the gate has answered: {answered:?}, reset {reset:?}"));
    }
    Ok((true, true))
}

/// Whether these are whole frames: else the server waits for the rest of one, as the gate does.
fn ends_with_a_frame(mut bytes: &[u8]) -> bool {
    while let Some((_, _, _, whole)) = first(bytes) {
        bytes = &bytes[whole.len()..];
    }
    bytes.is_empty()
}

/// Whether the client gives this stream up: its server need not answer.
fn is_given_up(mut bytes: &[u8], of: u32) -> bool {
    while let Some((kind, _, stream, whole)) = first(bytes) {
        if kind == RST_STREAM && stream == of {
            return true;
        }
        bytes = &bytes[whole.len()..];
    }
    false
}

/// All inputs to a server.
pub fn framing(setting: &Setting) -> Result<String, String> {
    let mut server = Server::start_with(&setting.jdk, PARALLEL, "h2-port", FOLLOWS, &["h2-nio", "1", "0"])?;
    let mut random = Random::new(2);
    let (mut compared, mut alike) = (0, 0);
    for number in 0..INPUTS {
        let bytes = input(&mut random);
        let (is_compared, goes_on) =
            compare(server.port, &bytes).map_err(|error| format!("input {number}, '{}': {error}", bytes.escape_ascii()))?;
        compared += u64::from(is_compared);
        alike += u64::from(goes_on);
    }
    server.stop()?;
    if alike < INPUTS / 20 || alike == compared {
        return Err(format!("of {INPUTS} inputs the gate takes {compared}, {alike} read alike: that compares little"));
    }
    Ok(format!("of {INPUTS} inputs the gate takes {compared}: {alike} read alike, {} refused, no difference", compared - alike))
}
