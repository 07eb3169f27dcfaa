// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Cassandra's native protocol, versions 3 to 5: where messages begin and end, and the error OVERLOADED.
//!
//! A connection carries many requests at once, told apart by a stream's number, and answers come in any order. So the gate may answer whenever both
//! directions are between two messages. It answers what reads, writes or prepares, and only after the handshake; the rest
//! (STARTUP, OPTIONS, REGISTER, authentication) is the application's. From version 5 on, messages lie in segments with checksums
//! ([`segment`]); compressed ones are not followed. The bodies of compressed messages of version 3 and 4 are not looked into.
//!
//! Requests have no deadline of their own. One may be in the custom payload (version 4 and later), under the name that `deadline-header`
//! gives, as decimal digits.

mod segment;

use std::sync::Arc;
use std::time::Duration;

use crate::deadline::digits;
use crate::protocol::{Described, Front, Opaque, Protocol};
use segment::Segments;

/// A message's header: version, flags, stream, opcode, length of the body.
const HEADER: usize = 9;
/// No server takes longer bodies (the specification's limit).
const MOST_BODY: usize = 256 * 1024 * 1024;
/// Of a segment with more messages than this, the answer might not fit into one.
const MOST_IN_SEGMENT: usize = 500;

const FROM_SERVER: u8 = 0x80;

const COMPRESSED: u8 = 0x01;
const CUSTOM_PAYLOAD: u8 = 0x04;

const ERROR: u8 = 0x00;
const STARTUP: u8 = 0x01;
const READY: u8 = 0x02;
const AUTHENTICATE: u8 = 0x03;
const QUERY: u8 = 0x07;
const PREPARE: u8 = 0x09;
const EXECUTE: u8 = 0x0a;
const BATCH: u8 = 0x0d;
const AUTH_SUCCESS: u8 = 0x10;

/// "The node is overloaded": drivers go to another one.
const OVERLOADED: u32 = 0x1001;

/// A message's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header {
    version: u8,
    flags: u8,
    stream: [u8; 2],
    opcode: u8,
    length: usize,
}

impl Header {
    fn parse(bytes: &[u8; HEADER]) -> Result<Header, &'static str> {
        let &[version, flags, s0, s1, opcode, l0, l1, l2, l3] = bytes;
        if !(3..=5).contains(&(version & !FROM_SERVER)) {
            return Err("a version of Cassandra's protocol that is not known");
        }
        let length = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
        if length > MOST_BODY {
            return Err("a message of more than 256 MB");
        }
        Ok(Header { version, flags, stream: [s0, s1], opcode, length })
    }

    /// Of the front of `bytes`; `None` if there are too few.
    fn of(bytes: &[u8]) -> Option<Result<Header, &'static str>> {
        bytes.first_chunk().map(Header::parse)
    }

    /// Whether the gate may answer it.
    fn is_answerable(self) -> bool {
        matches!(self.opcode, QUERY | PREPARE | EXECUTE | BATCH)
    }
}

/// What a direction's next bytes are.
#[derive(Debug, Clone)]
enum Direction {
    /// Messages; of a header these bytes have come.
    Header(Vec<u8>),
    /// A message's body, of which so much is to come. Of a STARTUP it is kept.
    Body(Header, usize, Vec<u8>),
    /// Segments.
    Segments(Segments),
}

impl Direction {
    fn new() -> Direction {
        Direction::Header(Vec::new())
    }

    fn is_boundary(&self) -> bool {
        match self {
            Direction::Header(bytes) => bytes.is_empty(),
            Direction::Body(..) => false,
            Direction::Segments(segments) => segments.is_boundary(),
        }
    }

