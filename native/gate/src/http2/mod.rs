// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! HTTP/2 without TLS, from its preface on (RFC 9113), and gRPC on it: frames, what the gate may answer, and the answers.
//!
//! A header block may change the table by which the server reads the next ones, so that none could be taken that the server must not miss. So
//! there is no such table: what the application announces in its first SETTINGS is changed to a table of size 0, and once it has read the block
//! in which the client says that it has obeyed, each block stands for itself. The gate answers from then on, and only
//! after the application has sent a block of its own since it acknowledged the client's SETTINGS, for the first one must say what became of
//! the other table.
//!
//! A stream that the gate has answered never reaches the application: what its client still sends on it is taken too, in pauses or when the
//! application reads, and what that has cost of the windows is given back ([`uploads`]). PING is answered in pauses.

mod frame;
mod hpack;
mod huffman;
mod shape;
mod uploads;

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use crate::deadline::{digits, preferred_ms};
use crate::protocol::{Described, Front, Opaque, Pass, Protocol};
use frame::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, Frame, GOAWAY, HEADER, HEADERS, PING, PUSH_PROMISE, RST_STREAM, SETTINGS,
    WINDOW_UPDATE,
};
use hpack::{Name, Part};
use shape::Shape;
use uploads::{MOST_WINDOW, Uploads, Word};

/// What a client sends first.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Longer header blocks make the connection opaque.
const MOST_BLOCK: usize = 64 * 1024;
/// The application's first SETTINGS are not changed if they are longer.
const MOST_SETTINGS: usize = 1024;
/// Answered streams are remembered as ranges; of more than these, the oldest is forgotten. Each pause makes one, mostly.
const MOST_RANGES: usize = 64;

// Of SETTINGS.
const HEADER_TABLE_SIZE: u16 = 1;
const INITIAL_WINDOW_SIZE: u16 = 4;
const MAX_FRAME_SIZE: u16 = 5;

/// What a frame may have before SETTINGS say more (RFC 9113, 6.5.2).
const FIRST_FRAME: usize = 16_384;

// Of GOAWAY.
const FLOW_CONTROL_ERROR: u32 = 3;
const COMPRESSION_ERROR: u32 = 9;

/// What a client may send before it is given more (RFC 9113, 6.9.2).
const FIRST_WINDOW: i64 = 65_535;

// Entries of HPACK's static table.
const METHOD: RangeInclusive<u64> = 2..=3;
const STATUS: usize = 8;
const STATUS_200: u8 = 0x88;
const CONTENT_LENGTH: usize = 28;
const CONTENT_TYPE: usize = 31;
const RETRY_AFTER: usize = 53;
const USER_AGENT: u64 = 58;

/// Where one direction stands.
#[derive(Debug, Clone)]
enum Direction {
    /// In the preface, of which so many bytes have come.
    Preface(usize),
    /// In a frame's header, of which these have come.
    Header(Vec<u8>),
    /// In a payload, of which so much is to come; it is kept if it says something.
    Payload(Frame, usize, Vec<u8>),
}

impl Direction {
    fn boundary() -> Direction {
        Direction::Header(Vec::new())
    }

    fn is_boundary(&self) -> bool {
        matches!(self, Direction::Header(begun) if begun.is_empty())
    }