    /// Goes through `bytes`; `message` is told of each message's end, and says whether segments follow.
    fn feed(&mut self, mut bytes: &[u8], mut message: impl FnMut(Header, &[u8]) -> Result<bool, &'static str>) -> Result<(), &'static str> {
        while !bytes.is_empty() {
            match self {
                Direction::Header(begun) => {
                    let (now, rest) = bytes.split_at((HEADER - begun.len()).min(bytes.len()));
                    begun.extend_from_slice(now);
                    bytes = rest;
                    if let Some(header) = Header::of(begun) {
                        let header = header?;
                        *self = Direction::Body(header, header.length, Vec::new());
                        if header.length == 0 {
                            self.end_message(header, &[], &mut message)?;
                        }
                    }
                }
                Direction::Body(header, left, body) => {
                    let header = *header;
                    let (now, rest) = bytes.split_at((*left).min(bytes.len()));
                    *left -= now.len();
                    bytes = rest;
                    if header.opcode == STARTUP && body.len() < 4096 {
                        body.extend_from_slice(now);
                    }
                    if *left == 0 {
                        let body = std::mem::take(body);
                        self.end_message(header, &body, &mut message)?;
                    }
                }
                Direction::Segments(segments) => return segments.feed(bytes),
            }
        }
        Ok(())
    }

    fn end_message(
        &mut self,
        header: Header,
        body: &[u8],
        message: &mut impl FnMut(Header, &[u8]) -> Result<bool, &'static str>,
    ) -> Result<(), &'static str> {
        *self = if message(header, body)? { Direction::Segments(Segments::default()) } else { Direction::new() };
        Ok(())
    }
}

/// One connection that speaks Cassandra's protocol.
#[derive(Debug, Clone)]
pub struct Cql {
    deadline_keys: Arc<[String]>,
    request: Direction,
    response: Direction,
    /// Of the first message; all are of one.
    version: Option<u8>,
    /// Whether the client asked for compression.
    compression: bool,
    /// Whether the handshake is over.
    ready: bool,
}

/// The text of a short string, `[string]` in the specification, at the front of `bytes`; and what follows it.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(u16::from_be_bytes(*length).into())
}

/// The value `[bytes]`; null is empty.
fn value(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(i32::from_be_bytes(*length).max(0) as usize)
}

impl Cql {
    /// A connection of which no byte has been seen. `deadline_keys` are names in custom payloads.
    pub fn new(deadline_keys: Arc<[String]>) -> Self {
        let (request, response) = (Direction::new(), Direction::new());
        Cql { deadline_keys, request, response, version: None, compression: false, ready: false }
    }

    /// The deadline in a message's custom payload.
    fn deadline(&self, header: Header, body: &[u8]) -> Option<Duration> {
        if header.flags & (CUSTOM_PAYLOAD | COMPRESSED) != CUSTOM_PAYLOAD {
            return None;
        }
        let (count, mut rest) = body.split_first_chunk()?;
        for _ in 0..u16::from_be_bytes(*count) {
            let (key, behind) = string(rest)?;
            let (bytes, behind) = value(behind)?;
            rest = behind;
            if self.deadline_keys.iter().any(|known| key.eq_ignore_ascii_case(known.as_bytes())) {
                return digits(bytes).map(Duration::from_millis);
            }
        }
        None
    }

    /// The first message of `bytes`, if it is whole: its header and length.
    fn message(&self, bytes: &[u8]) -> Result<Option<(Header, usize)>, &'static str> {
        let Some(header) = Header::of(bytes) else { return Ok(None) };
        let header = header?;
        if Some(header.version) != self.version {
            return Err("a message of another version than the first");
        }
        let length = HEADER + header.length;
        Ok((bytes.len() >= length).then_some((header, length)))
    }

    /// The messages of a whole segment: their headers, and the longest deadline if all have one. `None` if one of them is the application's.
    fn messages_in(&self, mut payload: &[u8]) -> Option<(Vec<Header>, Option<Duration>)> {
        let mut headers = Vec::new();
        let mut deadline = Some(Duration::ZERO);
        while !payload.is_empty() {
            let (header, length) = self.message(payload).ok()??;
            if !header.is_answerable() || headers.len() == MOST_IN_SEGMENT {
                return None;
            }
            deadline = deadline.and_then(|longest| self.deadline(header, &payload[HEADER..length]).map(|own| own.max(longest)));
            headers.push(header);
            payload = &payload[length..];
        }
        (!headers.is_empty()).then_some((headers, deadline))
    }
}

/// The error's message to the request with this header.
fn error(header: Header, text: &str, answer: &mut Vec<u8>) {
    answer.extend([header.version | FROM_SERVER, 0]);
    answer.extend(header.stream);
    answer.push(ERROR);
    answer.extend(((4 + 2 + text.len()) as u32).to_be_bytes());
    answer.extend(OVERLOADED.to_be_bytes());
    answer.extend((text.len() as u16).to_be_bytes());
    answer.extend(text.as_bytes());
}