    /// Goes through `bytes`; `frame` is told of each frame's end.
    fn feed(&mut self, mut bytes: &[u8], mut frame: impl FnMut(Frame, &[u8]) -> Result<(), &'static str>) -> Result<(), &'static str> {
        while !bytes.is_empty() {
            match self {
                Direction::Preface(seen) => {
                    let (now, rest) = bytes.split_at((PREFACE.len() - *seen).min(bytes.len()));
                    if now != &PREFACE[*seen..*seen + now.len()] {
                        return Err("not the preface of HTTP/2");
                    }
                    *seen += now.len();
                    bytes = rest;
                    if *seen == PREFACE.len() {
                        *self = Direction::boundary();
                    }
                }
                Direction::Header(begun) => {
                    // Mostly it comes whole, and with its payload.
                    if begun.is_empty()
                        && let Some(header) = Frame::of(bytes)
                        && bytes.len() >= header.whole()
                    {
                        let (now, rest) = bytes.split_at(header.whole());
                        bytes = rest;
                        keeps(header)?;
                        frame(header, &now[HEADER..])?;
                        continue;
                    }
                    let (now, rest) = bytes.split_at((HEADER - begun.len()).min(bytes.len()));
                    begun.extend_from_slice(now);
                    bytes = rest;
                    let Some(header) = Frame::of(begun) else { continue };
                    keeps(header)?;
                    *self = Direction::Payload(header, header.length, Vec::new());
                    if header.length == 0 {
                        *self = Direction::boundary();
                        frame(header, &[])?;
                    }
                }
                Direction::Payload(header, left, kept) => {
                    let (now, rest) = bytes.split_at((*left).min(bytes.len()));
                    *left -= now.len();
                    bytes = rest;
                    if keeps(*header)? {
                        kept.extend_from_slice(now);
                    }
                    if *left == 0 {
                        let (header, payload) = (*header, std::mem::take(kept));
                        *self = Direction::boundary();
                        frame(header, &payload)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether a frame's payload says something.
fn keeps(frame: Frame) -> Result<bool, &'static str> {
    match frame.kind {
        HEADERS | CONTINUATION | SETTINGS if frame.length > MOST_BLOCK => Err("a frame with more than 64 KB of fields"),
        HEADERS | CONTINUATION | SETTINGS => Ok(true),
        // Others are an error of the sender's.
        WINDOW_UPDATE => Ok(frame.length == 4),
        _ => Ok(false),
    }
}

/// A header block in several frames.
#[derive(Debug, Clone, Default)]
struct Blocks {
    /// The stream and what has come of a block that is not over.
    begun: Option<(u32, Vec<u8>)>,
}

impl Blocks {
    /// Takes in a frame; gives the block that it ends.
    fn frame(&mut self, frame: Frame, payload: &[u8]) -> Result<Option<(u32, Vec<u8>)>, &'static str> {
        if !matches!(frame.kind, HEADERS | CONTINUATION | PUSH_PROMISE) {
            return if self.begun.is_some() { Err("a frame inside a header block") } else { Ok(None) };
        }
        let fragment = frame.fragment(payload)?;
        let (stream, mut block) = match (self.begun.take(), frame.kind) {
            (None, HEADERS | PUSH_PROMISE) => (frame.stream, Vec::new()),
            (Some((stream, block)), CONTINUATION) if stream == frame.stream => (stream, block),
            _ => return Err("a header block that is not in order"),
        };
        if block.len() + fragment.len() > MOST_BLOCK {
            return Err("a header block of more than 64 KB");
        }
        block.extend_from_slice(fragment);
        if frame.has(END_HEADERS) {
            return Ok(Some((stream, block)));
        }
        self.begun = Some((stream, block));
        Ok(None)
    }
}

/// What a request's fields say, as far as the gate asks.
#[derive(Debug, Default, PartialEq, Eq)]
struct Fields {
    grpc: bool,
    /// A tunnel, WebSocket for instance.
    connect: bool,
    /// Changes the size of the table.
    resizes: bool,
    /// What a server must refuse.
    malformed: bool,
    deadline: Option<Duration>,
}

/// The value of `grpc-timeout`.
fn grpc_timeout(value: &[u8]) -> Option<Duration> {
    let (unit, digits) = value.split_last()?;
    let text = std::str::from_utf8(digits).ok().filter(|text| text.len() <= 8 && text.bytes().all(|byte| byte.is_ascii_digit()))?;
    let n: u64 = text.parse().ok()?;
    Some(match unit {
        b'H' => Duration::from_secs(n * 3600),
        b'M' => Duration::from_secs(n * 60),
        b'S' => Duration::from_secs(n),
        b'm' => Duration::from_millis(n),
        b'u' => Duration::from_micros(n),
        b'n' => Duration::from_nanos(n),
        _ => return None,
    })
}

/// One connection that speaks HTTP/2.
#[derive(Debug, Clone)]
pub struct Http2 {
    deadline_headers: Arc<[String]>,
    default_deadline: Duration,
    /// Answers have `Retry-After`, but to gRPC.
    retry_after: bool,
    request: Direction,
    request_block: Blocks,
    response: Direction,
    response_block: Blocks,
    /// Whether the application has written anything.
    has_written: bool,
    /// Whether the application has read that the client's table has size 0, and nothing else since.
    stateless: bool,
    /// SETTINGS of the client that the application has read and not acknowledged.
    settings: u32,
    /// Whether the application has sent a header block since it acknowledged the last of them.
    settled: bool,
    /// Whether one of both wants to end the connection.
    ending: bool,
    /// The highest stream on which the client has sent a request.
    highest: u32,
    /// Streams that the gate has answered.
    answered: VecDeque<RangeInclusive<u32>>,
    /// Bytes that are still to be taken of a frame on such a stream.
    taking: usize,
    /// What the gate has taken, and where it stands in a header block of that.
    taken: Direction,
    taken_block: Blocks,
    /// What of that ends the connection, as GOAWAY has it: a block that has changed the table by which the application reads the next ones, or what
    /// is against the protocol.
    lost: Option<u32>,
    /// The longest payload of a frame that the application ever permitted.
    most_frame: usize,
    /// Answered requests whose clients have not ended them.
    uploads: Uploads,
    /// Frames that are to be written: PING's answers, and what is said of such requests.
    owed: Vec<u8>,
    /// Bytes of the connection's window that are to be given back.
    owed_window: u32,
    /// Bytes of DATA that the client may send on all streams. Below 0, it has sent more than it may, or more room is being written.
    window: i64,
}

impl Http2 {
    /// A connection of which no byte has been seen. `deadline_headers` are lower case; `default_deadline` is how long a request waits that says
    /// nothing, and the most that one waits that only has a `grpc-timeout`.
    pub fn new(deadline_headers: Arc<[String]>, default_deadline: Duration) -> Self {
        Http2 {
            deadline_headers,
            default_deadline,
            retry_after: true,
            request: Direction::Preface(0),
            request_block: Blocks::default(),
            response: Direction::boundary(),
            response_block: Blocks::default(),
            has_written: false,
            stateless: false,
            settings: 0,
            settled: false,
            ending: false,
            highest: 0,
            answered: VecDeque::new(),
            taking: 0,
            taken: Direction::boundary(),
            taken_block: Blocks::default(),
            lost: None,
            most_frame: FIRST_FRAME,
            uploads: Uploads::default(),
            owed: Vec::new(),
            owed_window: 0,
            window: FIRST_WINDOW,
        }
    }

    /// Whether answers have `Retry-After`.
    #[must_use]
    pub fn with_retry_after(self, retry_after: bool) -> Self {
        Http2 { retry_after, ..self }
    }

    /// Streams of the client's have odd numbers; those between them are the server's.
    fn is_answered(&self, stream: u32) -> bool {
        !stream.is_multiple_of(2) && self.answered.iter().any(|range| range.contains(&stream))
    }

    /// A block that the application has read.
    fn request_block(stateless: &mut bool, block: &[u8]) -> Result<(), &'static str> {
        hpack::read(block, |part| {
            match part {
                Part::Size(size) => *stateless = size == 0,
                Part::Indexed(index) | Part::Literal(Name::Of(index), _) if *stateless && index > hpack::STATIC => {
                    return Err("an index of a table of size 0");
                }
                _ => {}
            }
            Ok(())
        })
    }

    /// A block that the gate has taken. It may have become entries of the table if that has a size; one that is damaged, the application would
    /// have had to end the connection for.
    fn taken_block(stateless: bool, block: &[u8]) -> Result<(), &'static str> {
        if !stateless {
            return Err("a block that may have changed the table");
        }
        hpack::read(block, |part| match part {
            Part::Size(size) if size != 0 => Err("a table that gets a size again"),
            Part::Indexed(index) | Part::Literal(Name::Of(index), _) if index > hpack::STATIC => Err("an index of a table of size 0"),
            _ => Ok(()),
        })
    }

    /// The fields of a block that stands for itself.
    fn fields(&self, block: &[u8]) -> Result<Fields, &'static str> {
        const DAMAGED: &str = "a field that is not of HPACK's code";
        let mut fields = Fields::default();
        let (mut preferred, mut timeout, mut shape) = (None, None, Shape::default());
        hpack::read(block, |part| {
            match part {
                Part::Size(size) => fields.resizes |= size != 0,
                Part::Indexed(index) | Part::Literal(Name::Of(index), _) if index > hpack::STATIC => {
                    return Err("an index of a table of size 0");
                }
                Part::Indexed(index) => shape.entry(index, None),
                Part::Literal(_, value) if value.is_damaged() => return Err(DAMAGED),
                Part::Literal(name, value) => {
                    let name = match name {
                        Name::Of(index) => {
                            shape.entry(index, Some(value.as_written()));
                            match index {
                                _ if METHOD.contains(&index) => b":method".to_vec(),
                                _ if index == CONTENT_TYPE as u64 => b"content-type".to_vec(),
                                _ => return Ok(()),
                            }
                        }
                        Name::Literal(text) => {
                            let name = text.decode().ok_or(DAMAGED)?;
                            shape.named(&name, &value.decode().ok_or(DAMAGED)?);
                            name
                        }
                    };
                    let value = || value.decode().ok_or(DAMAGED);
                    match &name[..] {
                        b":method" => fields.connect |= value()? == b"CONNECT",
                        b"content-type" => {
                            let value = value()?;
                            let behind = value.strip_prefix(b"application/grpc");
                            fields.grpc |= behind.is_some_and(|behind| behind.first().is_none_or(|byte| b"+;".contains(byte)));
                        }
                        b"grpc-timeout" => timeout = grpc_timeout(&value()?).or(timeout),
                        b"prefer" => preferred = preferred.or(preferred_ms(&value()?)),
                        _ => {}
                    }
                    if self.deadline_headers.iter().any(|known| known.as_bytes() == name) {
                        // What is no number says nothing.
                        fields.deadline = digits(value()?.trim_ascii()).map(Duration::from_millis).or(fields.deadline);
                    }
                }
            }
            Ok(())
        })?;
        fields.malformed = shape.malformed;
        // As in HTTP/1.1, what a client says exactly counts before a preference. `grpc-timeout` is how long the call may take in all; its client
        // would rather go elsewhere before.
        fields.deadline =
            fields.deadline.or(preferred.map(Duration::from_millis)).or(timeout.map(|timeout| timeout.min(self.default_deadline)));
        Ok(fields)
    }

    /// The request at the front of `buffer`, which begins with a HEADERS frame: the block's frames and what they say; `None` if they have not all
    /// come.
    fn request(&self, buffer: &[u8]) -> Result<Option<(usize, Fields)>, &'static str> {
        let mut blocks = Blocks::default();
        let (mut at, mut malformed) = (0, false);
        loop {
            let Some(frame) = Frame::of(&buffer[at..]) else { return Ok(None) };
            let Some(payload) = buffer[at + HEADER..].get(..frame.length) else { return Ok(None) };
            at += frame.whole();
            malformed |= frame.depends_on_itself(payload);
            if let Some((_, block)) = blocks.frame(frame, payload)? {
                let fields = self.fields(&block)?;
                return Ok(Some((at, Fields { malformed: malformed | fields.malformed, ..fields })));
            }
        }
    }
}

impl Protocol for Http2 {
    fn received(&mut self, bytes: &[u8]) -> Result<(), Opaque> {
        let Http2 { request, request_block, stateless, settings, settled, ending, highest, window, .. } = self;
        request
            .feed(bytes, |frame, payload| {
                let block = request_block.frame(frame, payload)?;
                match frame.kind {
                    PUSH_PROMISE => return Err("a client that promises"),
                    HEADERS if frame.stream.is_multiple_of(2) => return Err("a request on a stream of the server's"),
                    HEADERS => *highest = frame.stream.max(*highest),
                    DATA => *window -= frame.length as i64,
                    SETTINGS if !frame.has(ACK) => {
                        *settings += 1;
                        *settled = false;
                    }
                    GOAWAY => *ending = true,
                    _ => {}
                }
                match block {
                    Some((_, block)) => Self::request_block(stateless, &block),
                    None => Ok(()),
                }
            })
            .map_err(Opaque::Request)
    }

    fn sent(&mut self, bytes: &[u8]) -> Result<(), Opaque> {
        let Http2 { response, response_block, has_written, settings, settled, ending, uploads, window, most_frame, .. } = self;
        response
            .feed(bytes, |frame, payload| {
                let is_first = !std::mem::replace(has_written, true);
                if is_first && (frame.kind != SETTINGS || frame.has(ACK)) {
                    return Err("an answer that does not begin with SETTINGS");
                }
                if frame.kind == SETTINGS {
                    for (name, value) in frame::settings(payload) {
                        match name {
                            HEADER_TABLE_SIZE if !is_first && value != 0 => return Err("a table that gets a size again"),
                            INITIAL_WINDOW_SIZE => uploads.initial_window(value.min(MOST_WINDOW)),
                            MAX_FRAME_SIZE => *most_frame = (value as usize).max(*most_frame),
                            _ => {}
                        }
                    }
                }
                if response_block.frame(frame, payload)?.is_some() {
                    *settled |= *settings == 0;
                }
                match frame.kind {
                    WINDOW_UPDATE if frame.stream == 0 => *window += i64::from(frame::window(payload)),
                    SETTINGS if frame.has(ACK) => *settings = settings.saturating_sub(1),
                    GOAWAY => *ending = true,
                    _ => {}
                }
                Ok(())
            })
            .map_err(Opaque::Response)
    }