impl Protocol for Cql {
    fn received(&mut self, bytes: &[u8]) -> Result<(), Opaque> {
        let Cql { request, version, compression, .. } = self;
        request
            .feed(bytes, |header, body| {
                if *version.get_or_insert(header.version) != header.version || header.version & FROM_SERVER != 0 {
                    return Err("a message of another version than the first");
                }
                // A map of strings; that the name occurs in it at all is enough to know.
                *compression |= header.opcode == STARTUP && body.windows(11).any(|window| window == b"COMPRESSION");
                Ok(false)
            })
            .map_err(Opaque::Request)
    }

    fn sent(&mut self, bytes: &[u8]) -> Result<(), Opaque> {
        let Cql { request, response, version, compression, ready, .. } = self;
        let mut segments = false;
        response
            .feed(bytes, |header, _| {
                if version.map(|version| version | FROM_SERVER) != Some(header.version) {
                    return Err("an answer of another version than the request");
                }
                *ready |= matches!(header.opcode, READY | AUTH_SUCCESS);
                segments |= header.version == 5 | FROM_SERVER && matches!(header.opcode, READY | AUTHENTICATE);
                Ok(segments)
            })
            .map_err(Opaque::Response)?;
        if segments {
            if *compression {
                return Err(Opaque::Response("compressed segments"));
            }
            // The client sends nothing between STARTUP and its answer.
            if !request.is_boundary() {
                return Err(Opaque::Request("a message between STARTUP and its answer"));
            }
            *request = Direction::Segments(Segments::default());
        }
        Ok(())
    }

    fn is_idle(&self) -> bool {
        self.request.is_boundary() && self.response.is_boundary()
    }

    fn front(&self, buffer: &[u8]) -> Front {
        if let Direction::Segments(_) = self.request {
            return match segment::front(buffer) {
                Ok(None) => Front::Incomplete,
                Err(reason) => Front::Unknown(reason),
                // Whether authentication is over is not followed inside segments: whoever has not passed it is told busy instead of refused.
                Ok(Some(segment)) => match segment.payload.and_then(|payload| self.messages_in(payload)) {
                    Some((_, deadline)) => Front::Request { length: segment.length, deadline },
                    None => Front::Leave,
                },
            };
        }
        if !self.ready {
            return Front::Leave;
        }
        match self.message(buffer) {
            Err(reason) => Front::Unknown(reason),
            Ok(None) => Front::Incomplete,
            Ok(Some((header, _))) if !header.is_answerable() => Front::Leave,
            Ok(Some((header, length))) => Front::Request { length, deadline: self.deadline(header, &buffer[HEADER..length]) },
        }
    }

    fn describe(&self, request: &[u8]) -> Described {
        let first = match self.request {
            Direction::Segments(_) => segment::front(request).ok().flatten().and_then(|segment| segment.payload).and_then(Header::of),
            _ => Header::of(request),
        };
        let name = match first {
            Some(Ok(Header { opcode: QUERY, .. })) => "QUERY",
            Some(Ok(Header { opcode: PREPARE, .. })) => "PREPARE",
            Some(Ok(Header { opcode: EXECUTE, .. })) => "EXECUTE",
            Some(Ok(Header { opcode: BATCH, .. })) => "BATCH",
            _ => "?",
        };
        Described { line: format!("CQL {name}").into_bytes(), agent: Vec::new() }
    }

    fn busy(&self, request: &[u8], remaining: Duration, answer: &mut Vec<u8>) -> u64 {
        answer.clear();
        let text = format!("the JVM is stopped for about {} ms more; ask another node", remaining.as_micros().div_ceil(1000));
        if let Direction::Segments(_) = self.request {
            let payload = segment::front(request).ok().flatten().and_then(|segment| segment.payload);
            let (headers, _) = payload.and_then(|payload| self.messages_in(payload)).unwrap_or_default();
            let mut messages = Vec::new();
            headers.iter().for_each(|&header| error(header, &text, &mut messages));
            segment::write(&messages, answer);
            return headers.len() as u64;
        }
        let Ok(Some((header, _))) = self.message(request) else { return 0 };
        error(header, &text, answer);
        1
    }
}

#[cfg(test)]
mod tests;