    fn is_idle(&self) -> bool {
        self.request.is_boundary() && self.request_block.begun.is_none() && self.taking == 0 && self.may_write()
    }

    fn front(&self, buffer: &[u8]) -> Front {
        let Some(frame) = Frame::of(buffer) else { return Front::Incomplete };
        if self.is_answered(frame.stream) {
            return if buffer.len() < frame.whole() { Front::Incomplete } else { Front::Aside { length: frame.whole() } };
        }
        if !self.stateless || !self.settled || self.ending {
            return Front::Leave;
        }
        match frame.kind {
            PING if !frame.has(ACK) && frame.length == 8 && frame.stream == 0 => {
                if buffer.len() < frame.whole() {
                    Front::Incomplete
                } else {
                    Front::Aside { length: frame.whole() }
                }
            }
            // The gate could not follow it, once taken: `keeps`. Or it is an error.
            HEADERS if frame.length > MOST_BLOCK.min(self.most_frame) => Front::Leave,
            HEADERS if frame.stream > self.highest && !frame.stream.is_multiple_of(2) => match self.request(buffer) {
                Err(reason) => Front::Unknown(reason),
                Ok(None) => Front::Incomplete,
                Ok(Some((_, fields))) if fields.connect || fields.resizes || fields.malformed => Front::Leave,
                Ok(Some((length, fields))) => Front::Request { length, deadline: fields.deadline },
            },
            _ => Front::Leave,
        }
    }

    fn busy(&self, request: &[u8], remaining: Duration, answer: &mut Vec<u8>) -> u64 {
        answer.clear();
        let (Some(frame), Ok(Some((_, fields)))) = (Frame::of(request), self.request(request)) else { return 0 };
        let ms = remaining.as_micros().div_ceil(1000).to_string();
        let mut block = Vec::new();
        if fields.grpc {
            block.push(STATUS_200);
            hpack::write(CONTENT_TYPE, b"application/grpc", &mut block);
            // UNAVAILABLE. Retries by gRPC itself come at once, for they are to go to another replica.
            hpack::write_named(b"grpc-status", b"14", &mut block);
            hpack::write_named(b"grpc-message", format!("the JVM is stopped for about {ms} ms more").as_bytes(), &mut block);
            hpack::write_named(b"grpc-retry-pushback-ms", b"0", &mut block);
        } else {
            hpack::write(STATUS, b"503", &mut block);
            hpack::write(CONTENT_LENGTH, b"0", &mut block);
            if self.retry_after {
                let seconds = remaining.as_micros().div_ceil(1_000_000).to_string();
                hpack::write(RETRY_AFTER, seconds.as_bytes(), &mut block);
            }
        }
        hpack::write_named(b"busy-until", ms.as_bytes(), &mut block);
        frame::write(HEADERS, END_HEADERS | END_STREAM, frame.stream, &block, answer);
        1
    }

    fn describe(&self, request: &[u8]) -> Described {
        let (mut blocks, mut at) = (Blocks::default(), 0);
        while let Some(frame) = Frame::of(&request[at..])
            && let Some(payload) = request[at + HEADER..].get(..frame.length)
            && let Ok(block) = blocks.frame(frame, payload)
        {
            if let Some((_, block)) = block {
                return described(&block);
            }
            at += frame.whole();
        }
        Described::default()
    }

    fn taken(&mut self, mut bytes: &[u8]) {
        let Http2 { taken, taken_block, stateless, highest, most_frame, .. } = self;
        let (mut highest, mut wrong) = (*highest, None);
        let followed = taken.feed(bytes, |frame, payload| {
            let is_first = frame.kind == HEADERS && frame.stream > highest;
            highest = if is_first { frame.stream } else { highest };
            wrong = wrong.or(shape::wrong(frame, payload, is_first, *most_frame));
            match taken_block.frame(frame, payload)? {
                Some((_, block)) => Self::taken_block(*stateless, &block),
                None => Ok(()),
            }
        });
        self.lost = self.lost.or(followed.err().map(|_| COMPRESSION_ERROR)).or(wrong);
        let rest = self.taking.min(bytes.len());
        self.taking -= rest;
        bytes = &bytes[rest..];
        while let Some(frame) = Frame::of(bytes) {
            let (now, rest) = bytes.split_at(frame.whole().min(bytes.len()));
            self.taking = frame.whole() - now.len();
            let ends = frame.has(END_STREAM);
            match frame.kind {
                HEADERS if frame.stream > self.highest => {
                    self.answered_now(frame.stream);
                    if !ends {
                        let owed = &mut self.owed;
                        self.uploads.begin(frame.stream, |word| write_word(word, owed));
                    }
                }
                HEADERS if ends => self.uploads.end(frame.stream),
                RST_STREAM => self.uploads.end(frame.stream),
                // Only such are asked for by `front`; on a stream that was answered, PING is an error of the client's, which gets nothing.
                PING if frame.stream == 0 && now.len() == frame.whole() => frame::write(PING, ACK, 0, &now[HEADER..], &mut self.owed),
                DATA => {
                    self.window -= frame.length as i64;
                    self.owed_window = self.owed_window.saturating_add(frame.length as u32);
                    let owed = &mut self.owed;
                    self.uploads.data(frame.stream, frame.length as u32, ends, |word| write_word(word, owed));
                }
                _ => {}
            }
            bytes = rest;
        }
    }

    fn owed(&mut self, to: &mut Vec<u8>) {
        if !self.may_write() {
            return;
        }
        to.append(&mut self.owed);
        if self.owed_window > 0 {
            // A client that sends more than its window has had is not told more than there can be.
            let window = self.owed_window.min(MOST_WINDOW);
            frame::write(WINDOW_UPDATE, 0, 0, &window.to_be_bytes(), to);
            self.window += i64::from(window);
            self.owed_window = 0;
        }
    }

    fn has_lost(&self) -> bool {
        self.lost.is_some()
    }

    fn is_overrun(&self) -> bool {
        self.window < 0 || self.uploads.is_overrun()
    }

    fn goodbye(&self, to: &mut Vec<u8>) {
        if self.may_write() {
            let code = self.lost.unwrap_or(FLOW_CONTROL_ERROR);
            let payload = [self.highest.to_be_bytes(), code.to_be_bytes()].concat();
            frame::write(GOAWAY, 0, 0, &payload, to);
        }
    }

    fn needs(&self, buffer: &[u8]) -> usize {
        // Of a request, more frames than the first may be missing: to the end of the one that has begun, or of the next one's header.
        let mut at = 0;
        while let Some(frame) = buffer.get(at..).and_then(Frame::of) {
            at += frame.whole();
        }
        if at > buffer.len() { at } else { at + HEADER }
    }

    fn owed_bytes(&self) -> u64 {
        self.owed_window.into()
    }

    fn replaces(&self) -> bool {
        !self.has_written && self.response.is_boundary()
    }

    fn instead(&mut self, bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
        let frame = Frame::of(bytes).filter(|frame| frame.kind == SETTINGS && !frame.has(ACK) && frame.length <= MOST_SETTINGS)?;
        let payload = bytes[HEADER..].get(..frame.length)?;
        let mut entries: Vec<u8> =
            payload.chunks_exact(6).filter(|entry| entry[..2] != HEADER_TABLE_SIZE.to_be_bytes()).flatten().copied().collect();
        entries.extend(HEADER_TABLE_SIZE.to_be_bytes());
        entries.extend([0; 4]);
        let mut settings = Vec::new();
        frame::write(SETTINGS, 0, 0, &entries, &mut settings);
        Some((frame.whole(), settings))
    }

    fn filters(&self) -> bool {
        !self.answered.is_empty()
    }

    fn pass(&self, bytes: &[u8]) -> Pass {
        if self.taking > 0 {
            return Pass::Take(self.taking.min(bytes.len()));
        }
        // To the end of the frame that the application has begun to read.
        let mut at = match &self.request {
            Direction::Preface(_) => return Pass::Deliver(bytes.len()),
            Direction::Payload(_, left, _) => *left,
            Direction::Header(begun) if begun.is_empty() => 0,
            Direction::Header(begun) => {
                let missing = HEADER - begun.len();
                let header = [begun, &bytes[..missing.min(bytes.len())]].concat();
                missing + Frame::of(&header).map_or(0, |frame| frame.length)
            }
        };
        while at < bytes.len() {
            match Frame::of(&bytes[at..]) {
                Some(frame) if !self.is_answered(frame.stream) => at += frame.whole(),
                _ if at > 0 => break,
                Some(_) => return Pass::Take(self.answered_front(bytes)),
                None => return Pass::Wait,
            }
        }
        Pass::Deliver(at.min(bytes.len()))
    }
}

/// A request by its block, as a first line of HTTP/1.1 would say it.
fn described(block: &[u8]) -> Described {
    let (mut method, mut path, mut agent) = (Vec::new(), Vec::new(), Vec::new());
    let _ = hpack::read(block, |part| {
        let literal = |text: hpack::Text| text.decode().unwrap_or_default();
        match part {
            Part::Indexed(2) => method = b"GET".to_vec(),
            Part::Indexed(3) => method = b"POST".to_vec(),
            Part::Indexed(4) => path = b"/".to_vec(),
            Part::Indexed(5) => path = b"/index.html".to_vec(),
            Part::Literal(Name::Of(index), value) if METHOD.contains(&index) => method = literal(value),
            Part::Literal(Name::Of(4..=5), value) => path = literal(value),
            Part::Literal(Name::Of(USER_AGENT), value) => agent = literal(value),
            Part::Literal(Name::Literal(name), value) => match &literal(name)[..] {
                b":method" => method = literal(value),
                b":path" => path = literal(value),
                b"user-agent" => agent = literal(value),
                _ => {}
            },
            _ => {}
        }
        Ok(())
    });
    Described { line: [&method[..], &path, b"HTTP/2.0"].join(&b' '), agent }
}

/// Appends the frame that says it.
fn write_word(word: Word, to: &mut Vec<u8>) {
    match word {
        Word::More(stream, bytes) => frame::write(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes(), to),
        // NO_ERROR: what is still to come of the request is not needed.
        Word::Stop(stream) => frame::write(RST_STREAM, 0, stream, &[0; 4], to),
    }
}

impl Http2 {
    /// Whether a frame of the gate's own may follow what the application has written.
    fn may_write(&self) -> bool {
        self.has_written && self.response.is_boundary() && self.response_block.begun.is_none()
    }

    /// How many bytes at the front of `bytes` are frames of answered streams; the last may be a part of one.
    fn answered_front(&self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while at < bytes.len()
            && let Some(frame) = Frame::of(&bytes[at..])
            && self.is_answered(frame.stream)
        {
            at += frame.whole();
        }
        at.min(bytes.len())
    }

    /// The gate has answered the request on this stream, the highest now.
    fn answered_now(&mut self, stream: u32) {
        let before = std::mem::replace(&mut self.highest, stream);
        match self.answered.back_mut() {
            // What lies between cannot be used any more.
            Some(last) if *last.end() == before => *last = *last.start()..=stream,
            _ => self.answered.push_back(stream..=stream),
        }
        if self.answered.len() > MOST_RANGES {
            self.answered.pop_front();
        }
        // Long before: what comes on a stream that is forgotten is taken for the application's.
        if let Some(old) = self.answered.len().checked_sub(MOST_RANGES / 2 + 1) {
            let owed = &mut self.owed;
            self.uploads.stop_until(*self.answered[old].end(), |word| write_word(word, owed));
        }
    }
}

#[cfg(test)]
mod floods;
#[cfg(test)]
mod tests;
